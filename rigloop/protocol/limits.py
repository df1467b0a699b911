"""Limits of the protocol: sizes, counts and rates; a message beyond one of them is refused and changes nothing."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

PROTOCOL = 1
"""Version of the protocol; a service and a client speak only the same one."""
MOST_BYTES = 1 << 16
"""Largest request. The socket itself accepts at most `MOST_WIRE_BYTES`, and disconnects a client that sends more."""
MOST_WIRE_BYTES = 1 << 20
MOST_ANSWER_VALUES = 1 << 18
"""Numbers of one answer of `capture`."""
MOST_CLIENTS = 64
MOST_SUBSCRIPTIONS = 8
"""Largest number of subscriptions of one client."""
MOST_RATE_HZ = 100.0
REQUESTS_A_SECOND = 2000.0
"""Largest rate of one client's requests; `REQUEST_BURST` of them may come at once."""
REQUEST_BURST = 1000.0
MOST_SIGNALS = 1000
MOST_FAULTS = 50
MOST_RUNS = 100

Word = Annotated[str, Meta(min_length=1, max_length=64)]
Path = Annotated[str, Meta(min_length=1, max_length=200)]
Paths = Annotated[list[Path], Meta(min_length=1, max_length=MOST_SIGNALS)]
Seconds = Annotated[float, Meta(ge=0.1, le=86_400.0)]
RateHz = Annotated[float, Meta(ge=0.1, le=MOST_RATE_HZ)]
Moment = Annotated[float, Meta(ge=0.0, le=1e9)]
Number = Annotated[int, Meta(ge=0, le=1 << 52)]
Instant = Annotated[int, Meta(ge=0, le=1 << 62)]
Token = Annotated[str, Meta(max_length=64)]

"""What a tool says of a property: one form for all of them, that needs none of them."""

from __future__ import annotations

from typing import NamedTuple


class Answer(NamedTuple):
    """The answer to a property: proved, false (with values that show it) or open (out of time)."""

    name: str
    tool: str
    outcome: str
    seconds: float
    said: str = ""

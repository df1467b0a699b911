"""One moment on two clocks: what turns times of a record into UTC, and into those of other recordings."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

TRIES = 5


class ClockPair(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One moment on CLOCK_REALTIME and on CLOCK_MONOTONIC."""

    utc_ns: int
    """Since 1970-01-01T00:00:00Z."""
    monotonic_ns: int
    within_ns: int
    """The clocks were read within this time of each other."""


def read_clocks() -> ClockPair:
    """Read both clocks, the closest of some tries."""
    return min((_once() for _ in range(TRIES)), key=lambda pair: pair.within_ns)


def utc_text(seconds: float | None = None) -> str:
    """Return a moment, or now, as date and time of UTC in the form of all files: ISO 8601 to the second."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def _once() -> ClockPair:
    before = time.monotonic_ns()
    utc = time.time_ns()
    after = time.monotonic_ns()
    return ClockPair(utc, (before + after) // 2, after - before)


def utc_of(pairs: Sequence[ClockPair], monotonic_ns: ArrayLike) -> NDArray[np.datetime64]:
    """Return UTC of moments on CLOCK_MONOTONIC: along a straight line between pairs, parallel to it beyond them.

    Raises
    ------
    ValueError
        There is no pair.
    """
    import numpy as np  # the cycle process and the command line read clocks, and wait for no library

    if not pairs:
        raise ValueError("no moment is known on both clocks")
    at_ns = np.asarray(monotonic_ns, np.int64)
    zero = pairs[0].monotonic_ns
    # differences are small enough for doubles, the times themselves are not
    ahead = [pair.utc_ns - pair.monotonic_ns for pair in pairs]
    since = [float(pair.monotonic_ns - zero) for pair in pairs]
    grown = np.interp(
        (at_ns - zero).astype(np.float64), since, [float(a - ahead[0]) for a in ahead]
    )
    utc_ns = at_ns + ahead[0] + np.rint(grown).astype(np.int64)
    return utc_ns.astype("datetime64[ns]")

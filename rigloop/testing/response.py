"""Assertions on signals over time: within a band, like a stimulus with delay and tolerance, settled after a moment."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rigloop.api.columns import Columns

Array = NDArray[np.float64]
BEYOND = np.inf


@dataclass(frozen=True)
class Band:
    """The values that a signal may have, for each time: `lower` and `upper`, shape (n,); infinite where any."""

    t_s: Array
    lower: Array
    upper: Array

    def outside(self, values: Array) -> NDArray[np.bool_]:
        """Return where values lie outside; what is not a number does."""
        return ~((values >= self.lower) & (values <= self.upper))


class BandError(AssertionError):
    """A response left its band.

    Attributes
    ----------
    path : str
    seen : Columns
    band : Band
    """

    def __init__(self, words: str, path: str, seen: Columns, band: Band) -> None:
        super().__init__(words)
        self.path, self.seen, self.band = path, seen, band


def assert_within(
    seen: Columns,
    path: str,
    lower: ArrayLike = -BEYOND,
    upper: ArrayLike = BEYOND,
    *,
    share: float = 1.0,
) -> None:
    """Assert that a signal stays within a band.

    Parameters
    ----------
    seen : Columns
        As `rig.capture` returns it.
    path : str
    lower, upper : array_like of float64, shape (n,) or ()
    share : float
        Of the cycles that have to be within, 0 to 1.

    Raises
    ------
    BandError
        More of them are outside; the message has the worst one.
    ValueError
        A limit is not a number, or the lower one is above the upper one.
    """
    n = len(seen[path])
    band = Band(seen.t_s, _limit("lower", lower, n), _limit("upper", upper, n))
    crossed = np.flatnonzero(band.lower > band.upper)
    if len(crossed):
        low, high = band.lower[crossed[0]], band.upper[crossed[0]]
        raise ValueError(f"{path}: lower = {low:g} is above upper = {high:g}: no value is within")
    _require(seen, path, band, share)


def assert_follows(
    seen: Columns,
    response: str,
    stimulus: str,
    *,
    within: float,
    delay_s: float = 0.0,
    jitter_s: float = 0.0,
    share: float = 1.0,
) -> None:
    """Assert that a response is its stimulus of a little before.

    The band is a tube around the stimulus: wide by `within` in value and by `jitter_s` in time.

    Parameters
    ----------
    seen : Columns
    response, stimulus : str
        Paths.
    within : float
        Tolerance of the value, in the unit of the signals.
    delay_s, jitter_s : float
        The response comes so much later, give or take.
    share : float
        Of the cycles that have to be within, 0 to 1.

    Raises
    ------
    BandError
    ValueError
        A tolerance is negative, or the stimulus was not captured as long before as the response comes later.
    """
    for name, value in (("within", within), ("jitter_s", jitter_s)):
        _at_least_zero(name, value)
    around = seen[stimulus]
    before_s = seen.t_s - delay_s
    low, high = (
        np.searchsorted(seen.t_s, before_s + sign * jitter_s, side=side)  # type: ignore[call-overload]
        for sign, side in ((-1.0, "left"), (1.0, "right"))
    )
    lowest, highest = np.full(len(around), -BEYOND), np.full(len(around), BEYOND)
    for i, (first, end) in enumerate(_windows(low, high, len(around))):
        if first >= 0:
            lowest[i], highest[i] = around[first:end].min(), around[first:end].max()
    if len(around) and not np.isfinite(lowest).any():
        raise ValueError(
            f"{response}: delay_s = {delay_s:g}: nothing of {stimulus} was captured that long before; "
            "capture for longer"
        )
    _require(seen, response, Band(seen.t_s, lowest - within, highest + within), share)


def assert_settles(
    seen: Columns, path: str, to: float, *, within: float, by_s: float, since_s: float | None = None
) -> None:
    """Assert that a signal has come near a value some time after a moment, and stays there.

    Parameters
    ----------
    seen : Columns
    path : str
    to, within : float
        Value and tolerance.
    by_s : float
        After the moment.
    since_s : float, optional
        The moment, as `rig.wait_until` returns it; the first cycle of `seen` if not given.

    Raises
    ------
    BandError
    ValueError
        `seen` ends before.
    """
    _at_least_zero("within", within)
    from_s = (seen.t_s[0] if since_s is None else since_s) + by_s
    if not len(seen.t_s) or seen.t_s[-1] < from_s:
        raise ValueError(f"{path}: nothing was captured after {from_s:g} s; capture for longer")
    is_due = seen.t_s >= from_s
    lower, upper = np.where(is_due, to - within, -BEYOND), np.where(is_due, to + within, BEYOND)
    _require(seen, path, Band(seen.t_s, lower, upper), 1.0)


def _limit(name: str, given: ArrayLike, n: int) -> Array:
    """Return a limit for each of n cycles."""
    limit = np.asarray(given, np.float64)
    if limit.shape not in ((), (n,)):
        raise ValueError(
            f"{name}: an array of shape {limit.shape} for {n} cycles: give a number, or one for each"
        )
    if np.isnan(limit).any():
        raise ValueError(f"{name} = nan: give a number; infinite where there is no limit")
    return np.broadcast_to(limit, (n,))


def _at_least_zero(name: str, value: float) -> None:
    if not 0.0 <= value < BEYOND:
        raise ValueError(f"{name} = {value:g}: must be 0 or more, and finite")


def _windows(low: NDArray[np.int64], high: NDArray[np.int64], n: int) -> zip[tuple[int, int]]:
    # where the stimulus was not captured yet, nothing is known of the response; at least the newest one before counts
    first = np.where(low > 0, low - 1, np.where(high > 0, 0, -1))
    end = np.minimum(np.maximum(high, first + 1), n)
    return zip(first.tolist(), end.tolist(), strict=True)


def _require(seen: Columns, path: str, band: Band, share: float) -> None:
    if not 0.0 <= share <= 1.0:
        raise ValueError(f"share = {share:g}: must be 0 to 1")
    values = seen[path]
    if not len(values):
        raise ValueError(f"{path}: nothing was captured")
    outside = band.outside(values)
    if np.count_nonzero(outside) <= (1.0 - share) * len(values) + 1e-9:
        return
    excess = np.nan_to_num(np.maximum(band.lower - values, values - band.upper), nan=np.inf)
    worst = int(np.argmax(np.where(outside, excess, -np.inf)))
    unit = seen.units[path]
    first = int(np.argmax(outside))
    words = (
        f"{path}: {np.count_nonzero(outside)} of {len(values)} cycles outside of the band, first at "
        f"{band.t_s[first]:.4f} s; worst {values[worst]:.6g} {unit} at {band.t_s[worst]:.4f} s, allowed "
        f"{band.lower[worst]:.6g} to {band.upper[worst]:.6g}"
    )
    if share < 1.0:
        words += f"; {share:.1%} have to be within"
    raise BandError(words, path, seen, band)

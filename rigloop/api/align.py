"""Two recordings of one moment, each on its own clock: their offset and drift, from a signal that both have."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
Recorded: TypeAlias = tuple[ArrayLike, ArrayLike]
PIECES = 8
MOST_SAMPLES = 1 << 22
LEAST_SAMPLES = 16
LEAST_LIKENESS = 0.5
AS_GOOD = 0.95  # of the best place: then the signal does not say which of the two it is


class AlignError(ValueError):
    """Two recordings cannot be aligned; the message says why, and what to do."""


@dataclass(frozen=True)
class Alignment:
    """The place of a second recording's clock against that of a first.

    Attributes
    ----------
    offset_s : float
        Time of the first recording at time 0 of the second.
    drift : float
        By how much the first clock runs faster, s each s.
    error_s : float
        Standard deviation of what is left, over pieces of the recordings; NaN, and no drift, where they are too short.
    likeness : float
        Correlation of the two signals at that place, 1 at best.
    """

    offset_s: float
    drift: float
    error_s: float
    likeness: float

    def to_first(self, t_s: ArrayLike) -> Array:
        """Return times of the second recording on the clock of the first."""
        return np.asarray(t_s, np.float64) * (1.0 + self.drift) + self.offset_s


def align(first: Recorded, second: Recorded, *, step_s: float | None = None) -> Alignment:
    """Find where a second recording lies on the clock of a first, by a sync signal that both have.

    Best is a signal that never repeats itself: a random telegraph, or pulses at uneven times. Its scale and zero may
    differ between the recordings.

    Parameters
    ----------
    first, second : pair of array_like of float64, shape (n,) each
        Times, s, rising, and values of the sync signal.
    step_s : float, optional
        Step at which both are compared; default: the longer of their median steps. Offsets are found to a fraction
        of it.

    Returns
    -------
    Alignment

    Raises
    ------
    AlignError
        A recording is not two rows of numbers, times do not rise, a value is not finite, a signal is constant, the
        two are not alike anywhere, or they are alike in several places.

    Examples
    --------
    >>> import numpy as np
    >>> import rigloop
    >>> t_s = np.arange(0.0, 20.0, 0.001)
    >>> telegraph = np.repeat(np.random.default_rng(2).integers(0, 2, 200), 100).astype(float)
    >>> other_s = (t_s - 3.0)[::4]
    >>> found = rigloop.align((t_s, telegraph), (other_s, telegraph[::4]))
    >>> round(found.offset_s, 3)
    3.0
    >>> float(found.to_first(1.0).round(3))
    4.0
    """
    (t_first, first_values), (t_second, second_values) = _checked(first), _checked(second)
    if step_s is None:
        step_s = max(float(np.median(np.diff(t))) for t in (t_first, t_second))
    elif not (isinstance(step_s, int | float) and 0.0 < step_s < np.inf):
        raise AlignError(f"step_s = {step_s!r:.60}: give a number of seconds above 0")
    a, b = _even(t_first, first_values, step_s), _even(t_second, second_values, step_s)
    place, likeness = _place(a, b)
    coarse_s = float(t_first[0] - t_second[0] + place * step_s)
    lags, middles = _pieces(a, b, place)
    if len(lags) < 3:
        return Alignment(coarse_s, 0.0, np.nan, likeness)
    middles_s = t_second[0] + np.array(middles) * step_s
    left_s = np.array(lags) * step_s
    drift, rest_s = np.polyfit(middles_s, left_s, 1)
    error_s = float(np.std(left_s - drift * middles_s - rest_s))
    return Alignment(coarse_s + float(rest_s), float(drift), error_s, likeness)


def _checked(recorded: Recorded) -> tuple[Array, Array]:
    try:
        t_s, values = (np.asarray(part, np.float64) for part in recorded)
    except (TypeError, ValueError):
        raise AlignError(
            f"a recording of type {type(recorded).__name__}: give two rows of numbers, (t_s, values)"
        ) from None
    if t_s.ndim != 1 or t_s.shape != values.shape or len(t_s) < LEAST_SAMPLES:
        raise AlignError(
            f"times of shape {t_s.shape}, values of shape {values.shape}: give both as (n,), n at least {LEAST_SAMPLES}"
        )
    if not (np.all(np.isfinite(t_s)) and np.all(np.diff(t_s) > 0.0)):
        raise AlignError("the times do not rise: sort them, and leave out repeated ones")
    if not np.all(np.isfinite(values)):
        raise AlignError(
            "the sync signal has values that are not finite: cut them off, or fill them"
        )
    if np.ptp(values) == 0.0:
        raise AlignError("the sync signal is constant: nothing can be aligned by it")
    return t_s, values


def _even(t_s: Array, values: Array, step_s: float) -> Array:
    if (t_s[-1] - t_s[0]) / step_s > MOST_SAMPLES:
        raise AlignError(f"more than {MOST_SAMPLES} steps of {step_s:g} s: give a longer step_s")
    even = np.interp(np.arange(t_s[0], t_s[-1], step_s), t_s, values)
    if len(even) < LEAST_SAMPLES or np.ptp(even) == 0.0:
        raise AlignError(
            f"step_s = {step_s:g}: leaves {len(even)} samples, or none that differ; give a shorter one"
        )
    return (even - even.mean()) / even.std()


def _place(a: Array, b: Array) -> tuple[float, float]:
    """Return the place of b on a in steps, and how alike they are there."""
    size = 1 << int(len(a) + len(b) - 1).bit_length()
    product = np.fft.irfft(np.fft.rfft(a, size) * np.conj(np.fft.rfft(b, size)), size)
    lags = np.concatenate([np.arange(len(a)), np.arange(-len(b) + 1, 0)])
    product = np.concatenate([product[: len(a)], product[size - len(b) + 1 :]])
    overlap = np.minimum(len(a), lags + len(b)) - np.maximum(0, lags)
    # a quarter of the shorter one has to overlap: a few samples are alike anywhere
    likeness = np.where(overlap >= min(len(a), len(b)) // 4, product / overlap, -1.0)
    best = int(np.argmax(likeness))
    peak = float(likeness[best])
    if peak < LEAST_LIKENESS:
        raise AlignError(
            f"the two signals do not match anywhere: correlation {peak:.2f} at best, {LEAST_LIKENESS} needed; "
            "are they the same signal?"
        )
    _refuse_second_place(lags, likeness, best)
    order = np.argsort(lags)
    return _vertex(
        lags[order], likeness[order], int(np.searchsorted(lags[order], lags[best]))
    ), peak


def _refuse_second_place(lags: NDArray[np.int64], likeness: Array, best: int) -> None:
    # down both sides of the peak to where the signals are no longer alike, then any other one
    order = np.argsort(lags)
    sorted_likeness = likeness[order]
    at = int(np.searchsorted(lags[order], lags[best]))
    low = sorted_likeness < LEAST_LIKENESS * sorted_likeness[at]
    left = at - int(np.argmax(low[at::-1])) if low[at::-1].any() else 0
    right = at + int(np.argmax(low[at:])) if low[at:].any() else len(low)
    others = np.concatenate([sorted_likeness[:left], sorted_likeness[right:]])
    if len(others) and others.max() > AS_GOOD * sorted_likeness[at]:
        raise AlignError(
            "the sync signal repeats itself: the recordings match in several places; use an interval in which it "
            "does not, or a signal with uneven pulses"
        )


def _vertex(lags: NDArray[np.int64], values: Array, at: int) -> float:
    if not 0 < at < len(lags) - 1:
        return float(lags[at])
    before, here, after = values[at - 1 : at + 2]
    bend = before - 2.0 * here + after
    return float(lags[at]) + (0.5 * (before - after) / bend if bend < 0.0 else 0.0)


def _pieces(a: Array, b: Array, place: float) -> tuple[list[float], list[float]]:
    """Return by how many steps pieces of b lie elsewhere than as a whole, and their middles."""
    begin, end = max(0, -int(np.ceil(place))), min(len(b), int(len(a) - place))
    edges = np.linspace(begin, end, PIECES + 1).astype(int)
    lags, middles = [], []
    for low, high in pairwise(edges):
        reach = max(2, (high - low) // 8)
        origin = low + round(place)
        whole = a[max(0, origin - reach) : origin + (high - low) + reach]
        piece = b[low:high] - b[low:high].mean()
        if (
            len(piece) < LEAST_SAMPLES
            or origin < reach
            or len(whole) <= len(piece)
            or not piece.any()
        ):
            continue
        likeness = _likeness(whole, piece)
        at = int(np.argmax(likeness))
        if 0 < at < len(likeness) - 1 and likeness[at] >= LEAST_LIKENESS:
            found = _vertex(np.arange(len(likeness)), likeness, at)
            lags.append(max(0, origin - reach) + found - low - place)
            middles.append(0.5 * (low + high))
    return lags, middles


def _likeness(whole: Array, piece: Array) -> Array:
    """Return the correlation of a piece without a mean with each stretch of the whole that is as long."""
    size = 1 << int(len(whole) + len(piece)).bit_length()
    product = np.fft.irfft(np.fft.rfft(whole, size) * np.conj(np.fft.rfft(piece, size)), size)
    n, places = len(piece), len(whole) - len(piece) + 1
    sums, squares = (np.concatenate([[0.0], np.cumsum(whole**power)]) for power in (1, 2))
    mean = (sums[n:] - sums[:-n]) / n
    energy = np.maximum((squares[n:] - squares[:-n]) - n * mean**2, 1e-9 * n)
    return product[:places] / np.sqrt(energy * float(piece @ piece))

"""Measurements of signals: extremes, mean, RMS, frequency, delay between two, spectrum.

Gaps are left out: times are those of the cycles, and a spectrum is of the longest stretch without one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rigloop.run_folder.recorded import is_sane

Array = NDArray[np.float64]
BAND = 0.1  # of the range: a crossing counts once the signal was so far below the middle
LEAST_SAMPLES = 8


@dataclass(frozen=True)
class Measured:
    """Figures of one signal; NaN where there is none.

    Attributes
    ----------
    n : int
        Values that are numbers; all figures are of these.
    minimum, maximum, mean, rms : float
        In the unit of the signal; `rms` has the mean in it.
    frequency_hz : float
        Of its crossings of the middle upwards; NaN with fewer than two.
    """

    n: int
    minimum: float
    maximum: float
    mean: float
    rms: float
    frequency_hz: float


def measure(t_s: Array, values: Array) -> Measured:
    """Return the figures of a signal.

    Parameters
    ----------
    t_s, values : ndarray of float64, shape (n,)
    """
    good = is_sane(values)
    t_s, values = t_s[good], values[good]
    if not len(values):
        return Measured(0, *[math.nan] * 5)
    crossings = rising_crossings(t_s, values)
    frequency = (
        (len(crossings) - 1) / (crossings[-1] - crossings[0]) if len(crossings) > 1 else math.nan
    )
    return Measured(
        len(values),
        float(values.min()),
        float(values.max()),
        float(values.mean()),
        float(np.sqrt(np.mean(np.square(values)))),
        float(frequency),
    )


def rising_crossings(t_s: Array, values: Array) -> Array:
    """Return when a signal crosses the middle of its range upwards, s, between its samples.

    It crosses once it comes from a tenth of its range below the middle to as much above it: noise around the middle is
    no crossing, and the place is that of the last sample below the middle on the way.
    """
    low, high = float(values.min()), float(values.max())
    middle, band = low + 0.5 * (high - low), BAND * (high - low)
    if not band > 0.0:
        return np.empty(0)
    # -1 below the band, 1 above it, and within it the last one of these
    side = np.where(values >= middle + band, 1, np.where(values <= middle - band, -1, 0))
    told = np.flatnonzero(side)
    ups = np.flatnonzero((side[told][1:] == 1) & (side[told][:-1] == -1))
    # the last sample below the middle before a crossing's end; there is one, for it began below the band
    last_below = np.maximum.accumulate(np.where(values < middle, np.arange(len(values)), 0))
    below = last_below[told[ups + 1] - 1]
    share = (middle - values[below]) / (values[below + 1] - values[below])
    crossings: Array = t_s[below] + share * (t_s[below + 1] - t_s[below])
    return crossings


def delay_s(first: tuple[Array, Array], second: tuple[Array, Array]) -> float:
    """Return the time from where a first signal crosses its middle to where a second one does, s; the median of all.

    It is less than half a period of the first one either way; NaN where one of them does not cross.

    Parameters
    ----------
    first, second : pair of ndarray of float64
        Times and values.
    """
    ups = []
    for t_s, values in (first, second):
        good = is_sane(values)
        ups.append(rising_crossings(t_s[good], values[good]) if good.any() else np.empty(0))
    ours, theirs = ups
    if not len(ours) or not len(theirs):
        return math.nan
    place = np.clip(np.searchsorted(theirs, ours), 1, max(1, len(theirs) - 1))
    nearest = np.where(
        np.abs(theirs[np.minimum(place, len(theirs) - 1)] - ours)
        < np.abs(theirs[place - 1] - ours),
        theirs[np.minimum(place, len(theirs) - 1)],
        theirs[place - 1],
    )
    # at the ends of a capture a crossing may have lost its partner
    apart = nearest - ours
    period = float(np.median(np.diff(ours))) if len(ours) > 1 else math.inf
    kept = apart[np.abs(apart) <= 0.5 * period * (1.0 + 1e-9)]
    return float(np.median(kept)) if len(kept) else math.nan


@dataclass(frozen=True)
class Spectrum:
    """Amplitudes over frequency.

    Attributes
    ----------
    f_hz : ndarray of float64, shape (m,)
    amplitude : ndarray of float64, shape (m,)
        In the unit of the signal: a sine of amplitude 1 on a frequency of `f_hz` is 1 there. At 0 Hz it is the mean.
    n : int
        Samples: the longest stretch without a gap.
    """

    f_hz: Array
    amplitude: Array
    n: int

    @property
    def peak(self) -> tuple[float, float]:
        """Frequency and amplitude of the highest line beside the mean; NaN without any."""
        if len(self.f_hz) < 4:
            return math.nan, math.nan
        at = 2 + int(np.argmax(self.amplitude[2:]))  # the window spreads the mean over two lines
        return float(self.f_hz[at]), float(self.amplitude[at])


def spectrum(t_ns: NDArray[np.int64], values: Array, period_ns: int) -> Spectrum:
    """Return the amplitudes of a signal over frequency, by the discrete Fourier transform with a Hann window.

    Parameters
    ----------
    t_ns : ndarray of int64, shape (n,)
    values : ndarray of float64, shape (n,)
    period_ns : int
        Of its task.
    """
    breaks = (np.diff(t_ns) != period_ns) | ~is_sane(values[1:], values[:-1])
    edges = np.concatenate([[0], np.flatnonzero(breaks) + 1, [len(values)]])
    longest = int(np.argmax(np.diff(edges))) if len(edges) > 1 else 0
    piece = values[edges[longest] : edges[longest + 1]]
    n = len(piece)
    if n < LEAST_SAMPLES or not is_sane(piece).all():
        return Spectrum(np.empty(0), np.empty(0), 0)
    window = 0.5 - 0.5 * np.cos(2.0 * np.pi * np.arange(n) / n)
    mean = float(piece.mean())
    amplitude = 2.0 * np.abs(np.fft.rfft((piece - mean) * window)) / float(window.sum())
    amplitude[0] = abs(mean)
    return Spectrum(np.arange(len(amplitude)) / (n * period_ns * 1e-9), amplitude, n)

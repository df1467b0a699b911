"""Sums of sines with a low peak, and what came of them: Fourier coefficients period by period, with coherence.

A multisine and no stepped sine: all frequencies are measured at once, in the same state of a wheel that a person may
stand beside, in seconds; it is periodic, so that nothing leaks from one line to another; and the scatter from period
to period says at each line how far the answer can be trusted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]


def phases(n: int) -> list[float]:
    """Return the phases of n sines of equal amplitude whose sum has a low peak (Schroeder)."""
    return [-np.pi * k * (k + 1) / n for k in range(n)]


def line_amplitude(peak: float, harmonics: Sequence[int]) -> float:
    """Return the amplitude of each sine of a sum with a given peak."""
    # four points a period of the fastest line would miss its peak by a third, 32 by 0.5 %
    turns = np.arange(32 * max(harmonics)) / (32 * max(harmonics))
    total = np.zeros(len(turns))
    for harmonic, phase in zip(harmonics, phases(len(harmonics)), strict=True):
        total += np.sin(2 * np.pi * ((harmonic * turns) % 1.0) + phase)
    return float(peak / np.max(np.abs(total)))


def harmonics_up_to(highest: int, most: int = 30) -> list[int]:
    """Return at most `most` multiples from 1 to `highest`, about evenly spaced over the logarithm."""
    wanted = np.geomspace(1, highest, most)
    return sorted({round(float(h)) for h in wanted})


@dataclass(frozen=True)
class Lines:
    """Complex amplitudes of signals at some frequencies, period by period.

    Attributes
    ----------
    frequency_hz : ndarray of float64, shape (n_lines,)
    amplitude : dict of str to ndarray of complex128, shape (n_periods, n_lines)
    """

    frequency_hz: Array
    amplitude: dict[str, Complex]


def lines_of(
    elapsed_s: Array, signals: dict[str, Array], base_hz: float, harmonics: Sequence[int]
) -> Lines:
    """Fit the sines of a periodic sum to signals, each period for itself, by least squares.

    Samples may be missing, as after a skipped cycle: the fit takes those that are there.

    Parameters
    ----------
    elapsed_s : ndarray of float64, shape (n,)
        Rising; whole periods of `base_hz` from the first on are taken.
    signals : dict of str to ndarray of float64, shape (n,)

    Raises
    ------
    ValueError
        There is no whole period.
    """
    period_s = 1.0 / base_hz
    n_periods = int(round((elapsed_s[-1] - elapsed_s[0]) / period_s, 6)) if len(elapsed_s) else 0
    if n_periods < 1:
        raise ValueError(f"less than a period of {period_s:g} s")
    frequency = base_hz * np.asarray(harmonics, float)
    # friction and other curved laws answer between the lines too: unfitted, that would lean on the drift
    every = np.arange(1, max(harmonics) + 1)
    taken = np.asarray(harmonics) - 1
    found: dict[str, list[Complex]] = {name: [] for name in signals}
    for k in range(n_periods):
        begin = elapsed_s[0] + k * period_s
        rows = slice(*np.searchsorted(elapsed_s, (begin - 1e-9, begin + period_s - 1e-9)))
        t = elapsed_s[rows]
        turning = np.exp(2j * np.pi * base_hz * np.outer(t, every))
        # a slow drift beside the sines is not one of them
        slow = (t - t.mean()) / period_s
        design = np.hstack([turning.real, turning.imag, np.column_stack([np.ones_like(t), slow])])
        given = np.column_stack([column[rows] for column in signals.values()])
        parts = np.linalg.lstsq(design, given, rcond=None)[0]
        n = len(every)
        for i, name in enumerate(signals):
            found[name].append((parts[:n, i] - 1j * parts[n : 2 * n, i])[taken])
    return Lines(frequency, {name: np.array(rows) for name, rows in found.items()})


def ratio(lines: Lines, over: str, under: str) -> tuple[Complex, Array]:
    """Return one signal over another at each line, and the coherence of the two over the periods."""
    y, x = lines.amplitude[over], lines.amplitude[under]
    cross = np.sum(y * np.conj(x), axis=0)
    power_x, power_y = (np.sum(np.abs(v) ** 2, axis=0) for v in (x, y))
    with np.errstate(divide="ignore", invalid="ignore"):
        transfer = np.sum(y, axis=0) / np.sum(x, axis=0)
        coherence = np.abs(cross) ** 2 / (power_x * power_y)
    return transfer, np.nan_to_num(coherence)


def through(lines: Lines, over: str, under: str, driven_by: str) -> tuple[Complex, Array]:
    """Return one signal over another in a loop, both referred to what drives it from outside: no bias by noise that
    goes round. The coherence is the lesser one of either with the driver."""
    top, coherent_top = ratio(lines, over, driven_by)
    bottom, coherent_bottom = ratio(lines, under, driven_by)
    with np.errstate(divide="ignore", invalid="ignore"):
        return top / bottom, np.minimum(coherent_top, coherent_bottom)

"""Holes that nobody tells of: their rate with its interval, and the overruns to expect of them.

While a task spins, nothing is done but looking at the clock: time that is missing there, and that the thread's CPU
clock does not tell, was taken from outside. Holes come without memory, so their number is a Poisson variable of the
time that they could fall into, and the overruns that they make in the blocks follow from that rate and the time spent
there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import msgspec
import numpy as np

from estimators.numerics.chi_square import quantile
from rt_core.lateness.histogram import Histogram
from rt_core.lateness.untold import probability

CONFIDENCE = 0.95
UNLIKELY = 0.01
LEAST_S = 1.0  # of spinning: less says nothing

HOLES = ("spin", "hole", "untold")  # histograms of a task that are read here

Count = Annotated[int, msgspec.Meta(ge=0)]


class Exposure(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The untold holes that a task saw.

    Attributes
    ----------
    holes, looked_s : int, float
        Outside of all blocks, in the spin mostly, and the time spent there.
    suspected, worked_s : int, float
        Surpluses within blocks that nothing explained, and the time spent there.
    large : int
        Of `holes` those that would make the usual cycle outlive its period, had they fallen into a block.
    overruns : int
        With the causes own work and untold.
    """

    holes: Count
    looked_s: float
    suspected: Count
    worked_s: float
    large: Count
    overruns: Count

    @property
    def rate_per_s(self) -> tuple[float, float, float]:
        """Holes in a second of looking: the rate, and its exact interval."""
        return rate(self.holes, self.looked_s)

    @property
    def expected(self) -> tuple[float, float, float]:
        """Overruns to expect of holes in blocks, and the interval."""
        middle, low, high = (self.worked_s * r for r in rate(self.large, self.looked_s))
        return middle, low, high

    @property
    def p(self) -> float | None:
        """Probability of as many overruns or more, if all are the holes'; None: looked at for too short a time."""
        if self.looked_s < LEAST_S:
            return None
        return probability(self.overruns, self.worked_s, self.large, self.looked_s, 1e30)

    @property
    def good(self) -> bool | None:
        """True: holes explain the overruns; None: it cannot be said."""
        if self.overruns == 0:
            return True
        return None if self.p is None else self.p >= UNLIKELY

    def brief(self) -> tuple[str, str]:
        """Return the rate, and the overruns against those to be expected, for a table."""
        if self.looked_s < LEAST_S:
            short = f"not known: {self.looked_s:.1f} s of spin, {LEAST_S:g} needed"
            return short, f"{self.overruns} own or untold overruns"
        middle, low, high = self.rate_per_s
        likely, least, most = self.expected
        return (
            f"{middle:.3g} a second ({low:.3g} to {high:.3g})",
            f"{self.overruns} own or untold overruns, {likely:.2g} expected ({least:.2g} to {most:.2g})"
            + (": more than holes explain" if self.good is False else ""),
        )

    def words(self) -> str:
        """Return it as one sentence."""
        inside = f"{self.suspected} unexplained in {self.worked_s:.1f} s of work"
        if self.looked_s < LEAST_S:
            return f"{inside}; {self.looked_s:.1f} s of spin are too few to estimate the time that the host takes"
        middle, low, high = self.rate_per_s
        likely, least, most = self.expected
        ends = {True: "as many as holes explain", False: "more than holes explain", None: ""}
        return (
            f"{self.holes} in {self.looked_s:.1f} s outside of work, {middle:.3g} a second ({low:.3g} to {high:.3g}); "
            f"{inside}; of them {likely:.2g} overruns are to be expected ({least:.2g} to {most:.2g}), "
            f"{self.overruns} were own work or untold: {ends[self.good]}"
        )


def rate(n: int, seconds: float) -> tuple[float, float, float]:
    """Return the rate of a Poisson variable that was n in some seconds, and its exact interval.

    Source
    ------
    F. Garwood, Fiducial limits for the Poisson distribution, 1936: quantiles of chi-square.
    """
    if seconds <= 0.0:
        return 0.0, 0.0, float("inf")
    tail = (1.0 - CONFIDENCE) / 2.0
    low = quantile(tail, 2 * n) / 2.0 if n else 0.0
    return n / seconds, low / seconds, quantile(1.0 - tail, 2 * n + 2) / 2.0 / seconds


def exposure(histograms: Mapping[str, Histogram], period_ns: int, overruns: int) -> Exposure:
    """Return what the histograms of a task say.

    Parameters
    ----------
    histograms : mapping
        Of the task: `spin`, `hole`, `untold`, `step`, `total`. One that is lost counts as empty.
    period_ns : int
    overruns : int
        With the causes own work and untold.
    """
    spin, hole, untold, step, total = (
        histograms.get(name, Histogram.of(()))
        for name in ("spin", "hole", "untold", "step", "total")
    )
    slack_ns = period_ns - (total.percentile(50) if total.n else 0.0)
    lower = np.asarray(hole.edges_ns[:-1])
    return Exposure(
        holes=hole.n,
        looked_s=1e-9 * float(spin.sum_ns),
        suspected=untold.n,
        worked_s=1e-9 * float(step.sum_ns),
        large=int(np.asarray(hole.counts)[lower >= slack_ns].sum()),
        overruns=overruns,
    )

"""Variants side by side: each round runs all of them in random order; kept are those that the host disturbed least."""

from __future__ import annotations

import math
import random
import statistics
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rt_core.host.facts import steal_ticks
from rt_core.lateness.histogram import Histogram

MOST_STEAL = 5  # ticks of 10 ms in one run; what a round with more says is the host's
TRIES = 3  # for each good round that is wanted
FLOOR_US = 0.1  # below it lateness is one reading of the clock


@dataclass(frozen=True)
class Lateness:
    """The lateness of one run's cycles, in µs; `facts` has the other counts."""

    p50: float
    p99: float
    p99_9: float
    n: int
    facts: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, histogram: Histogram, **facts: Any) -> Lateness:
        """Return the percentiles of a histogram of ns."""
        p50, p99, p99_9 = (float(p) / 1e3 for p in histogram.percentiles((50, 99, 99.9)))
        return cls(p50, p99, p99_9, histogram.n, facts)


def median_interval(
    values: Sequence[float], confidence: float = 0.95
) -> tuple[float, float, float]:
    """Return the median with its interval, whatever the distribution; the ends of the values if they are too few.

    Source
    ------
    The number of values below the median is binomial with 1/2.
    """
    ordered = sorted(values)
    n = len(ordered)
    below, k = 0.0, 0
    while k < n // 2:
        below += math.comb(n, k) / 2**n
        if 2 * below > 1 - confidence:
            break
        k += 1
    first = max(k - 1, 0)
    return ordered[first], statistics.median(ordered), ordered[n - 1 - first]


Run = Callable[[], Lateness]


@dataclass
class Rounds:
    """Good rounds by variant, and how many were dropped, with the reason where it is not steal."""

    found: dict[str, list[Lateness]]
    dropped: int = 0
    stolen: int = 0
    """Most ticks that one run of a kept round lost."""
    error: str = ""
    """Error of the last round that did not come to its end; it is dropped too."""

    @property
    def n(self) -> int:
        """Number of good rounds."""
        return min(map(len, self.found.values()), default=0)

    def median(self, variant: str, figure: str) -> float:
        """Return the median over the rounds of a figure of each round, at least `FLOOR_US`."""
        found = [getattr(lateness, figure) for lateness in self.found[variant]]
        return max(FLOOR_US, statistics.median(found))

    def facts(self, variant: str, name: str) -> list[Any]:
        """Return one fact of every round of a variant."""
        return [lateness.facts[name] for lateness in self.found[variant]]


def interleaved(
    variants: Mapping[str, Run],
    rounds: int,
    tell: Callable[[str], None] = lambda text: None,
) -> Rounds:
    """Run all variants until there are enough rounds without any steal, or `TRIES` times as many were tried; keep
    those with the least, and none that is too much.

    One tick in some seconds is more than the 0.1 % that p99.9 is about, but not all hosts have better rounds.

    Parameters
    ----------
    variants : mapping of str to callable
        What one run of each is.
    rounds : int
        Good ones that are wanted.
    tell : callable, optional
        Gets a line on how far it is.
    """
    done = Rounds({name: [] for name in variants})
    tried: list[tuple[int, dict[str, Lateness]]] = []
    clean = 0
    while clean < rounds and len(tried) < TRIES * rounds:
        order = list(variants)
        random.shuffle(order)
        now, worst = {}, 0
        for name in order:
            tell(f"{clean} of {rounds} clean rounds, {len(tried)} tried: {name}")
            before = steal_ticks() or 0
            try:
                now[name] = variants[name]()
            except (OSError, RuntimeError, subprocess.SubprocessError) as error:
                done.error = f"{name}: {type(error).__name__}: {error}"
                break
            worst = max(worst, (steal_ticks() or 0) - before)
        if len(now) < len(variants):
            worst = MOST_STEAL + 1
        clean += worst == 0
        tried.append((worst, now))
    for worst, now in sorted(tried, key=lambda found: found[0])[:rounds]:
        if worst <= MOST_STEAL:
            done.stolen = worst
            for name, lateness in now.items():
                done.found[name].append(lateness)
    done.dropped = len(tried) - done.n
    return done

"""Does each filter know its own error? NEES and NIS of many matched runs beside their chi-square bounds."""

from __future__ import annotations

import os
import time
from concurrent.futures import ProcessPoolExecutor, as_completed

import msgspec
import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from estimators.numerics.chi_square import mean_bounds
from rig_configs.mistakes import ConfigError, Mistake, near
from rigloop.bench.consistency.cases import CASES
from rigloop.bench.consistency.plants import four_bar
from rigloop.bench.consistency.scores import MARKS

BOUND = 0.95


class Mean(msgspec.Struct, frozen=True):
    """Mean of a squared error over the runs at the last cycle, where 95 % of such means lie, and where it still counts.

    `least` and `most` hold with 95 % for all that must hold together. `over_time` has the means at `MARKS`.
    """

    mean: float
    low: float
    high: float
    least: float
    most: float
    over_time: tuple[float, ...]

    @property
    def is_within(self) -> bool:
        """True: it counts as consistent."""
        return self.least <= self.mean <= self.most


class Consistency(msgspec.Struct, frozen=True):
    """One filter; `why_not` is empty where it must be consistent."""

    filter: str
    states: int
    sensors: int
    nees: Mean
    nis: Mean
    why_not: str
    good: bool


class Outcome(msgspec.Struct, frozen=True):
    """All filters, after how many cycles their errors were taken, and how long that took."""

    good: bool
    runs: int
    seed: int
    cycles: tuple[int, ...]
    filters: tuple[Consistency, ...]
    seconds: float


def measure(
    runs: int, seed: int, names: list[str] | None, jobs: int | None, console: Console
) -> Outcome:
    """Run every case, one process a core.

    Raises
    ------
    ConfigError
        A filter of no known name.
    """
    known = [case.filter for case in CASES]
    wanted = names or known
    mistakes = [
        Mistake("rigloop bench consistency", "--filter", "no such filter", near(n, known), n)
        for n in wanted
        if n not in known
    ]
    if mistakes:
        raise ConfigError(mistakes)
    begin = time.perf_counter()
    columns = (
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    )  # fmt: skip
    found: dict[str, Consistency] = {}
    with (
        Progress(*columns, console=console, transient=True) as progress,
        ProcessPoolExecutor(jobs or len(os.sched_getaffinity(0))) as pool,
    ):
        bar = progress.add_task("the four-bar's model", total=1)
        pool.submit(_build).result()
        progress.update(bar, description="runs of filters", completed=0, total=len(wanted))
        running = [pool.submit(run_case, name, runs, seed) for name in wanted]
        for done in as_completed(running):
            case = done.result()
            found[case.filter] = case
            progress.advance(bar)
    filters = tuple(found[name] for name in known if name in found)
    return Outcome(
        all(case.good for case in filters if not case.why_not), runs, seed, MARKS, filters,
        time.perf_counter() - begin,
    )  # fmt: skip


def run_case(name: str, runs: int, seed: int) -> Consistency:
    """NEES and NIS of one filter over its runs."""
    number, case = next((i, case) for i, case in enumerate(CASES) if case.filter == name)
    run = case.make()
    found = [run(np.random.default_rng([seed, number, k])) for k in range(runs)]
    nees = _mean(np.array([one[0] for one in found]), case.states)
    nis = _mean(np.array([one[1] for one in found]), case.sensors)
    return Consistency(
        case.filter, case.states, case.sensors, nees, nis, case.why_not,
        nees.is_within and nis.is_within,
    )  # fmt: skip


def _build() -> None:
    four_bar()


def _mean(squared: np.ndarray, degrees: int) -> Mean:
    means = squared.mean(axis=0)
    low, high = mean_bounds(BOUND, degrees, len(squared))
    # two of each filter that must be consistent: among several, one is outside its own 95 % by chance
    together = 1.0 - (1.0 - BOUND) / (2 * sum(not case.why_not for case in CASES))
    least, most = mean_bounds(together, degrees, len(squared))
    return Mean(float(means[-1]), low, high, least, most, tuple(means.tolist()))

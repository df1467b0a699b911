"""The facts about a live run that is over: the supervisor's observations, and the table's last word."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from rigloop.run_folder import messages
from rigloop.run_folder.exposure import Exposure, exposure
from rigloop.run_folder.manifest import DataFault, count
from rt_core.lateness.cause import Cause, signal_of
from rt_core.lateness.histogram import Histogram
from rt_core.plan import loop_signal
from rt_core.signals.table import RingReader, SignalTable


@dataclass
class Supervision:
    """The supervisor's observations between arming and the end.

    `alarms` are what it found wrong while the run went on, each a sentence with its time: they decide the verdict;
    `notes` do not.
    """

    armed_s: float = 0.0  # how long the guard was running
    interrupted: bool = False
    process_began_ns: int = 0  # CLOCK_MONOTONIC
    alarms: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    trips: list[DataFault] = field(default_factory=list)  # after which it was armed again
    not_rearmed: str = ""  # why it was not, although the rig file allows it
    demoted: bool = False  # a task's thread lost its priority or its core meanwhile


@dataclass(frozen=True)
class Final:
    """The table's last word: newest value of every signal, histograms by task and name."""

    signals: dict[str, float]
    histograms: dict[str, dict[str, Histogram]]
    late: dict[str, tuple[int, list[tuple[int, Any]]]]
    """Late cycles by task: how many, and the cycles around the first of them."""
    rings: dict[str, dict[str, int]] = field(default_factory=dict)
    """Counters of each task's ring; without an entry nobody knows them any more."""


def overruns_by_cause(signals: Mapping[str, float], task: str) -> dict[Cause, int]:
    """Return the overruns of a task, most frequent cause first."""
    counts = {
        cause: count(signals[loop_signal(task, signal_of(cause))]) for cause in Cause if cause
    }
    return dict(sorted(counts.items(), key=lambda item: -item[1]))


def exposure_of(final: Final, task: str, period_ns: int) -> Exposure:
    """Return what a task saw of untold holes."""
    causes = overruns_by_cause(final.signals, task)
    overruns = causes[Cause.OWN] + causes[Cause.UNTOLD]
    return exposure(final.histograms[task], period_ns, overruns)


@dataclass(frozen=True)
class Ended:
    """A run that is over: what was seen of it, its table's last word, the cycle process's exit code if it is known."""

    seen: Supervision
    final: Final
    code: int | None
    report: messages.Report | None = (
        None  # what the cycle process said before the run, where it said it last is gone
    )
    page: bool = True  # the run folder gets its report page


def newest(shared: SignalTable) -> dict[str, float]:
    """Return the newest value of every signal of a table."""
    signals: dict[str, float] = {}
    for producer in shared.producers:
        values = shared.latest(producer.name)
        # own signals come first, mirrors of others behind them
        signals |= dict(zip(producer.signals, map(float, values), strict=False))
    return signals


def read_final(shared: SignalTable, tasks: Iterable[str]) -> Final:
    """Read a table for the last time."""
    tasks = list(tasks)
    return Final(
        newest(shared),
        {task: shared.histograms(task) for task in tasks},
        {task: shared.late_events(task) for task in tasks},
        {task: _counters(shared, task) for task in tasks},
    )


def _counters(shared: SignalTable, task: str) -> dict[str, int]:
    ring = RingReader(shared, task)
    try:
        return ring.counters()
    finally:
        ring.close()


def errno_in_words(number: int) -> str:
    """Return the words for an error number of a table; a damaged table may have any number."""
    return os.strerror(number) if 0 < number < 4096 else f"error {number}"

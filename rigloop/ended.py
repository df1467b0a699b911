"""What is known of a live run that is over: what the supervisor saw, and the table's last word."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rig_configs.load import LoadedRig
from rigloop.exposure import Exposure, exposure
from rt_core.cause import Cause, signal_of
from rt_core.histogram import Histogram
from rt_core.plan import loop_signal
from rt_core.table import SignalTable


@dataclass
class Supervision:
    """What the supervisor saw between arming and the end."""

    armed_s: float = 0.0  # how long the guard was running
    interrupted: bool = False
    process_began_ns: int = 0  # CLOCK_MONOTONIC


@dataclass(frozen=True)
class Final:
    """The table's last word: newest value of every signal, histograms by task and name."""

    signals: dict[str, float]
    histograms: dict[str, dict[str, Histogram]]
    late: dict[str, tuple[int, list[tuple[int, Any]]]]
    """Late cycles by task: how many, and the cycles around the first of them."""


def overruns_by_cause(signals: Mapping[str, float], task: str) -> dict[Cause, int]:
    """Return the overruns of a task, most frequent cause first."""
    counts = {cause: int(signals[loop_signal(task, signal_of(cause))]) for cause in Cause if cause}
    return dict(sorted(counts.items(), key=lambda item: -item[1]))


def exposure_of(final: Final, task: str, period_ns: int) -> Exposure:
    """Return what a task saw of untold holes."""
    causes = overruns_by_cause(final.signals, task)
    overruns = causes[Cause.OWN] + causes[Cause.UNTOLD]
    return exposure(final.histograms[task], period_ns, overruns)


@dataclass(frozen=True)
class Ended:
    """A run that is over: what was seen of it, its table's last word, the cycle process's exit code."""

    seen: Supervision
    final: Final
    code: int


def read_final(shared: SignalTable, loaded: LoadedRig) -> Final:
    """Read a table for the last time."""
    signals: dict[str, float] = {}
    for producer in shared.producers:
        values = shared.latest(producer.name)
        # own signals come first, mirrors of others behind them
        signals |= dict(zip(producer.signals, map(float, values), strict=False))
    return Final(
        signals,
        {task: shared.histograms(task) for task in loaded.rig.tasks},
        {task: shared.late_events(task) for task in loaded.rig.tasks},
    )

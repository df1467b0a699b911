"""Events of a run in one list: states of guards, faults, faults on purpose, live values, late cycles, the bus."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec
import numpy as np

from rigloop.live_values.journal import read_journal
from rigloop.run_folder import messages
from rigloop.run_folder.late import read_events
from rigloop.run_folder.manifest import Manifest
from rigloop.run_folder.recorded import recorded_signal
from rt_core.lateness.cause import WORDS
from rt_core.safety.trips import read_state

Kind = Literal["state", "fault", "injected", "live", "late", "bus"]


@dataclass(frozen=True)
class Event:
    """Something that happened in a run.

    Attributes
    ----------
    t_s : float
        Since the first cycle.
    kind : str
        "state" of a guard, "fault", "injected", "live" (a change of live values, or one that was refused), "late" (a
        cycle; the run keeps some of each cause) or "bus".
    words : str
        One sentence.
    """

    t_s: float
    kind: Kind
    words: str


def events_of(
    folder: Path, manifest: Manifest, records: Mapping[str, np.ndarray]
) -> tuple[Event, ...]:
    """Return the events of a run in the order of their times."""
    found = [
        *_states(manifest, records),
        *(Event(f.at_s, "fault", f.words) for f in manifest.faults if f.at_s is not None),
        *_injected(manifest, records),
        *_live(folder, manifest),
        *_late(folder, manifest),
        *_bus(folder),
    ]
    return tuple(sorted(found, key=lambda event: event.t_s))


def _states(manifest: Manifest, records: Mapping[str, np.ndarray]) -> Iterator[Event]:
    for guard, axis in manifest.axes.items():
        seen = recorded_signal(records, *axis.signals.get("state", ("", "")))
        if seen is not None:
            t_s, code = seen
            rows = np.flatnonzero(np.diff(code, prepend=np.nan) != 0.0)
            for row in rows:
                yield Event(float(t_s[row]), "state", f"{guard}: {read_state(code[row]).name}")


def _injected(manifest: Manifest, records: Mapping[str, np.ndarray]) -> Iterator[Event]:
    for injected in manifest.injections:
        axis = manifest.axes.get(injected.guard) or next(iter(manifest.axes.values()), None)
        if injected.began is None or axis is None or "state" not in axis.signals:
            continue
        task = axis.signals["state"][0]
        seen = recorded_signal(records, task, f"loop/{task}/cycle")
        if seen is not None:
            t_s, cycle = seen
            row = min(int(np.searchsorted(cycle, injected.began)), len(t_s) - 1)
            yield Event(float(t_s[row]), "injected", injected.line())


def _live(folder: Path, manifest: Manifest) -> Iterator[Event]:
    for entry in read_journal(folder) if manifest.first_cycle_ns else ():
        yield Event((entry.monotonic_ns - manifest.first_cycle_ns) * 1e-9, "live", entry.words)


def _late(folder: Path, manifest: Manifest) -> Iterator[Event]:
    for task in manifest.tasks:
        for event in read_events(folder, task):
            row = event.rows[event.at]
            words = f"{task}: {event.excess_ns * 1e-3:.0f} µs after its deadline: {WORDS.get(event.cause, 'late')}"
            yield Event(float(row["deadline_ns"]) * 1e-9, "late", words)


def _bus(folder: Path) -> Iterator[Event]:
    try:
        report = messages.read_report(folder)
    except (OSError, msgspec.DecodeError, ValueError):
        return
    if report is None or not report.first_cycle_ns:
        return
    for event in report.bus_events:
        time_ns, source, words = (event.get(key) for key in ("time_ns", "source", "words"))
        if isinstance(time_ns, int):
            yield Event((time_ns - report.first_cycle_ns) * 1e-9, "bus", f"{source}: {words}")

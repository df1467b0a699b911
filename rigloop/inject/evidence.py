"""The evidence that a run left of its faults, and the cycle in which each began."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypedDict, TypeVar

import msgspec
import numpy as np

from rig_configs.bounded import MOST_KEPT_BYTES, read_bytes
from rig_configs.json_message import decode
from rigloop.compose.blocks import find_guards
from rigloop.inject.agent import LOG
from rigloop.inject.kinds import InCycle, ToProcess, ToWire
from rigloop.inject.limits import Limits
from rigloop.inject.place import block_name, task_of
from rigloop.inject.request import Injection
from rigloop.run_folder import messages
from rigloop.run_folder.last_state import record_of
from rt_core.injection.inject import Act
from rt_core.plan import loop_signal

T = TypeVar("T")
LAST_NS = np.iinfo(np.int64).max


class NoEvidenceError(ValueError):
    """The evidence of a run does not show the outcome of its faults."""


class RecordedTask(TypedDict):
    """The recorder's count of one task."""

    rows: int
    unwritten: int
    dropped: int
    first_unwritten_ns: int | None


class DriveSaid(TypedDict, total=False):
    """The report of the emulated drive on itself."""

    pushed: bool
    zero_ns: int | None
    al_state: str
    al_code: str
    orders: list[tuple[str, int]]


class _Act(msgspec.Struct):
    number: int
    at_ns: int


@dataclass(frozen=True)
class Evidence:
    """The evidence of a run about one fault: the records of the axis that it strikes, and what all have in common."""

    fast: np.ndarray
    slow: np.ndarray
    report: messages.Report
    recorder: dict[str, RecordedTask]
    injected_ns: dict[int, int]
    """Number of the injection → CLOCK_MONOTONIC."""
    drives: DriveSaid
    final: Mapping[str, float] | None
    """Newest value of every signal, where the supervisor lived to read it."""
    records: Mapping[str, np.ndarray] = field(default_factory=dict)
    """The record of each task that has a guard or a model."""


def gather(
    folder: Path, injections: Sequence[Injection], final: Mapping[str, float] | None
) -> list[Evidence]:
    """Read what a run left, for each of its faults.

    Raises
    ------
    NoEvidenceError
        There is no record, or it does not have what tells of these faults.
    """
    needs: dict[str, list[str]] = {}
    for number, injection in enumerate(injections):
        acts, lim = injection.fault.acts, injection.lim
        guard = (lim.writes[port] for port in ("state", "trip", "torque_nm"))
        needs.setdefault(lim.fast, []).extend((loop_signal(lim.fast, "cycle"), *guard))
        if injection.arming:
            needs[lim.fast].append(lim.guard_block.reads["arm"])
        needs.setdefault(lim.slow, [])
        if isinstance(acts, InCycle) and acts.act != Act.HANG:
            needs[task_of(injection)].append(f"{block_name(number, lim.rig)}/cycle")
    rig = injections[0].lim.rig
    guarded = [t for t, table in rig.tasks.items() if set(table.blocks) & set(find_guards(rig))]
    records = {task: record_of(folder / f"{task}.npy") for task in (*needs, *guarded)}
    for task, columns in needs.items():
        if not len(records[task]):
            raise NoEvidenceError(f"the run left no record of {task}")
        if lacking := [c for c in columns if c not in (records[task].dtype.names or ())]:
            raise NoEvidenceError(
                f"the record of {task} has no {', '.join(dict.fromkeys(lacking))}"
            )
    report = _report(folder)
    recorder = _read(folder / "recorder.json", dict[str, RecordedTask]) or {}
    injected_ns = {act.number: act.at_ns for act in _acts(folder / LOG)}
    return [
        Evidence(
            records[injection.lim.fast],
            records[injection.lim.slow],
            report,
            recorder,
            injected_ns,
            _drives(folder, injection.lim),
            final,
            records,
        )
        for injection in injections
    ]


def _drives(folder: Path, lim: Limits) -> DriveSaid:
    if lim.axis.bus is None:
        return DriveSaid()
    witness = messages.witness(lim.rig, lim.axis.bus)
    return _read(folder / witness, DriveSaid) or DriveSaid()


def _report(folder: Path) -> messages.Report:
    try:
        return messages.read_report(folder) or messages.Report(error="no report")
    except (OSError, msgspec.DecodeError):
        return messages.Report(error="no report")


def _acts(log: Path) -> list[_Act]:
    try:
        lines = read_bytes(log, MOST_KEPT_BYTES).splitlines()
    except OSError:
        return []
    found = []
    for line in lines:
        # the last one of an agent that was killed may be half a line
        with contextlib.suppress(msgspec.DecodeError):
            found.append(decode(line, type=_Act))
    return found


def _read(path: Path, kind: type[T]) -> T | None:
    try:
        return decode(read_bytes(path), type=kind)
    except (OSError, ValueError, RecursionError):
        return None


def cable_moves(number: int, seen: Evidence) -> tuple[int | None, int | None]:
    """Return when the segment lost a cable and had it back, as it says itself (CLOCK_MONOTONIC)."""
    asked_ns = seen.injected_ns.get(number)
    found: dict[str, int] = {}
    if asked_ns is not None:
        for words, at_ns in seen.drives.get("orders", ()):
            if at_ns >= asked_ns:
                found.setdefault(words.partition(" ")[0], at_ns)
    return found.get("unplug"), found.get("plug")


def row_of(at_ns: int | None, seen: Evidence) -> int | None:
    """Return the row of the cycle that was under way at a moment, its frame sent or not."""
    if at_ns is None or not seen.report.first_cycle_ns:
        return None
    after = np.searchsorted(seen.fast["t_ns"], at_ns - seen.report.first_cycle_ns, side="right")
    return max(0, int(after) - 1)


def time_of(row: int | None, seen: Evidence) -> int | None:
    """Return the nominal time of a row of the guard's task; of one behind the last, a time after all."""
    if row is None:
        return None
    t_ns = seen.fast["t_ns"]
    return int(t_ns[row]) if row < len(t_ns) else LAST_NS


def began_in(number: int, injection: Injection, seen: Evidence) -> int | None:
    """Return the row of the guard's task in which a fault began; one behind the last if that never came."""
    acts, lim, t_ns = injection.fault.acts, injection.lim, seen.fast["t_ns"]
    if isinstance(acts, ToWire):
        return row_of(cable_moves(number, seen)[0], seen)
    if isinstance(acts, ToProcess):
        at_ns = seen.injected_ns.get(number)
        start_ns = seen.report.first_cycle_ns
        if at_ns is None or not start_ns:
            return None
        return int(np.searchsorted(t_ns, at_ns - start_ns))
    task = task_of(injection)
    record = seen.fast if task == lim.fast else seen.slow
    if acts.act == Act.HANG:
        # the cycle that hangs is never published: it is the one after the last, if its thread did not end
        if not seen.report.hung:
            return None
        if task == lim.fast:
            return len(t_ns)
        began_ns = int(record["t_ns"][-1]) + lim.slow_task.period_us * 1000
        return int(np.searchsorted(t_ns, began_ns))
    rows = np.flatnonzero(record[f"{block_name(number, lim.rig)}/cycle"])
    if not len(rows):
        return None
    return int(np.searchsorted(t_ns, record["t_ns"][rows[0]]))

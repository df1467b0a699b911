"""The reasons that make a live run bad, as lines for the user."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rig_configs.load import LoadedRig
from rig_configs.schema import Rig
from rigloop.blocks.kinds.guard import GuardBlock
from rigloop.compose.blocks import bus_of_guard, find_buses, find_guards, paths
from rigloop.judge.bus_words import explain_bus
from rigloop.judge.fault_words import explain_fault, task_of_fault
from rigloop.judge.tripped import AT_THE_END, written_over
from rigloop.run_folder import messages
from rigloop.run_folder.manifest import Axis, DataFault, count, fault_code
from rigloop.run_folder.run_end import Ended, Final, Supervision, errno_in_words, overruns_by_cause
from rt_core.lateness.cause import explain_overruns
from rt_core.plan import loop_signal
from rt_core.safety.trips import TRIPS, Trip, read_trip


@dataclass(frozen=True)
class JudgedRun:
    """All that is known of a run that has ended.

    Attributes
    ----------
    loaded : LoadedRig
    ended : Ended
    report : Report
        Of the cycle process.
    asked_s : float or None
        The time that the run was to last.
    records : mapping of task to mapping
        The recorder's summary.
    rows : mapping of task to int
        Of its record.
    faults : sequence of DataFault
    axes : mapping of guard to Axis
    blocks : mapping of task to sequence of str
        In the order of their steps.
    """

    loaded: LoadedRig
    ended: Ended
    report: messages.Report
    asked_s: float | None
    records: Mapping[str, Any]
    rows: Mapping[str, int]
    faults: Sequence[DataFault]
    axes: Mapping[str, Axis]
    blocks: Mapping[str, Sequence[str]]


def reasons_against(run: JudgedRun) -> list[str]:
    """Return everything that makes a run bad."""
    loaded, ended, report = run.loaded, run.ended, run.report
    limits, seen, final = loaded.rig.verdict, ended.seen, ended.final
    found = list(seen.alarms)
    if report.error:
        found.append(report.error)
    if report.stall:
        found.append(report.stall)
    if report.unattended:
        found.append(report.unattended)
    for task, config in loaded.rig.tasks.items():
        trip = final.signals[loop_signal(task, "overrun_trip")]
        if trip:
            found.append(
                f"{loop_signal(task, 'overrun_level')}: overruns worth "
                f"{final.signals[loop_signal(task, 'overrun_level')]:.0f} points within "
                f"{config.overrun_window} cycles ({_causes(final, task)} in all), limit tasks.{task}.overrun_limit = "
                f"{config.overrun_limit}, at cycle {trip:.0f} ({config.overrun.upper()})"
            )
    found += [fault.words for fault in run.faults if fault.kind not in AT_THE_END]
    found += [seen.not_rearmed] if seen.not_rearmed else []
    found += _never_armed(loaded.rig, final, seen, run.blocks)
    found += [reason for axis in run.axes.values() for reason in axis.reasons]
    # what could not be written any more, the exit code says
    if not report.at_rest and ended.code != 0:
        how = how_it_ended(ended.code)
        found.append(f"the output was not seen at rest at the end (cycle process: {how})")
    if run.asked_s is not None and not seen.interrupted and seen.armed_s < run.asked_s:
        found.append(f"ran {seen.armed_s:.1f} of {run.asked_s:g} s")
    found += _bus_reasons(loaded.rig, final)
    for task in loaded.rig.tasks:
        share = (
            100.0
            * final.signals[f"loop/{task}/overruns"]
            / max(1.0, final.signals[f"loop/{task}/cycle"])
        )
        if report.real_time and share > limits.max_overrun_percent:
            found.append(
                f"{task}: {share:.2f} % of cycles overran, limit verdict.max_overrun_percent = "
                f"{limits.max_overrun_percent:g} ({_causes(final, task)})"
            )
        found += _record_reasons(final, task, run.rows[task], run.records.get(task, {}))
    if not run.records and not any(ring["unwritten"] for ring in final.rings.values()):
        found.append("the recorder left no summary: see recorder.log")
    return found


def how_it_ended(code: int | None) -> str:
    """Return in words how a process ended: its exit code, the signal that killed it, or None for what nobody saw."""
    if code is None:
        return "killed"
    with contextlib.suppress(ValueError):
        return f"killed by {signal.Signals(-code).name}" if code < 0 else f"exit {code}"
    return f"killed by signal {-code}"


def _record_reasons(final: Final, task: str, rows: int, record: dict[str, Any]) -> list[str]:
    cycles = count(final.signals[loop_signal(task, "cycle")])
    ring = final.rings.get(task, {})
    why = []
    if dropped := ring.get("dropped", 0):
        why.append(f"{dropped} dropped: the recorder was too slow")
    if unwritten := ring.get("unwritten", 0):
        reason = record.get("reason") or errno_in_words(ring["unwritten_errno"])
        why.append(f"{unwritten} not written: {reason}")
    # the newest cycle is in the table before it is in the ring; a kill may fall between
    if cycles - rows <= 1 and not why:
        return []
    told = f" ({'; '.join(why)})" if why else ""
    lost = max(cycles - rows, dropped + unwritten)
    return [
        f"{task}: the record has {rows} of {cycles} cycles: {lost} cycles are not in the record{told}"
    ]


def _causes(final: Final, task: str) -> str:
    return explain_overruns(overruns_by_cause(final.signals, task)) or "no cause known"


def _bus_reasons(rig: Rig, final: Final) -> list[str]:
    found, buses = [], find_buses(rig)
    for name, block in buses.items():
        lost = final.signals[paths(name, block)[1]["lost"]]
        task = next(task for task, config in rig.tasks.items() if name in config.blocks)
        share = 100.0 * lost / max(1.0, final.signals[f"loop/{task}/cycle"])
        limit = rig.verdict.max_lost_percent
        if share > limit:
            whose = f"{name}: " if len(buses) > 1 else ""
            found.append(
                f"{whose}{lost:.0f} frames lost, {share:.2f} %, limit verdict.max_lost_percent = {limit:g}"
            )
    return found


def _never_armed(
    rig: Rig, final: Final, seen: Supervision, blocks: Mapping[str, Sequence[str]]
) -> list[str]:
    if seen.armed_s > 0.0 or seen.interrupted:
        return []
    guards = find_guards(rig)
    if not guards:
        said = [
            words
            for bus in find_buses(rig).items()
            for words in explain_bus(*bus, lambda path: final.signals.get(path, 0.0))
        ]
        return [f"never ready: {'; '.join(said) or 'the loop made no cycle'}"]
    if any(final.signals[paths(*guard)[1]["trip"]] for guard in guards.items()):
        return []
    signals = {name: paths(name, guard)[1]["waits_for"] for name, guard in guards.items()}
    waits = {name: read_trip(final.signals[path]) for name, path in signals.items()}
    if all(trip == Trip.NO_TRIP for trip in waits.values()):
        return [f"{', '.join(guards)}: never ready to be armed; nothing says why"]
    return [
        written_over(signals[name], final.signals[signals[name]])
        if trip is None
        else _waited(rig, final, name, guards[name], trip, blocks)
        for name, trip in waits.items()
        if trip != Trip.NO_TRIP
    ]


def _waited(
    rig: Rig,
    final: Final,
    name: str,
    block: GuardBlock,
    trip: Trip,
    blocks: Mapping[str, Sequence[str]],
) -> str:
    reads = paths(name, block)[0]
    kind, remedy = TRIPS[trip], TRIPS[trip].remedy
    waits = trip.name.lower().replace("_", " ")
    said = []
    if trip == Trip.ACTUATOR_LOST and (bus := bus_of_guard(rig, name)) is not None:
        said = explain_bus(*bus, lambda path: final.signals.get(path, 0.0))
    task = task_of_fault(rig, reads.get(kind.port, ""))
    if trip in (Trip.OWN_FAULT, Trip.REQUEST_FAULT) and task:
        place = count(final.signals[loop_signal(task, "fault_block")])
        code = fault_code(final.signals[loop_signal(task, "fault")])
        words, todo = explain_fault(rig, task, place, code, blocks.get(task))
        said, remedy = ([words], todo or remedy) if code else ([], remedy)
    why = f" ({'; '.join(said)})" if said else ""
    where = f"{reads[kind.port]}: " if kind.port else ""
    return f"{name}: never ready to be armed; it waited for {waits}: {where}{kind.words}{why}" + (
        f"; {remedy}" if remedy else ""
    )


def lost_cycles(final: Final, task: str, rows: int) -> int:
    """Return how many cycles of a task are not in its record."""
    lost = count(final.signals[loop_signal(task, "cycle")]) - rows
    return lost if lost > 1 else 0

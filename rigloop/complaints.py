"""What makes a live run bad, as lines for the user."""

from __future__ import annotations

from typing import Any

from rig_configs.load import LoadedRig
from rig_configs.schema import Rig
from rigloop import order
from rigloop.compose import bus_of, guard_of, paths
from rigloop.ended import Ended, Final, Supervision, overruns_by_cause
from rt_core.cause import explain_overruns
from rt_core.plan import loop_signal
from rt_core.safety import Trip, explain_trip


def complaints(
    loaded: LoadedRig,
    ended: Ended,
    report: order.Report,
    records: dict[str, Any],
    seconds: float | None,
) -> list[str]:
    """Return everything that makes the run bad."""
    limits, seen, final = loaded.rig.verdict, ended.seen, ended.final
    found = []
    if report.error:
        found.append(report.error)
    if report.stall:
        found.append(report.stall)
    if report.unattended:
        found.append(f"{bus_of(loaded.rig)[0]}: {report.unattended}")
    for task, config in loaded.rig.tasks.items():
        trip = final.signals[loop_signal(task, "overrun_trip")]
        if trip:
            found.append(
                f"{loop_signal(task, 'overrun_level')}: overruns worth "
                f"{final.signals[loop_signal(task, 'overrun_level')]:.0f} points within "
                f"{config.overrun_window} cycles ({_causes(final, task)} in all), limit tasks.{task}.overrun_limit = "
                f"{config.overrun_limit}, at cycle {trip:.0f} ({config.overrun.upper()})"
            )
    found += _guard_complaints(loaded.rig, final, seen)
    if not report.at_rest:
        found.append(
            f"the output was not seen at rest at the end (cycle process: exit {ended.code})"
        )
    if seconds is not None and not seen.interrupted and seen.armed_s < seconds:
        found.append(f"ran {seen.armed_s:.1f} of {seconds:g} s")
    found += _bus_complaints(loaded.rig, final)
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
        lost_rows = lost_cycles(records.get(task, {}))
        if lost_rows:
            reason = records.get(task, {}).get("reason")
            why = f" ({reason})" if reason else ""
            found.append(f"{task}: {lost_rows} cycles are not in the record{why}")
    if not records:
        found.append("the recorder left no summary: see recorder.log")
    return found


def _causes(final: Final, task: str) -> str:
    return explain_overruns(overruns_by_cause(final.signals, task)) or "no cause known"


def _bus_complaints(rig: Rig, final: Final) -> list[str]:
    name, block = bus_of(rig)
    lost = final.signals[paths(name, block)[1]["lost"]]
    task = next(task for task, config in rig.tasks.items() if name in config.blocks)
    share = 100.0 * lost / max(1.0, final.signals[f"loop/{task}/cycle"])
    limit = rig.verdict.max_lost_percent
    if share <= limit:
        return []
    return [f"{lost:.0f} frames lost, {share:.2f} %, limit verdict.max_lost_percent = {limit:g}"]


def _guard_complaints(rig: Rig, final: Final, seen: Supervision) -> list[str]:
    name, block = guard_of(rig)
    reads, writes = paths(name, block)
    value = {port: final.signals[path] for port, path in writes.items()}
    if value["trip"]:
        return [
            explain_trip(
                value["trip"], value["trip_value"], value["trip_limit"], value["trip_cycle"], reads
            )
        ]
    if seen.armed_s == 0.0 and not seen.interrupted:
        waits_for = Trip(int(value["waits_for"]))
        return [
            f"{name}: never ready to be armed; it waited for {waits_for.name.lower().replace('_', ' ')}"
        ]
    return []


def lost_cycles(record: dict[str, Any]) -> int:
    return int(record.get("dropped", 0)) + int(record.get("unwritten", 0))

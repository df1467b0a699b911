"""The axes beside the one that a fault strikes: which of them end with it, by the rig's word and by its records.

A fault of the bus or of a task ends each guard that sees it; a trip of any of these takes along whom its `reach` names;
all others go on.
"""

from __future__ import annotations

import numpy as np

from io_bridge.emulator.segment_link import Order
from rigloop.blocks.axes import apart, drives_of, guards_of, reaching
from rigloop.inject.axis import position_of
from rigloop.inject.cable import AROUND
from rigloop.inject.evidence import Evidence, cable_moves, time_of
from rigloop.inject.kinds import InCycle, Reaction, ToProcess, ToWire
from rigloop.inject.limits import Limits, limits_of, sensor_cells
from rigloop.inject.request import Injection
from rt_core.injection.inject import Act
from rt_core.plan import loop_signal
from rt_core.safety.trips import State, Trip, read_trip

OF_TIME = (Act.BURN, Act.HANG, Act.MOVE, Act.STEAL, Act.HOLD_CORE)
"""Acts that any task on the same cores may feel."""
# cycles until a guard that is stepped earlier in its task, or in another one, sees a trip
TO_TELL = 1


def ended_with(injection: Injection) -> frozenset[str] | None:
    """Return the guards that a rig states to end beside that of the axis; None where a fault may touch any of them."""
    acts, lim, stated = injection.fault.acts, injection.lim, injection.stated
    others = set(guards_of(lim.rig)) - {lim.axis.guard}
    if isinstance(acts, ToProcess):
        ends = stated.reaction in (Reaction.RAMP, Reaction.SAFE, Reaction.DRIVE)
        return frozenset(others) if ends else frozenset()
    if isinstance(acts, InCycle) and acts.act in OF_TIME:
        return None
    if stated.reaction not in (Reaction.RAMP, Reaction.SAFE):
        return frozenset()
    struck = {lim.axis.guard} | _see_the_same(injection)
    reached = {name for name in others if struck & set(reaching(lim.rig, name))}
    return frozenset((struck | reached) - {lim.axis.guard})


def others_not_as_stated(
    number: int, began: int, found: int | None, injection: Injection, seen: Evidence
) -> list[str]:
    """Return what the other axes did that the rig does not state, of the n-th injection of a run, from 0."""
    ends = ended_with(injection)
    began_ns = time_of(began, seen)
    if ends is None or isinstance(injection.fault.acts, ToProcess) or began_ns is None:
        return []
    if injection.stated.reaction in (Reaction.RAMP, Reaction.SAFE) and found is None:
        return []  # it ended by a stop or by the watchdog, as all do
    rig, struck = injection.lim.rig, _see_the_same(injection)
    why = []
    for name in guards_of(rig):
        if name == injection.lim.axis.guard or name in _share_a_cell(injection) - ends:
            continue
        other = limits_of(rig, name)
        rows = seen.records[other.fast]
        first = int(np.searchsorted(rows["t_ns"], began_ns))
        trip = rows[other.writes["trip"]]
        if first > 0 and trip[first - 1]:
            continue  # it had ended before
        tripped = np.flatnonzero(trip[first:])
        if name not in ends:
            if len(tripped) and not _lost_its_own_line(
                first + int(tripped[0]), number, injection, other, seen
            ):
                why.append(f"{name} tripped too, which the fault does not reach")
        elif not len(tripped):
            why.append(f"{name} did not trip, which the fault reaches")
        else:
            row = began if found is None else found
            if name in struck:
                # a bus gives all its drives up, when it is out of patience
                row = max(row, began + other.bus.bad_limit)
            why += _in_time(other, rows, _row_of(row, injection, other, seen))
    return why


def _lost_its_own_line(
    row: int, number: int, injection: Injection, other: Limits, seen: Evidence
) -> bool:
    """Decide if an axis on a bus of its own has lost frames of that one, long after a cable of another was moved.

    A busy host loses frames of any virtual cable; those that the move itself costs are lost within `AROUND` cycles.
    """
    rows, lim = seen.records[other.fast], injection.lim
    lost = read_trip(rows[other.writes["trip"]][row]) == Trip.ACTUATOR_LOST
    if not isinstance(injection.fault.acts, ToWire) or other.axis.bus == lim.axis.bus or not lost:
        return False
    moves_ns = [at for at in cable_moves(number, seen) if at is not None]
    at_ns = int(rows["t_ns"][row]) + seen.report.first_cycle_ns
    longest_ns = (AROUND + other.bus.bad_limit) * other.period_s * 1e9
    return all(not 0 <= at_ns - move_ns <= longest_ns for move_ns in moves_ns)


def _see_the_same(injection: Injection) -> set[str]:
    """Return the guards that see a fault by themselves."""
    acts, lim = injection.fault.acts, injection.lim
    rig, bus = lim.rig, lim.axis.bus
    if isinstance(acts, InCycle) and acts.place in ("sensor", "estimate") and acts.act != Act.FAIL:
        return set()
    if isinstance(acts, InCycle) and acts.place in ("guide", "work"):
        return _of_task(lim, lim.slow)
    if isinstance(acts, InCycle) and acts.place == "estimate":
        return _of_task(lim, lim.fast)
    assert bus is not None
    fails = isinstance(acts, InCycle) and acts.order == Order.FAIL_DRIVE
    if fails and lim.axis.drive in apart(rig, bus):
        # a slave fails with all its axes
        return {
            name
            for name in guards_of(rig)
            for at, drive in drives_of(rig, name)
            if at == bus and position_of(lim.bus, drive) == lim.position
        }
    of_bus = {name for name in guards_of(rig) if bus in (b for b, _ in drives_of(rig, name))}
    return of_bus | _of_task(lim, lim.fast)


def _of_task(lim: Limits, task: str) -> set[str]:
    """Return the guards that read the fault of a task."""
    fault = loop_signal(task, "fault")
    return {
        name
        for name, guard in guards_of(lim.rig).items()
        if fault in (guard.reads["own_fault"], guard.reads["request_fault"])
    }


def _share_a_cell(injection: Injection) -> set[str]:
    """Return the guards whose own signals a fault writes over, too: they may end with it, or not."""
    acts, lim = injection.fault.acts, injection.lim
    if not isinstance(acts, InCycle) or not acts.cells:
        return set()
    have = sensor_cells(lim)
    cells = {have[cell] for cell in acts.cells}
    names = (limits_of(lim.rig, name) for name in guards_of(lim.rig))
    return {other.axis.guard for other in names if cells & set(sensor_cells(other).values())}


def _row_of(row: int, injection: Injection, other: Limits, seen: Evidence) -> int:
    """Return the row of another guard that can have seen a cycle of the axis at last."""
    rows, path = seen.records[other.fast], loop_signal(injection.lim.fast, "cycle")
    row_ns = time_of(row, seen) or 0
    if other.fast == injection.lim.fast or path not in (rows.dtype.names or ()):
        return int(np.searchsorted(rows["t_ns"], row_ns))
    cycles = seen.fast[path]
    return int(np.searchsorted(rows[path], cycles[min(row, len(cycles) - 1)]))


def _in_time(other: Limits, rows: np.ndarray, seen_from: int) -> list[str]:
    """Return by how much an axis was too late at zero."""
    bound = other.ramp + TO_TELL
    state, torque = (rows[other.writes[port]][seen_from:] for port in ("state", "torque_nm"))
    # what comes once it has ended is that of a run that was armed again
    ended = np.flatnonzero(state == State.FAULT)
    pushing = np.flatnonzero(torque[: int(ended[0]) if len(ended) else None] != 0)
    took = int(pushing[-1]) + 1 if len(pushing) else 0
    if took <= bound:
        return []
    return [f"{other.axis.guard} was at zero after {took} cycles, stated {bound}"]

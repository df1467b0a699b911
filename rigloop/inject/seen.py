"""The observations of one fault in what a run left: its detection, the reaction, the way of the torque to zero."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from rigloop.inject.evidence import Evidence
from rigloop.inject.kinds import STOP, WATCHDOG, Reaction
from rigloop.inject.limits import Limits
from rt_core.safety.trips import State, name_of_trip, read_trip

NO_TORQUE = "there was no torque before it"
LATER_CYCLES = 1
NO_PUSH = "the drive had no torque to take away"


@dataclass
class Seen:
    """The observations of one fault: rows of the record, its detection, the reaction."""

    found: int | None = None
    found_by: str = ""
    reaction: Reaction = Reaction.COUNT
    zero: int | None = None


def up_to(next_ns: int | None, seen: Evidence) -> Evidence:
    """Return the evidence up to a time."""
    if next_ns is None:
        return seen
    records = {
        task: rows[: int(np.searchsorted(rows["t_ns"], next_ns))]
        for task, rows in seen.records.items()
    }
    fast = seen.fast[: int(np.searchsorted(seen.fast["t_ns"], next_ns))]
    return replace(seen, fast=fast, records=records)


def armed_again(began: int, seen: Evidence, lim: Limits) -> int | None:
    """Return the row in which a rig that may do so armed again after a fault; what follows is none of its effect."""
    if lim.guard_block.rearm is None:
        return None
    state = seen.fast[lim.writes["state"]][began:]
    faulted = np.flatnonzero(state == State.FAULT)
    first = int(faulted[0]) if len(faulted) else len(state)
    runs = np.flatnonzero(state[first:] == State.RUNNING)
    return began + first + int(runs[0]) if len(runs) else None


def arming_of(number: int, seen: Evidence, lim: Limits) -> tuple[int, int] | None:
    """Return the first row of the n-th arming, and that in which `arm` is taken back, or one behind the last; None:
    the run did not come to it."""
    is_up = seen.fast[lim.guard_block.reads["arm"]] > 0.5
    begins = np.flatnonzero(is_up & ~np.concatenate(([False], is_up[:-1])))
    if len(begins) < number:
        return None
    first = int(begins[number - 1])
    down = np.flatnonzero(~is_up[first:])
    return first, first + int(down[0]) if len(down) else len(is_up)


def seen_from(began: int, wanted: Sequence[str], seen: Evidence, lim: Limits) -> Seen:
    """Return what the record shows from a row on."""
    writes, fast = lim.writes, seen.fast
    state, trip, torque = (fast[writes[port]] for port in ("state", "trip", "torque_nm"))
    what = Seen()
    pushing = np.flatnonzero(torque != 0)
    last = int(pushing[-1]) if len(pushing) else -1
    if last + 1 < len(torque):
        what.zero = max(last + 1, began)
    tripped = np.flatnonzero(trip[began:])
    stopping = np.flatnonzero(state[began:] == State.STOPPING)
    if seen.report.stall and WATCHDOG in wanted and (stood := _stands_still_in(began, seen, lim)):
        # the watchdog's time is since the deadline of the cycle that hangs, as it says itself; that in which the
        # machine kept it from its looks is no cycle of its own
        what.found_by, what.reaction = WATCHDOG, Reaction.SAFE
        own_ns = seen.report.stalled_ns - seen.report.stalled_kept_ns
        what.found = stood + lim.cycles(own_ns * 1e-9)
        at_rest = seen.report.at_rest and all(nm == 0.0 for nm in seen.report.drives_nm.values())
        what.zero = what.found if at_rest else None
    elif len(tripped):
        what.found = began + int(tripped[0])
        what.found_by = name_of_code(trip[what.found])
        what.reaction = Reaction.SAFE if state[what.found] == State.FAULT else Reaction.RAMP
    elif len(stopping) and (STOP in wanted or WATCHDOG in wanted):
        what.found = began + int(stopping[0])
        what.found_by, what.reaction = STOP, Reaction.RAMP
    elif wanted and "/" in wanted[0]:
        _counted(began, wanted[0], what, seen)
    elif len(held := np.flatnonzero(state[began:] == State.HOLD)):
        what.found, what.found_by, what.reaction = began + int(held[0]), "HOLD", Reaction.HOLD
    return what


def _stands_still_in(began: int, seen: Evidence, lim: Limits) -> int | None:
    """Return the row of the cycle that never came, or came when the watchdog had acted; None: cycles went on."""
    t_ns = seen.fast["t_ns"]
    stall_ns = lim.fast_task.stall_cycles * lim.fast_task.period_us * 1000
    if began + 1 >= len(t_ns):
        return max(began, len(t_ns))
    # a thread that takes the core may get it only after the next cycle
    near = np.diff(t_ns[began : began + 2 + LATER_CYCLES])
    stood = np.flatnonzero(near >= stall_ns)
    return began + 1 + int(stood[0]) if len(stood) else None


def _counted(began: int, signal: str, what: Seen, seen: Evidence) -> None:
    """Look for the first row after a fault in which a counter has moved."""
    record = seen.fast if signal in (seen.fast.dtype.names or ()) else seen.slow
    if began >= len(seen.fast) or not len(record):
        return
    row = int(np.searchsorted(record["t_ns"], seen.fast["t_ns"][began]))
    before = record[signal][max(0, row - 1)]
    moved = np.flatnonzero(record[signal][row:] > before)
    if len(moved):
        what.found_by = signal
        what.found = int(np.searchsorted(seen.fast["t_ns"], record["t_ns"][row + moved[0]]))


def seen_by_drive(
    began: int, what: Seen, number: int, seen: Evidence, lim: Limits, why: list[str]
) -> None:
    """Take the word of the emulated drive, which outlives its master."""
    drives = seen.drives
    if not drives or number not in seen.injected_ns:
        why.append("the drive left no word")
        return
    what.reaction, what.found_by = Reaction.DRIVE, "drive watchdog"
    if not drives["pushed"]:
        why.append(NO_PUSH)
    if "0x001b" not in drives["al_code"]:
        why.append(f"the drive says {drives['al_state']}, {drives['al_code']}: not its watchdog")
    if drives["zero_ns"] is not None:
        took_s = (drives["zero_ns"] - seen.injected_ns[number]) * 1e-9
        what.found = what.zero = began + lim.cycles(max(0.0, took_s))


def name_of_code(code: float) -> str:
    trip = read_trip(code)
    return name_of_trip(code) if trip is None else trip.name

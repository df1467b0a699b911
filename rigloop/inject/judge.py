"""Each fault judged by the run's own evidence: when it began, what found it, when the torque was zero; as stated?

It reads what the run left (records, `cycle.json`, `recorder.json`, `injected.json`, the `witness` of each bus), so
that it can be asked again by anyone, and also after the supervisor was killed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from rigloop.inject.agent import FILL_DISK
from rigloop.inject.cable import back_in_op, ring_held
from rigloop.inject.evidence import Evidence, NoEvidenceError, began_in, gather, time_of
from rigloop.inject.kinds import (
    InCycle,
    Reaction,
    ToProcess,
    ToWire,
)
from rigloop.inject.limits import Limits
from rigloop.inject.others import others_not_as_stated
from rigloop.inject.rate import rate_held
from rigloop.inject.request import Injection
from rigloop.inject.seen import (
    NO_TORQUE,
    Seen,
    armed_again,
    arming_of,
    name_of_code,
    seen_by_drive,
    seen_from,
    up_to,
)
from rigloop.run_folder.manifest import ENDED_BEFORE, NOT_ARMED, OVER_BEFORE, Injected
from rt_core.plan import loop_signal
from rt_core.safety.trips import State

PUSHES_NM = 0.02  # less torque than this before a fault, and its way to zero would show nothing
BEFORE_S = 0.1
EARLIER_S = 0.005  # a cycle that is late may show a fault in the row before its own
AFTER_CYCLES = 50  # that a run must go on for after a fault that only counts


def judge(
    folder: Path, injections: Sequence[Injection], final: Mapping[str, float] | None
) -> list[Injected]:
    """Return what became of each fault of a run."""
    try:
        evidence = gather(folder, injections, final)
        numbered = list(enumerate(zip(injections, evidence, strict=True)))
        began = [began_in(number, *both) for number, both in numbered]
        return [
            _judge(number, began[number], _next_ns(number, began, evidence), *both)
            for number, both in numbered
        ]
    except NoEvidenceError as error:
        why = f"its outcome is unknown: {error}"
    except (LookupError, ValueError, TypeError) as error:
        # of a folder that somebody has changed: values that no run leaves
        why = f"its outcome is unknown: the evidence cannot be read: {error}"
    return [_not_tried(injection, why) for injection in injections]


def _next_ns(number: int, began: Sequence[int | None], evidence: Sequence[Evidence]) -> int | None:
    """Return the time at which the next fault of a run begins: what comes after it is that one's."""
    times = [time_of(row, seen) for row, seen in zip(began, evidence, strict=True)]
    own_ns = times[number]
    if own_ns is None:
        return None
    return min((t_ns for t_ns in times if t_ns is not None and t_ns > own_ns), default=None)


def judge_words(
    injected: Sequence[Injected], injections: Sequence[Injection], said: Sequence[str]
) -> list[Injected]:
    """Return what became of faults, those included of which the verdict of the run alone can tell.

    Parameters
    ----------
    said : sequence of str
        Lines of that verdict.
    """
    found = []
    for what, injection in zip(injected, injections, strict=True):
        words = injection.fault.named
        waited = bool(words) and what.began is not None
        missing = waited and not any(words in line for line in said)
        why = (*what.why, f"no line of the verdict says {words!r}") if missing else what.why
        found.append(msgspec.structs.replace(what, good=what.good and not missing, why=why))
    return found


def _not_tried(injection: Injection, *why: str) -> Injected:
    stated = injection.stated
    return Injected(
        asked=injection.words,
        guard=injection.lim.axis.guard,
        does=injection.fault.does,
        reaction="",
        stated=stated.reaction.value,
        began=None,
        found=None,
        found_by="",
        to_find=None,
        to_find_bound=stated.detect,
        zero=None,
        to_zero=None,
        to_zero_bound=stated.zero,
        good=False,
        why=why,
    )


def _judge(
    number: int, began: int | None, next_ns: int | None, injection: Injection, seen: Evidence
) -> Injected:
    stated, lim = injection.stated, injection.lim
    cycle = seen.fast[loop_signal(lim.fast, "cycle")]
    why: list[str] = []
    what = Seen()
    back_s = None
    if injection.arming:
        began, seen = _within_its_arming(began, injection, seen)
    if began is None:
        why.append("it did not begin before the run ended")
    else:
        seen = up_to(next_ns, seen)
        again = armed_again(began, seen, lim)
        whole, seen = seen, up_to(None if again is None else time_of(again, seen), seen)
        what = seen_from(began, stated.found_by, seen, lim)
        if stated.reaction == Reaction.DRIVE:
            seen_by_drive(began, what, number, seen, lim, why)
        if isinstance(injection.fault.acts, ToWire):
            if stated.back_s is None:
                ring_held(number, began, seen, lim, why)
            else:
                back_s = back_in_op(number, stated.back_s, whole, lim, why)
        _compare(began, what, injection, seen, why)
        if not why:
            why += others_not_as_stated(number, began, what.found, injection, seen)

    def at(row: int | None) -> int | None:
        if row is None:
            return None
        # a row behind the record's end is a cycle that is not in it
        return int(cycle[row]) if row < len(cycle) else int(cycle[-1]) + 1 + row - len(cycle)

    first, found, zero = at(began), at(what.found), at(what.zero)
    to_find = None if found is None or first is None else found - first
    to_zero = None if zero is None or first is None else zero - first
    if began is not None:
        if to_find is not None and to_find > stated.detect:
            why.append(f"found after {to_find} cycles, stated {stated.detect}")
        if stated.zero is not None and to_zero is None:
            why.append("the torque was not seen to be zero")
        elif stated.zero is not None and to_zero is not None and to_zero > stated.zero:
            why.append(f"zero after {to_zero} cycles, stated {stated.zero}")
    return Injected(
        asked=injection.words,
        guard=lim.axis.guard,
        does=injection.fault.does,
        reaction=what.reaction.value,
        stated=stated.reaction.value,
        began=first,
        found=found,
        found_by=what.found_by,
        to_find=to_find,
        to_find_bound=stated.detect,
        zero=zero,
        to_zero=to_zero,
        to_zero_bound=stated.zero,
        good=not why,
        why=tuple(why),
        back_s=back_s,
        back_bound_s=stated.back_s,
    )


def _within_its_arming(
    began: int | None, injection: Injection, seen: Evidence
) -> tuple[int | None, Evidence]:
    """Return the row in which a fault of a series began, if that is one of its own arming, and the evidence up to its
    end: what follows is none of its effect."""
    rows = arming_of(injection.arming, seen, injection.lim)
    if began is None or rows is None or not rows[0] <= began < rows[1]:
        return None, seen
    return began, up_to(time_of(rows[1], seen), seen)


def _compare(began: int, what: Seen, injection: Injection, seen: Evidence, why: list[str]) -> None:
    """Add what is not as the rig states, except times."""
    stated, lim = injection.stated, injection.lim
    writes, fast = lim.writes, seen.fast
    state, trip, torque = (fast[writes[port]] for port in ("state", "trip", "torque_nm"))
    n_before = lim.cycles(BEFORE_S)
    if not np.any(np.abs(torque[max(0, began - n_before) : began]) > PUSHES_NM):
        why.append(NO_TORQUE)
    if began > 0 and trip[began - 1]:
        why.append(f"{ENDED_BEFORE}: {name_of_code(trip[began - 1])}")
    elif state[max(0, min(began, len(state)) - 1 - lim.cycles(EARLIER_S))] == State.STOPPING:
        why.append(OVER_BEFORE)
    elif began > 0 and state[began - 1] in (State.INIT, State.READY):
        why.append(NOT_ARMED)
    if not np.all(np.isfinite(torque)) or np.any(np.abs(torque) > lim.guard.limit_nm):
        why.append("a torque beyond the limit left the guard")
    slope = lim.guard.rate_nm_s * lim.period_s * (1 + 1e-9)
    steep = np.flatnonzero(np.abs(np.diff(torque)) > slope) + 1
    if any(state[row] != State.FAULT for row in steep):
        why.append("the torque changed faster than its limit")
    if stated.rate_within is not None:
        rate_held(began, stated.rate_within, seen, lim, why)
    if what.reaction != stated.reaction:
        why.append(f"{what.reaction.value}, stated {stated.reaction.value}")
    if stated.reaction in (Reaction.RAMP, Reaction.SAFE):
        if what.found_by not in stated.found_by:
            why.append(
                f"found by {what.found_by or 'nothing'}, stated {' or '.join(stated.found_by)}"
            )
        if not seen.report.at_rest:
            why.append("the cycle process did not see the output at rest")
    elif stated.reaction in (Reaction.COUNT, Reaction.HOLD):
        _goes_on(began, what, injection, seen, why)


def _goes_on(began: int, what: Seen, injection: Injection, seen: Evidence, why: list[str]) -> None:
    """Add what keeps a run from having gone on after a fault."""
    stated, acts, lim = injection.stated, injection.fault.acts, injection.lim
    writes = lim.writes
    cycle_path = loop_signal(lim.fast, "cycle")
    state, cycle = seen.fast[writes["state"]], seen.fast[cycle_path]
    if stated.found_by and not what.found_by:
        why.append(f"{stated.found_by[0]} did not count it")
    whom = acts.whom if isinstance(acts, ToProcess) else ""
    if whom == "recorder":
        final = seen.final or {}
        if final.get(writes["trip"], 1.0):
            why.append("the guard tripped, or the supervisor left no word")
        first = int(cycle[min(began, len(cycle) - 1)])
        if final.get(cycle_path, 0.0) < first + AFTER_CYCLES:
            why.append("the loop did not continue")
        _recorded(acts, seen, lim, why)
        return
    running = np.flatnonzero(state[began:] == State.RUNNING)
    if not len(running) or running[-1] < AFTER_CYCLES:
        why.append("the guard did not run on")
    if isinstance(acts, InCycle) and stated.reaction == Reaction.HOLD:
        after = np.flatnonzero(state[what.found or began :] != State.HOLD)
        if not len(after) or after[0] > lim.held(lim.guard.sensor_hold_ms) + acts.cycles:
            why.append("held for longer than the guard allows")
    if np.any(np.diff(cycle) != 1):
        why.append("the record has gaps")


def _recorded(acts: Any, seen: Evidence, lim: Limits, why: list[str]) -> None:
    """Compare what the recorder says of itself with what the loop has stepped."""
    if acts.do == "SIGKILL":
        return
    for task in (lim.fast, lim.slow):
        told = seen.recorder.get(task)
        made = (seen.final or {}).get(loop_signal(task, "cycle"), -1.0)
        if told is None or told["rows"] + told["unwritten"] + told["dropped"] != made:
            why.append(f"{task}: rows, unwritten and dropped are not the {made:.0f} cycles stepped")
    unwritten = sum(told["unwritten"] for told in seen.recorder.values())
    if acts.do == FILL_DISK and not (
        unwritten and any(told["first_unwritten_ns"] for told in seen.recorder.values())
    ):
        why.append("the recorder reported no gap")
    if acts.do == "SIGSTOP" and any(told["dropped"] for told in seen.recorder.values()):
        why.append("cycles were dropped though the rings hold two seconds")

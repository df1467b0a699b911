"""Reaction times measured by injection: live runs on emulated segments, each judged as `rigloop run --inject` is."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from rig_configs.load import LoadedRig
from rigloop.bench.fault_trials import Tried, attempt, sweep, warm_up
from rigloop.inject.judge import judge
from rigloop.inject.kinds import ON_VETH, WATCHDOG
from rigloop.inject.limits import limits_of
from rigloop.inject.request import again
from rigloop.inject.seen import NO_PUSH, NO_TORQUE
from rigloop.run_folder import messages
from rigloop.run_folder.last_state import record_of
from rigloop.run_folder.manifest import Injected
from rigloop.run_folder.not_started import NotStartedError
from rigloop.safety.answers import Answer
from rigloop.safety.chosen import is_measurable
from rigloop.safety.early_rig import early_rig, times_of
from rigloop.safety.experiments import Experiment, experiments
from rt_core.plan import loop_signal

TRIES = 4  # of a fault that a run did not come to: the host had ended it before
TRIES_ON_VETH = 10  # a frame on a virtual cable waits for more of the host
TOLD = 20  # lines of progress
MOST_WHY = 3


@dataclass
class Measured:
    """The outcome of one fault at one axis over all repeats; cycles are those of the axis.

    Attributes
    ----------
    repeats : int
    worst_to_find, worst_to_zero : int or None
        None: nothing was seen.
    worst_ms : float
        The longest time on the clock from the fault to zero torque, or to the first held output; with whatever a host
        took away in between.
    not_as_stated : list of str
        A sentence for each repeat that was too late, or otherwise not as the rig states.
    spoilt : int
        Runs that ended before their fault, or had no torque that it could take away; tried again.
    """

    repeats: int = 0
    worst_to_find: int | None = None
    worst_to_zero: int | None = None
    not_as_stated: list[str] = field(default_factory=list)
    spoilt: int = 0
    worst_ms: float = 0.0

    def add(self, injected: Injected, ms: float) -> None:
        """Count one repeat, and the time that it took on the clock."""
        self.repeats += 1
        self.worst_ms = max(self.worst_ms, ms)
        for name, seen in (
            ("worst_to_find", injected.to_find),
            ("worst_to_zero", injected.to_zero),
        ):
            if seen is not None:
                setattr(self, name, max(getattr(self, name) or 0, seen))
        if not injected.good:
            self.not_as_stated.append("; ".join(injected.why[:MOST_WHY]))


Outcome = dict[tuple[str, str], Measured]
"""By guard and fault."""


def measure(
    loaded: LoadedRig,
    answers: Sequence[Answer],
    repeats: int,
    runs: Path,
    say: Callable[[str], None],
) -> Outcome:
    """Inject each fault again and again, and return the worst that each axis did.

    Each answer with a reaction that a run can show has its row, also one that this machine cannot try.

    Parameters
    ----------
    runs : Path
        Gets a folder for each run; those as stated are taken away.
    say : callable
        Gets lines of progress.

    Raises
    ------
    NotStartedError
        Without the right to real-time priorities bounds in cycles mean nothing.
    """
    early = early_rig(loaded, "simulated")
    on_veth = early_rig(loaded, "veth")
    todo = experiments(answers, times_of(early.rig), repeats)
    runs.mkdir(parents=True, exist_ok=True)
    warm_up(early)
    found: Outcome = {
        (answer.guard, answer.fault.name): Measured() for answer in answers if is_measurable(answer)
    }
    say(f"each fault {repeats} times, in {len(todo)} run{'s' * (len(todo) != 1)}")
    hopeless: set[tuple[str, str]] = set()
    late = told = 0
    for number, experiment in enumerate(todo, 1):
        rig = on_veth if experiment.trial.needs in ON_VETH else early
        if hopeless.isdisjoint(experiment.rows):
            late += _shown(rig, experiment, runs, found)
            if rig is on_veth and not any(found[key].repeats for key in experiment.rows):
                hopeless |= {*experiment.rows}  # this machine does not carry these frames in time
        if number * TOLD // len(todo) > told or number == len(todo):
            told = number * TOLD // len(todo)
            words = f", {late} reactions not as stated" if late else ""
            say(f"run {number} of {len(todo)}{words}")
    return found


def _shown(loaded: LoadedRig, experiment: Experiment, runs: Path, found: Outcome) -> int:
    """Count what a run shows, and those after it which try again what it did not; return how many answers were not as
    stated."""
    late = 0
    left = experiment
    tries = TRIES_ON_VETH if experiment.trial.needs in ON_VETH else TRIES
    while tries:
        tried = attempt(loaded, left.trial, runs)
        _refuse_without_rights(tried.folder)
        spoilt, bad = [], 0
        for answer, number, injected in _seen_by_all(left, tried, loaded):
            row = found[answer.guard, answer.fault.name]
            if is_spoilt(injected):
                row.spoilt += 1
                spoilt.append(number)
            else:
                row.add(injected, clock_ms(answer, injected, tried.folder))
                bad += not injected.good
        if tried.left:
            bad += 1
            row.not_as_stated.append(f"left behind: {'; '.join(tried.left)[:120]}")
        late += bad
        if not bad:
            sweep(tried.folder)
        if not spoilt:
            break
        again = sorted(set(spoilt))
        # a fault that its series did not come to is tried as long as each run shows another one
        tries -= len(again) == len(left.shows)
        left = left.only(again)
    return late


def _seen_by_all(
    experiment: Experiment, tried: Tried, loaded: LoadedRig
) -> Iterator[tuple[Answer, int, Injected]]:
    """Yield each answer that a run shows, the number of its injection, and what became of that."""
    asked = again(experiment.trial.asked, loaded.rig, series=bool(experiment.trial.series))
    final = tried.folder / "final.json"
    signals = json.loads(final.read_bytes()) if final.exists() else None
    for place in range(max(map(len, experiment.shows))):
        # the axes beside the one that is struck see the same injection with limits of their own
        shown = {n: group[place] for n, group in enumerate(experiment.shows) if place < len(group)}
        judged = [injected for _, injected in tried.faults]
        if place:
            seen_by = [
                replace(injection, lim=limits_of(loaded.rig, shown[n].guard))
                if n in shown
                else injection
                for n, injection in enumerate(asked)
            ]
            judged = judge(tried.folder, seen_by, signals)
        for number, answer in shown.items():
            yield answer, number, judged[number]


def is_spoilt(injected: Injected) -> bool:
    """Decide if a run showed nothing of a fault: something else had ended it, or there was no torque to take away.

    A reaction that was late, or not the stated one, is never dropped; but where the guard and the drive both say that
    there was no torque, a drive that was not ended by its watchdog has shown nothing.
    """
    why = set(injected.why)
    return not injected.good and (
        not injected.tried or why == {NO_TORQUE} or {NO_TORQUE, NO_PUSH} <= why
    )


def clock_ms(answer: Answer, injected: Injected, folder: Path) -> float:
    """Return the time on the clock from a fault to the end of the torque, or to its first held output.

    A watchdog counts by the clock itself. A cycle that is not in the record, as of a run that was killed, counts as a
    period.
    """
    began, end = injected.began, injected.zero if answer.ends else injected.found
    if began is None or end is None:
        return 0.0
    if injected.found_by.endswith(WATCHDOG):
        return (end - began) * answer.lim.period_s * 1e3
    record = record_of(folder / f"{answer.lim.fast}.npy")
    cycles = record[loop_signal(answer.lim.fast, "cycle")]
    first, last = (min(int(np.searchsorted(cycles, at)), len(cycles) - 1) for at in (began, end))
    beyond = max(0, end - int(cycles[last])) - max(0, began - int(cycles[first]))
    ns = float(record["t_ns"][last] - record["t_ns"][first])
    return ns * 1e-6 + beyond * answer.lim.period_s * 1e3


def _refuse_without_rights(folder: Path) -> None:
    report = messages.read_report(folder)
    if report is not None and not report.real_time and report.first_cycle_ns:
        raise NotStartedError(
            "this process may not have real-time priorities, and without them bounds in cycles mean nothing: "
            "`rigloop doctor` says how to get them; `--no-measure` states the times alone"
        )

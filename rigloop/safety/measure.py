"""Reaction times measured by injection: live runs on emulated segments, each judged as `rigloop run --inject` is."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from rig_configs.load import LoadedRig
from rigloop.bench.fault_trials import APART_S, Trial, attempt, sweep, warm_up
from rigloop.inject.judge import judge
from rigloop.inject.kinds import ON_VETH, WATCHDOG, InCycle, Needs
from rigloop.inject.limits import limits_of
from rigloop.inject.request import MOST, again
from rigloop.run_folder import messages
from rigloop.run_folder.last_state import record_of
from rigloop.run_folder.manifest import Injected
from rigloop.run_folder.not_started import NotStartedError
from rigloop.safety.answers import Answer
from rigloop.safety.chosen import is_measurable, is_measured
from rigloop.safety.early_rig import early_rig, pushes_at_s
from rt_core.plan import loop_signal

TRIES = 4  # of a fault that a run did not come to: the host had ended it before
ON_VETH_AT_S = 1.0  # on a virtual cable an emulated drive takes longer to push
LASTS_S = 2.5  # for which a run may go on after a fault that should end it
NO_TORQUE = "there was no torque before it"
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


@dataclass(frozen=True)
class Experiment:
    """One live run, and the answers that it shows: for each injection those of the axes that see it."""

    trial: Trial
    shows: tuple[tuple[Answer, ...], ...]

    @property
    def rows(self) -> list[tuple[str, str]]:
        """Return guard and fault of each answer."""
        return [(answer.guard, answer.fault.name) for group in self.shows for answer in group]


def experiments(answers: Sequence[Answer], at_s: float) -> list[Experiment]:
    """Return the runs that show these answers: those that end the torque alone, others side by side."""
    measured = [answer for answer in answers if is_measured(answer)]
    ends: dict[tuple[str, ...], list[Answer]] = {}
    beside: dict[str, list[Answer]] = {}
    for answer in measured:
        if answer.ends:
            ends.setdefault((answer.fault.name, *answer.scope), []).append(answer)
        else:
            beside.setdefault(answer.guard, []).append(answer)
    found = [_ending(group, at_s) for group in ends.values()]
    for group in beside.values():
        # what lasts to the end of the run comes last
        group.sort(key=_lasts)
        found += [_side_by_side(group[i : i + MOST], at_s) for i in range(0, len(group), MOST)]
    return found


def _lasts(answer: Answer) -> bool:
    return isinstance(answer.fault.acts, InCycle) and answer.fault.acts.cycles == 0


def _ending(group: Sequence[Answer], at_s: float) -> Experiment:
    first = group[0]
    if first.fault.needs in ON_VETH:
        at_s = max(at_s, ON_VETH_AT_S)
    stated_s = (first.ms(first.stated.zero) or 0.0) * 1e-3
    seconds = at_s + stated_s + LASTS_S + first.fault.lasts_s
    trial = Trial((f"{first.name}@{at_s:g}",), seconds, first.fault.needs)
    return Experiment(trial, (tuple(group),))


def _side_by_side(group: Sequence[Answer], at_s: float) -> Experiment:
    asked = tuple(f"{answer.name}@{at_s + APART_S * i:.2f}" for i, answer in enumerate(group))
    seconds = at_s + APART_S * (len(group) + 1)
    needs: Needs = next((answer.fault.needs for answer in group if answer.fault.needs), "")
    return Experiment(Trial(asked, seconds, needs), tuple((answer,) for answer in group))


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
    todo = experiments(answers, pushes_at_s(early.rig))
    runs.mkdir(parents=True, exist_ok=True)
    warm_up(early)
    found: Outcome = {
        (answer.guard, answer.fault.name): Measured() for answer in answers if is_measurable(answer)
    }
    say(f"{len(todo)} runs a repeat, {repeats} repeats")
    for repeat in range(1, repeats + 1):
        late = 0
        for experiment in list(todo):
            rig = on_veth if experiment.trial.needs in ON_VETH else early
            late += _repeat(rig, experiment, runs, found)
            if rig is on_veth and not any(found[key].repeats for key in experiment.rows):
                todo.remove(experiment)  # this machine does not carry these frames in time
        words = f", {late} not as stated" if late else ""
        say(f"repeat {repeat} of {repeats}: {len(todo)} runs{words}")
    return found


def _repeat(loaded: LoadedRig, experiment: Experiment, runs: Path, found: Outcome) -> int:
    """Count a repeat of a run; return how many answers were not as stated."""
    late = 0
    left = experiment
    for _ in range(TRIES):
        tried = attempt(loaded, left.trial, runs)
        _refuse_without_rights(tried.folder)
        spoilt, bad = [], 0
        for number, answers in enumerate(left.shows):
            for answer in answers:
                _, injected = tried.faults[number]
                if answer is not answers[0]:
                    injected = _seen_by(answer, number, loaded, left.trial, tried.folder)
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
        left = _only(left, sorted(set(spoilt)))
    return late


def is_spoilt(injected: Injected) -> bool:
    """Decide if a run showed nothing of a fault: something else had ended it, or there was no torque to take away.

    A reaction that was late, or not the stated one, is never dropped.
    """
    return not injected.good and (not injected.tried or set(injected.why) == {NO_TORQUE})


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


def _only(experiment: Experiment, numbers: Sequence[int]) -> Experiment:
    trial = replace(experiment.trial, asked=tuple(experiment.trial.asked[i] for i in numbers))
    return Experiment(trial, tuple(experiment.shows[i] for i in numbers))


def _seen_by(
    answer: Answer, number: int, loaded: LoadedRig, trial: Trial, folder: Path
) -> Injected:
    """Return what another axis made of a fault that all of them see."""
    asked = again(trial.asked, loaded.rig)
    asked[number] = replace(asked[number], lim=limits_of(loaded.rig, answer.guard))
    final = folder / "final.json"
    signals = json.loads(final.read_bytes()) if final.exists() else None
    return judge(folder, asked, signals)[number]


def _refuse_without_rights(folder: Path) -> None:
    report = messages.read_report(folder)
    if report is not None and not report.real_time and report.first_cycle_ns:
        raise NotStartedError(
            "this process may not have real-time priorities, and without them bounds in cycles mean nothing: "
            "`rigloop doctor` says how to get them; `--no-measure` states the times alone"
        )

"""The runs that show the answers of a rig: many injections a run where the rig is armed again after each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rigloop.bench.fault_trials import Trial
from rigloop.inject.judge import AFTER_CYCLES
from rigloop.inject.kinds import InCycle
from rigloop.inject.request import MOST
from rigloop.live.series import WITHIN_S
from rigloop.safety.answers import Answer
from rigloop.safety.chosen import in_series, is_measured
from rigloop.safety.early_rig import Times

LASTS_S = 2.5  # for which a run may go on after a fault that should end it
WATCHED_S = 0.15  # the same of an arming, beyond the stated time


@dataclass(frozen=True)
class Experiment:
    """One live run, and the answers that it shows: for each injection those of the axes that see it."""

    trial: Trial
    shows: tuple[tuple[Answer, ...], ...]
    times: Times

    @property
    def rows(self) -> list[tuple[str, str]]:
        """Return guard and fault of each answer."""
        return [(answer.guard, answer.fault.name) for group in self.shows for answer in group]

    def only(self, numbers: Sequence[int]) -> Experiment:
        """Return the run that shows some of its injections."""
        make = _series if self.trial.series else _alone
        return make([self.shows[number] for number in numbers], self.times)


def experiments(answers: Sequence[Answer], times: Times, repeats: int) -> list[Experiment]:
    """Return the runs that show these answers so often: in series, and those that end a process one by one."""
    seen: dict[tuple[str, ...], list[Answer]] = {}
    for answer in filter(is_measured, answers):
        seen.setdefault((answer.fault.name, *answer.scope), []).append(answer)
    groups = [tuple(group) for group in seen.values()]
    together = [group for group in groups if in_series(group[0])] * repeats
    found = [_series(together[i : i + MOST], times) for i in range(0, len(together), MOST)]
    alone = [_alone([group], times) for group in groups if not in_series(group[0])]
    return found + alone * repeats


def _series(groups: Sequence[tuple[Answer, ...]], times: Times) -> Experiment:
    at_s = [times.first_s, *[times.later_s] * (len(groups) - 1)]
    asked = tuple(f"{group[0].name}@{t:g}" for group, t in zip(groups, at_s, strict=True))
    lasts_s = tuple(
        t + _stated_s(group[0]) + WATCHED_S for group, t in zip(groups, at_s, strict=True)
    )
    seconds = sum(lasts_s) + WITHIN_S * len(groups)
    return Experiment(Trial(asked, seconds, series=lasts_s), tuple(groups), times)


def _alone(groups: Sequence[tuple[Answer, ...]], times: Times) -> Experiment:
    (group,) = groups
    first = group[0]
    at_s = times.first_s
    seconds = at_s + _stated_s(first) + LASTS_S + first.fault.lasts_s
    trial = Trial((f"{first.name}@{at_s:g}",), seconds, first.fault.needs)
    return Experiment(trial, (group,), times)


def _stated_s(answer: Answer) -> float:
    """Return the time within which all that a rig states of a fault has been seen."""
    cycles = answer.stated.zero
    if cycles is None:
        acts = answer.fault.acts
        lasts = acts.cycles if isinstance(acts, InCycle) else 0
        cycles = answer.stated.detect + lasts + AFTER_CYCLES
    return (answer.ms(cycles) or 0.0) * 1e-3

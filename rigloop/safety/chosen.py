"""The faults that are measured: those with a reaction that a run can show, and those that are asked for."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from io_bridge.host.namespace import why_not
from rig_configs.mistakes import ConfigError, Mistake, near
from rigloop.inject.faults import FAULTS
from rigloop.inject.kinds import ON_VETH, STOP, WATCHDOG, InCycle, Reaction
from rigloop.safety.answers import Answer
from rt_core.injection.inject import Act

no_veth = cache(why_not)


def is_measurable(answer: Answer) -> bool:
    """Decide if an answer has a reaction that a run can show: the torque ends, or is held."""
    held = answer.stated.reaction == Reaction.HOLD and not answer.shows_late
    return not answer.cannot and (answer.ends or held)


def is_measured(answer: Answer) -> bool:
    """Decide if a run can show the reaction on this machine."""
    return is_measurable(answer) and not (answer.fault.needs in ON_VETH and no_veth() is not None)


def in_series(answer: Answer) -> bool:
    """Decide if a rig is armed again after a fault: one in the cycle that its arming ends, and no thread or process."""
    acts = answer.fault.acts
    stays = isinstance(acts, InCycle) and acts.act not in (Act.HANG, Act.MOVE)
    return stays and not {WATCHDOG, STOP} & {*answer.stated.found_by}


def known_faults(names: Sequence[str] | None) -> frozenset[str]:
    """Return the faults of these names; without any, all that there are.

    Raises
    ------
    ConfigError
        With every name that is no fault.
    """
    if not names:
        return frozenset(FAULTS)
    if wrong := [name for name in names if name not in FAULTS]:
        raise ConfigError(
            [
                Mistake("command line", "--only", "no such fault", near(name, FAULTS), name)
                for name in wrong
            ]
        )
    return frozenset(names)


def chosen(names: Sequence[str] | None, answers: Sequence[Answer]) -> list[Answer]:
    """Return the answers to the faults of these names; without any, all that there are.

    Raises
    ------
    ConfigError
        With every name that is no fault, or whose reaction no run of this rig can show.
    """
    known = known_faults(names)
    may = list(dict.fromkeys(answer.fault.name for answer in answers if is_measurable(answer)))
    if wrong := [name for name in names or () if name not in may]:
        remedy = f"give one of: {', '.join(may)}"
        problem = "this rig has no reaction to it that is measured: the torque neither ends nor is held at once"
        raise ConfigError(
            [Mistake("command line", "--only", problem, remedy, name) for name in wrong]
        )
    return [answer for answer in answers if answer.fault.name in known]

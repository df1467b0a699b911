"""A rig checked beyond its file, for the command and for programs: observers, haptic loop, times, magnitudes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rig_configs.load import LoadedRig
from rig_configs.mistakes import ConfigError
from rigloop.blocks.observing import ObservingBlock
from rigloop.compose.blocks import backends_of
from rigloop.compose.kernels import build_kernels
from rigloop.compose.magnitudes import magnitudes
from rigloop.compose.schedule import TaskTiming, examine_schedule
from rigloop.compose.unsaid_times import unsaid_times
from rigloop.haptic.check import HandsMargin, examine_loop
from rigloop.host.neighbours import shared_by_tasks
from rigloop.sign_off.words import signed_notes
from rigloop.signals.notes import signal_notes


@dataclass(frozen=True)
class Checked:
    """A rig without mistakes: notes for a person, the margins of its haptic loop, the times of its tasks."""

    notes: tuple[str, ...]
    margins: tuple[HandsMargin, ...]
    timings: tuple[TaskTiming, ...]


def check_rig(loaded: LoadedRig, tell: Callable[[str], None] = lambda stage: None) -> Checked:
    """Check that observers can tell what they estimate, that the wheel would not sing and that every cycle ends in time
    on this machine. Starts nothing.

    Raises
    ------
    ConfigError
        With every mistake.
    """
    observers = build_kernels(loaded, only=ObservingBlock)
    haptic = examine_loop(loaded, lambda stage: tell(f"kernel: {stage}"))
    tell("times of its blocks")
    schedule = examine_schedule(loaded, observers)
    mistakes = [*haptic.mistakes, *schedule.mistakes]
    mistakes += unsaid_times(loaded, backends_of(loaded.rig))
    if mistakes:
        raise ConfigError(mistakes)
    notes = [*shared_by_tasks(loaded.rig), *magnitudes(loaded), *haptic.notes, *schedule.notes]
    notes += [*signal_notes(loaded.rig), *signed_notes(loaded)]
    return Checked(tuple(notes), haptic.margins, schedule.timings)

"""A rig checked beyond its file, for the command and for programs: observers, the haptic loop, magnitudes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rig_configs.load import LoadedRig
from rig_configs.mistakes import ConfigError
from rigloop.blocks.observing import ObservingBlock
from rigloop.compose.blocks import backends_of
from rigloop.compose.kernels import build_kernels
from rigloop.compose.magnitudes import magnitudes
from rigloop.compose.unsaid_times import unsaid_times
from rigloop.haptic.check import HandsMargin, examine_loop
from rigloop.host.neighbours import shared_by_tasks
from rigloop.signals.notes import signal_notes


@dataclass(frozen=True)
class Checked:
    """A rig without mistakes: notes for a person, and the margins of its haptic loop."""

    notes: tuple[str, ...]
    margins: tuple[HandsMargin, ...]


def check_rig(loaded: LoadedRig, tell: Callable[[str], None] = lambda stage: None) -> Checked:
    """Check that observers can tell what they estimate and that the wheel would not sing. Starts nothing.

    Raises
    ------
    ConfigError
        With every mistake.
    """
    build_kernels(loaded, only=ObservingBlock)
    haptic = examine_loop(loaded, tell)
    mistakes = [*haptic.mistakes, *unsaid_times(loaded, backends_of(loaded.rig))]
    if mistakes:
        raise ConfigError(mistakes)
    notes = [*shared_by_tasks(loaded.rig), *magnitudes(loaded), *haptic.notes]
    return Checked((*notes, *signal_notes(loaded.rig)), haptic.margins)

"""A walk through an emulated drive: the rig as it is stated, and the drive as it is."""

from dataclasses import replace

from rich.console import Console

from io_bridge.emulator.drive.device import DriveDevice
from io_bridge.slaves.drive_config import SIMULATED_IDENTITY, DrivePlant
from rigloop.commission.axis import Spring, axis_of
from rigloop.commission.hands import EmulatedHands
from rigloop.commission.progress import Kept
from rigloop.commission.stepped_stand import SteppedStand
from rigloop.commission.talk import TerminalTalk
from rigloop.commission.walk import find_steps, walk
from rigloop.compose.parts import backends_of

SPRING = Spring(20.0, 0.3)
AS_STATED = {"hands": "free", "inertia_kg_m2": 0.06, "viscous_nms": 0.05, "coulomb_nm": 0.1}


def stand_of(loaded, *, identity=SIMULATED_IDENTITY, spring=SPRING, **plant):
    """Bring up the drive of a rig, whose plant is as the rig states it but for some values."""
    axis = replace(axis_of(loaded, None, backends_of(loaded.rig)), spring=spring)
    device = DriveDevice(DrivePlant(**(AS_STATED | plant)), identity)
    return SteppedStand(loaded, axis, [device])


def walk_of(stand, *, names=None, error_rad=0.0, kept=None, first=None, console=None):
    """Walk through some steps, or all."""
    steps = [s for s in find_steps() if names is None or s.name in names]
    talk = TerminalTalk(console or Console(quiet=True))
    kept = kept or Kept(None, "0" * 64, "guard", stand.identity())
    return walk(stand, EmulatedHands(stand, error_rad), talk, kept, first=first, steps=steps)

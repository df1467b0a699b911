"""The one bus and the one guard of a rig, where it has them."""

from __future__ import annotations

from rig_configs.schema import Rig
from rig_configs.slaves import Drive
from rigloop.blocks.kinds.bus import BusBlock
from rigloop.blocks.kinds.guard import GuardBlock
from rigloop.console.errors import NotStartedError


def find_guard(rig: Rig) -> tuple[str, GuardBlock] | None:
    """Return the guard of a rig and its name; none in a rig without torque."""
    return next(((n, b) for n, b in rig.blocks.items() if isinstance(b, GuardBlock)), None)


def find_bus(rig: Rig) -> tuple[str, BusBlock] | None:
    """Return the bus block of a rig and its name, if it has one."""
    return next(((n, b) for n, b in rig.blocks.items() if isinstance(b, BusBlock)), None)


def drive_of(rig: Rig, bus: str, drive: str) -> Drive:
    """Return a drive of a bus block."""
    block = rig.blocks[bus]
    assert isinstance(block, BusBlock)
    return block.drives[drive]


EMULATED = ("simulated", "veth")  # backends on which nobody's hands are


def backend_of(rig: Rig, asked: str | None = None) -> str:
    """Return where the frames of a rig go; without a bus nowhere."""
    found = find_bus(rig)
    return "simulated" if found is None else asked or found[1].backend


def guard_of(rig: Rig) -> tuple[str, GuardBlock]:
    """Return the guard of a rig and its name.

    Raises
    ------
    NotStartedError
        The rig has none, and so no torque.
    """
    found = find_guard(rig)
    if found is None:
        raise NotStartedError("this rig has no guard, and so no torque: take a rig with a drive")
    return found


def bus_of(rig: Rig) -> tuple[str, BusBlock]:
    """Return the bus block of a rig and its name.

    Raises
    ------
    NotStartedError
        The rig has none.
    """
    found = find_bus(rig)
    if found is None:
        raise NotStartedError("this rig has no bus: take a rig with one")
    return found

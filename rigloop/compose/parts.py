"""The buses and guards of a rig, and the one that a command takes where it needs exactly one."""

from __future__ import annotations

from rig_configs.schema import Rig
from rig_configs.slaves import Drive
from rigloop.blocks.axes import buses_of, drives_of, guards_of
from rigloop.blocks.kinds.bus import BusBlock
from rigloop.blocks.kinds.guard import GuardBlock
from rigloop.console.errors import NotStartedError


def find_guards(rig: Rig) -> dict[str, GuardBlock]:
    """Return the guards of a rig by their names, in the order of the file; none in a rig without torque."""
    return dict(guards_of(rig))


def find_guard(rig: Rig) -> tuple[str, GuardBlock] | None:
    """Return the first guard of a rig and its name; none in a rig without torque."""
    return next(iter(find_guards(rig).items()), None)


def find_buses(rig: Rig) -> dict[str, BusBlock]:
    """Return the bus blocks of a rig by their names, in the order of the file."""
    return dict(buses_of(rig))


def bus_of_guard(rig: Rig, guard: str) -> tuple[str, BusBlock] | None:
    """Return the bus with the drive of a guard, and its name."""
    found = next((bus for bus, _ in drives_of(rig, guard)), None)
    return find_bus(rig) if found is None else (found, find_buses(rig)[found])


def find_bus(rig: Rig) -> tuple[str, BusBlock] | None:
    """Return the first bus block of a rig and its name, if it has one."""
    return next(iter(find_buses(rig).items()), None)


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


def guard_of(rig: Rig, name: str | None = None) -> tuple[str, GuardBlock]:
    """Return a guard of a rig and its name: the one that is named, else the first one.

    Raises
    ------
    NotStartedError
        The rig has none, and so no torque; or none of this name.
    """
    found = find_guards(rig)
    if not found:
        raise NotStartedError("this rig has no guard, and so no torque: take a rig with a drive")
    if name is None:
        return next(iter(found.items()))
    if name not in found:
        raise NotStartedError(f"--guard {name}: this rig has the guards {', '.join(found)}")
    return name, found[name]


def one_guard(rig: Rig, name: str | None = None) -> str | None:
    """Return the name of the guard that a command takes which needs exactly one; None in a rig without any.

    Raises
    ------
    NotStartedError
        It has several, and none was named; or none of this name.
    """
    found = find_guards(rig)
    if name is None and len(found) > 1:
        raise NotStartedError(
            f"this rig has {len(found)} guards ({', '.join(found)}), and this takes one: name it with --guard"
        )
    return guard_of(rig, name)[0] if name is not None or found else None


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

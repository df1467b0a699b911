"""The one bus and the one guard of a rig, where it has them."""

from __future__ import annotations

from rig_configs import schema
from rigloop.console.errors import NotStartedError


def find_guard(rig: schema.Rig) -> tuple[str, schema.GuardBlock] | None:
    """Return the guard of a rig and its name; none in a rig without torque."""
    return next(((n, b) for n, b in rig.blocks.items() if isinstance(b, schema.GuardBlock)), None)


def find_bus(rig: schema.Rig) -> tuple[str, schema.BusBlock] | None:
    """Return the bus block of a rig and its name, if it has one."""
    return next(((n, b) for n, b in rig.blocks.items() if isinstance(b, schema.BusBlock)), None)


EMULATED = ("simulated", "veth")  # backends on which nobody's hands are


def backend_of(rig: schema.Rig, asked: str | None = None) -> str:
    """Return where the frames of a rig go; without a bus nowhere."""
    found = find_bus(rig)
    return "simulated" if found is None else asked or found[1].backend


def guard_of(rig: schema.Rig) -> tuple[str, schema.GuardBlock]:
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


def bus_of(rig: schema.Rig) -> tuple[str, schema.BusBlock]:
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

"""The buses and guards of a rig, and the one that a command takes where it needs exactly one."""

from __future__ import annotations

from collections import Counter

from rig_configs.schema import Rig
from rig_configs.slaves import Drive
from rigloop.blocks.axes import buses_of, drives_of, guards_of
from rigloop.blocks.kinds.bus import BusBlock
from rigloop.blocks.kinds.guard import GuardBlock
from rigloop.run_folder.not_started import NotStartedError


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


def backends_of(rig: Rig, asked: str | None = None) -> dict[str, str]:
    """Return where the frames of each bus of a rig go.

    Parameters
    ----------
    asked : str, optional
        In place of the rig's own: for all buses, or `NAME=BACKEND`, with commas, for some.

    Raises
    ------
    NotStartedError
        One interface for several buses, or no such bus.
    """
    found = {name: bus.backend for name, bus in find_buses(rig).items()}
    if asked is None or not found:
        return found
    given = _asked_backends(found, asked)
    real = Counter(backend for backend in given.values() if backend not in EMULATED)
    for backend in (backend for backend, n in real.items() if n > 1):
        raise NotStartedError(
            f"--bus {asked}: {backend} would take the frames of several buses ({', '.join(given)}): "
            f"give each its own, as --bus {next(iter(given))}={backend}"
        )
    if "veth" in given.values() and real:
        raise NotStartedError(
            f"--bus {asked}: veth has a network of its own, in which {next(iter(real))} is not there: "
            "use veth for all buses, or combine simulated with an interface"
        )
    return given


def backend_of(rig: Rig, bus: str | None, asked: str | None = None) -> str:
    """Return where the frames of one bus of a rig go; of none nowhere, as in a process of its own."""
    return "simulated" if bus is None else backends_of(rig, asked)[bus]


def _asked_backends(found: dict[str, str], asked: str) -> dict[str, str]:
    if "=" not in asked:
        return dict.fromkeys(found, asked)
    given = dict(found)
    for part in asked.split(","):
        name, _, backend = part.partition("=")
        if name not in found or not backend:
            raise NotStartedError(
                f"--bus {asked}: {part!r} names no bus of this rig; give BACKEND for all, or "
                f"NAME=BACKEND for some of {', '.join(found)}"
            )
        given[name] = backend
    return given


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

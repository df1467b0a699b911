"""The axes of a rig: its guards, the drive of each, and the guards that the fault of another one reaches.

An axis is a drive and the guard that its torque comes from; the wiring says which. Start with `guards_of`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rig_configs.schema import Rig
from rigloop.blocks.kind import written

COMMAND = "torque_nm"


def guards_of(rig: Rig) -> dict[str, Any]:
    """Return the guards of a rig by their names, in the order of the file; none in a rig without torque."""
    return {n: b for n, b in rig.blocks.items() if b.kind == "guard"}


def buses_of(rig: Rig) -> dict[str, Any]:
    """Return the bus blocks of a rig by their names, in the order of the file."""
    return {n: b for n, b in rig.blocks.items() if b.kind == "bus"}


def torque_of(rig: Rig, guard: str) -> str:
    """Return the signal with the torque of a guard."""
    return written(guard, rig.blocks[guard], (COMMAND,))[COMMAND]


ADDS = {"excitation": ("request_nm", "torque_nm"), "stimulus": ("before", "value")}
"""Kinds that add to a signal without being part of a loop: the port that they add to, and that of the sum."""


def before_added(rig: Rig, path: str) -> str:
    """Return the signal that excitations and stimuli are added to, where a signal is their sum; else the signal."""
    sums = {
        written(name, block, (ports[1],))[ports[1]]: block.reads.get(ports[0])
        for name, block in rig.blocks.items()
        if (ports := ADDS.get(block.kind)) is not None
    }
    for _ in sums:  # a chain is no longer than there are of them
        path = sums.get(path) or path
    return path


def drives_of(rig: Rig, guard: str) -> list[tuple[str, str]]:
    """Return bus and name of each drive that takes the torque of a guard; a good rig has one."""
    torque = torque_of(rig, guard)
    return [(bus, drive) for bus, drive, path in commands_of(rig) if path == torque]


def commands_of(rig: Rig) -> Iterator[tuple[str, str, str]]:
    """Find bus and name of each drive that takes a torque, and the signal that it takes."""
    for bus, block in buses_of(rig).items():
        for port, path in block.reads.items():
            slave, _, command = port.rpartition("/")
            if command == COMMAND:
                yield bus, slave, path


def without_torque(rig: Rig) -> Iterator[tuple[str, str, str]]:
    """Find bus and name of each drive that follows no torque, so that no guard limits it, and its mode."""
    for bus, block in buses_of(rig).items():
        for name, drive in block.drives.items():
            if drive.mode != "torque":
                yield bus, name, drive.mode


def reaching(rig: Rig, guard: str) -> list[str]:
    """Return the guards whose faults reach this one, in the order of the file."""
    own = guards_of(rig)[guard]
    return [
        name
        for name, other in guards_of(rig).items()
        if name != guard
        and (other.reach == "all" or (other.reach == "group" and other.group == own.group))
    ]


def sees_its_drive(rig: Rig, guard: str) -> bool:
    """Return whether a guard watches that its drive follows; then no other guard needs to know of that drive's
    fault."""
    ready = rig.blocks[guard].reads.get("actuator_ready")
    return all(
        ready == written(bus, rig.blocks[bus], (port := f"{drive}/operational",))[port]
        for bus, drive in drives_of(rig, guard)
    )


def apart(rig: Rig, bus: str) -> set[str]:
    """Return the drives of a bus whose faults are those of one axis: each has a guard that sees it, beside others."""
    if len(guards_of(rig)) < 2:
        return set()
    return {
        drive
        for guard in guards_of(rig)
        if sees_its_drive(rig, guard)
        for found, drive in drives_of(rig, guard)
        if found == bus
    }

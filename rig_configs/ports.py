"""The ports of a block: what it reads and what it writes, each by name, with its unit and a sentence."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from rt_core.settings import Wrong


class Port(NamedTuple):
    """A port of a block.

    Attributes
    ----------
    name : str
        As in `reads` and `writes` of a rig file.
    unit : str or None
        As `rig_configs.units.parse` reads it; None: nobody knows it, and it is not checked.
    about : str
        What is read or written, as a sentence.
    optional : bool
        A rig may leave this port bare.
    usual : str
        A pattern of the signals that it is usually wired to, as `fnmatch` reads it; `TASK` stands for the block's own
        task. Empty: the unit alone says what would do.
    """

    name: str
    unit: str | None
    about: str
    optional: bool = False
    usual: str = ""


class Ports(NamedTuple):
    """All ports of a block."""

    reads: tuple[Port, ...]
    writes: tuple[Port, ...]

    @property
    def read_names(self) -> tuple[str, ...]:
        return tuple(port.name for port in self.reads)

    @property
    def write_names(self) -> tuple[str, ...]:
        return tuple(port.name for port in self.writes)


class FollowingPorts(Ports):
    """Ports of which some have the unit that follows from the signals wired to others.

    Attributes
    ----------
    follow : callable
        From the unit of each wired signal, by its port, to these ports with the units that follow.
    wrong : tuple of Wrong
        Keys of the block that do not suit the units of what is wired.
    """

    follow: Callable[[Mapping[str, str | None]], FollowingPorts]
    wrong: tuple[Wrong, ...] = ()


PortsOf = Callable[[Mapping[str, Any]], Ports | None]
"""From a block's table to its ports; None where the table is too wrong to tell."""


def write_path(block: str, table: Mapping[str, Any], port: str) -> str:
    """Return the signal that a block's port writes: as given, else `block/port`."""
    return str(table.get("writes", {}).get(port, f"{block}/{port}"))

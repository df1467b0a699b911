"""The block contract as Python sees it: build, wire, hand over. Stepping is C: block.pxd."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

BLOCK_ABI = 2
BLOCK_CAPSULE = "rigloop.block"
Names = Iterable[str]


@runtime_checkable
class Block(Protocol):
    """A unit of work of the cycle.

    Attributes
    ----------
    name : str
        Unique in the rig; faults are reported under it.
    reads, writes : mapping of str to str
        Port to signal path, in the order in which `bind` gets the addresses. One block writes
        a path.
    """

    @property
    def name(self) -> str: ...
    @property
    def reads(self) -> Mapping[str, str]: ...
    @property
    def writes(self) -> Mapping[str, str]: ...

    def bind(self, reads: Sequence[int], writes: Sequence[int]) -> None:
        """Take the address of one float64 cell per port, in port order; once, before any step."""

    def capsule(self) -> Any:
        """Return a PyCapsule named `BLOCK_CAPSULE` that points to a `BlockView`."""


def wrong_ports(ports: tuple[Names, Names, Names, Names], needed: Names = ()) -> list[str]:
    """Return the mistakes in the names of ports: one text for each port that does not exist, or is missing.

    Parameters
    ----------
    ports : tuple
        Ports that are read and written, then those that there are.
    needed : iterable of str
        Ports that have to be read.
    """
    reads, writes, read_ports, write_ports = map(tuple, ports)
    return [
        f"no such {kind} port {port}: there are {', '.join(known)}"
        for kind, given, known in (("read", reads, read_ports), ("written", writes, write_ports))
        for port in given
        if port not in known
    ] + [f"port {port} is not connected" for port in needed if port not in reads]

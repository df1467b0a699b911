"""The record of a kind of block, from which everything that a rig can do with it follows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from rig_configs.mistakes import Mistake
from rig_configs.ports import Port, Ports, PortsOf
from rig_configs.schema import BlockTable, Rig
from rigloop.blocks.usual import Usual
from rt_core.block import Block

__all__ = ["BlockKind", "Making", "Port", "Ports", "constant", "wired", "written"]

Stage = Callable[[str], None]


@dataclass(frozen=True)
class Making:
    """The parts that a block is made of.

    Attributes
    ----------
    rig : Rig
    name : str
        Of the block in its rig.
    block : BlockTable
        Its table, of the kind's schema.
    kernel : BuiltKernel, BuiltBlock or None
        What the kind's `build` has built.
    settings : mapping of str to float
        Of a log that is replayed: they take the place of the rig's in an encoder filter.
    """

    rig: Rig
    name: str
    block: Any
    kernel: Any = None
    settings: Mapping[str, float] = field(default_factory=dict)

    @property
    def period_us(self) -> int:
        """Period of the task that steps the block."""
        return self.rig.period_us(self.name)

    def reads(self, ports: Iterable[str]) -> dict[str, str]:
        """Return the signal of each of these ports that is wired."""
        return wired(self.block, ports)

    def writes(self, ports: Iterable[str]) -> dict[str, str]:
        """Return the signal that each of these ports writes."""
        return written(self.name, self.block, ports)


def wired(block: BlockTable, ports: Iterable[str]) -> dict[str, str]:
    """Return the signal of each of these ports that is wired."""
    return {port: block.reads[port] for port in ports if port in block.reads}


def written(name: str, block: BlockTable, ports: Iterable[str]) -> dict[str, str]:
    """Return the signal that each of these ports writes: as given, else `name/port`."""
    return {port: block.writes.get(port, f"{name}/{port}") for port in ports}


def _none(*given: Any) -> Iterator[Mistake]:
    return iter(())


@dataclass(frozen=True)
class BlockKind:
    """A kind of block.

    Attributes
    ----------
    name : str
        As in `kind = "..."`.
    schema : type of BlockTable
        Keys of its table, with limits; a docstring below each one, or `Field(description=...)`, and
        `Field(examples=[...])` where a key has no default and no rig which ships has it.
    ports : callable
        From a table, which may be wrong, to its ports; None where it is too wrong to tell.
    make : callable
        From a `Making` to the block; None: the bus, which its back end makes.
    about : str
        A paragraph for people.
    mistakes : callable
        From file, rig and name of a block in a rig whose schema is good to mistakes that it has all the same.
    table_mistakes : callable
        From the name of the file, that of the block and its table as written to mistakes that no schema can say.
    build : callable or None
        From file, rig, name and a listener of stages to the kernel that has to be compiled before.
    fit : callable
        From a `Making` with its kernel to mistakes that only the built kernel shows, without their file.
    faults : mapping of int to str
        Code that a step returns → words. A kind without any never fails a step.
    remedy : str
        What to do about a fault.
    declared : Declared or None
        The declaration and source that it is compiled from; they run only where somebody has trusted them, or ship.
    usual : mapping of str to (float, float, str)
        Keys whose values are doubted by `rigloop check` beyond this range, and what explains one there.
    has_place : callable
        From a block to whether the memory that its view names is all of its state: it can go on in another process.
    """

    name: str
    schema: type[BlockTable]
    ports: PortsOf
    make: Callable[[Making], Block] | None
    about: str
    mistakes: Callable[[str, Rig, str], Iterator[Mistake]] = _none
    table_mistakes: Callable[[str, str, Mapping[str, Any]], Iterator[Mistake]] = _none
    build: Callable[[str, Rig, str, Stage], Any] | None = None
    fit: Callable[[Making], Iterator[Mistake]] = _none
    faults: Mapping[int, str] = field(default_factory=dict)
    remedy: str = ""
    declared: Any = None
    usual: Usual = field(default_factory=dict)
    has_place: Callable[[Block], bool] = lambda block: False


def constant(reads: tuple[Port, ...], writes: tuple[Port, ...]) -> PortsOf:
    """Return the `ports` of a kind whose ports are the same for every table."""
    found = Ports(reads, writes)
    return lambda table: found

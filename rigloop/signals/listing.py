"""Every signal of a rig: its unit, who writes it and in which task, who reads it, and what nobody uses."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase

from rig_configs.ports import Ports
from rig_configs.schema import Rig
from rig_configs.wiring import followed
from rigloop.blocks.catalogue import ports_of
from rigloop.blocks.kind import written
from rigloop.compose.shown import shown_roles
from rigloop.compose.wiring import other_signals
from rt_core.names import LOOP
from rt_core.plan import WHO

UNKNOWN = "?"  # unit that nobody knows


@dataclass(frozen=True)
class Signal:
    """A signal of a rig.

    Attributes
    ----------
    path : str
    unit : str or None
        None: nobody knows it, and it is not checked.
    writer : str
        A block, with its port where the path does not say it; `the loop`, or `the supervisor`.
    task : str
        In whose image it lies.
    readers : tuple of str
        Block and port each; a role of `[show]` is `show.<role>`.
    about : str
        What the writer says of it.
    """

    path: str
    unit: str | None
    writer: str
    task: str
    readers: tuple[str, ...]
    about: str


@dataclass(frozen=True)
class BarePort:
    """An optional port that a rig leaves bare."""

    port: str
    about: str


def signals_of(rig: Rig) -> list[Signal]:
    """Return every signal of a good rig: those of the blocks in the order of their tasks, then the others."""
    readers, all_ports = _readers(rig), _ports(rig)
    home = {block: task for task, config in rig.tasks.items() for block in config.blocks}
    found = []
    for name in home:
        block, ports = rig.blocks[name], all_ports[name]
        paths = written(name, block, ports.write_names)
        for port in ports.writes:
            path = paths[port.name]
            read = tuple(readers.get(path, ()))
            writer = name if path == f"{name}/{port.name}" else f"{name}.{port.name}"
            found.append(Signal(path, port.unit, writer, home[name], read, port.about))
    for path, unit in _others(rig).items():
        first, _, rest = path.partition("/")
        owner = rest.partition("/")[0] if first == LOOP else first
        writer = WHO.get(owner, "the loop")
        found.append(Signal(path, unit, writer, owner, tuple(readers.get(path, ())), ""))
    return found


def bare_ports(rig: Rig) -> list[BarePort]:
    """Return the optional ports that a rig leaves bare."""
    found: list[BarePort] = []
    all_ports = _ports(rig)
    for name, block in rig.blocks.items():
        if name in rig.live or name in rig.stimuli:
            continue  # made of a table that has no wires
        ports = all_ports[name]
        found += [
            BarePort(f"blocks.{name}.reads.{port.name}", port.about)
            for port in ports.reads
            if port.optional and port.name not in block.reads
        ]
    return found


def like(signals: Iterable[Signal], pattern: str) -> list[Signal]:
    """Return the signals whose path has `pattern` in it, or is like it where it has a star."""
    return [s for s in signals if is_like(s.path, pattern)]


def is_like(path: str, pattern: str) -> bool:
    """Decide if a path has `pattern` in it, or is like it where it has a star."""
    return fnmatchcase(path, pattern) if any(c in pattern for c in "*?[") else pattern in path


def unread_blocks(rig: Rig, signals: Iterable[Signal]) -> list[str]:
    """Return the blocks of which no signal is read or shown: most likely a wire is missing."""
    used = {s.writer.partition(".")[0] for s in signals if s.readers}
    return [name for name in rig.blocks if name not in used]


def unchecked(rig: Rig, signals: Iterable[Signal]) -> list[str]:
    """Return the wires whose signal has a unit that nobody knows, though the port that reads it has one."""
    units = {s.path: s.unit for s in signals}
    found = []
    all_ports = _ports(rig)
    for name, block in rig.blocks.items():
        for port in all_ports[name].reads:
            path = block.reads.get(port.name)
            if path is not None and port.unit is not None and units[path] is None:
                found.append(f"blocks.{name}.reads.{port.name}")
    return found


def _ports(rig: Rig) -> dict[str, Ports]:
    """Return the ports of every block, with the units that follow from what is wired."""
    tables = {name: block.model_dump() for name, block in rig.blocks.items()}
    ports = {}
    for name, table in tables.items():
        found = ports_of(table)
        assert found is not None, name
        ports[name] = found
    return followed(tables, ports, _others(rig))


def _others(rig: Rig) -> dict[str, str | None]:
    return other_signals(rig.model_dump(include={"tasks", "live", "stimuli"}))


def _readers(rig: Rig) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, block in rig.blocks.items():
        for port, path in block.reads.items():
            found.setdefault(path, []).append(f"{name}.{port}")
    for role, path in shown_roles(rig).items():
        found.setdefault(path, []).append("show" if role == path else f"show.{role}")
    return found

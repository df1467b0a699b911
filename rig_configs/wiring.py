"""The wiring of a rig: every signal has one writer, every port its signal, and both have the same unit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any

from rig_configs import units
from rig_configs.mistakes import ConfigError, Mistake, in_file, near
from rig_configs.ports import FollowingPorts, Port, Ports, PortsOf, write_path
from rt_core.names import OF_THE_LOOP

MOST_NAMED = 4  # signals that a remedy names
OtherSignals = Callable[[Mapping[str, Any]], Mapping[str, str | None]]
"""From the tables of a rig file to the signals that no block writes, with their units."""


@dataclass(frozen=True)
class Writer:
    """The writer of a signal, in words, and its unit; None: nobody knows it."""

    who: str
    unit: str | None


class UnitMistake(Mistake):
    """A port that is wired to a signal of another unit."""


def tables(data: Mapping[str, Any], key: str) -> dict[str, Mapping[str, Any]]:
    """Return the sub-tables of `key` that are tables; the schema names those that are not."""
    tables = data.get(key, {})
    return (
        {k: v for k, v in tables.items() if isinstance(v, dict)} if isinstance(tables, dict) else {}
    )


def wiring_mistakes(
    file: str, data: Mapping[str, Any], ports_of: PortsOf, other_signals: OtherSignals
) -> Iterator[Mistake]:
    """Find all that is wrong with the ports of a rig and with what it shows."""
    blocks = tables(data, "blocks")
    ports: dict[str, Ports] = {}
    for name, table in blocks.items():
        try:
            found = ports_of(table)
        except ConfigError as error:
            yield from (_of_block(file, name, mistake) for mistake in error.mistakes)
            continue
        if found is not None:
            ports[name] = found
    for name in blocks:
        if name in OF_THE_LOOP:
            problem = "this name is reserved for signals of the loop and of its helpers"
            yield Mistake(file, f"blocks.{name}", problem, "give the block another name")
    others = other_signals(data)
    ports = followed(blocks, ports, others)
    writer = {path: Writer("the loop", unit) for path, unit in others.items()}
    for name, found in ports.items():
        yield from _write_mistakes(file, name, blocks[name], found, writer)
    all_known = len(ports) == len(blocks)
    tasks = task_of(data)
    for name, found in ports.items():
        of = _Block(name, blocks[name], found, tasks.get(name, ""))
        yield from _read_mistakes(file, of, writer, all_known)
        if isinstance(found, FollowingPorts):
            yield from in_file(file, f"blocks.{name}", found.wrong)
    if all_known:
        yield from _show_mistakes(file, data, writer)


def followed(
    blocks: Mapping[str, Mapping[str, Any]],
    ports: Mapping[str, Ports],
    others: Mapping[str, str | None],
) -> dict[str, Ports]:
    """Return the ports of all blocks, with units that go from signal to signal through blocks that keep or turn them.

    Parameters
    ----------
    blocks : mapping of str to table
    ports : mapping of block to Ports
        As their tables alone say.
    others : mapping of path to unit
        Signals that no block writes.
    """
    found = dict(ports)
    # a chain is as long as there are blocks; what a ring of blocks never settles stays as it is then
    for _ in found:
        units_of = dict(others)
        for name, one in found.items():
            given = {"writes": strings(blocks[name].get("writes"))}
            for port in one.writes:
                units_of.setdefault(write_path(name, given, port.name), port.unit)
        last = dict(found)
        for name, one in last.items():
            if isinstance(one, FollowingPorts):
                reads = strings(blocks[name].get("reads"))
                wired = {port: units_of.get(path) for port, path in reads.items()}
                found[name] = one.follow(wired)
        if found == last:
            break
    return found


def _write_mistakes(
    file: str, name: str, table: Mapping[str, Any], ports: Ports, writer: dict[str, Writer]
) -> Iterator[Mistake]:
    """Add the signals of a block to `writer`, and find those that it may not write."""
    given = strings(table.get("writes"))
    for unknown in given:
        if unknown not in ports.write_names:
            key = f"blocks.{name}.writes.{unknown}"
            yield Mistake(file, key, "no such port", near(unknown, ports.write_names))
    for port in ports.writes:
        path = write_path(name, {"writes": given}, port.name)
        key = f"blocks.{name}.writes.{port.name}"
        if name not in OF_THE_LOOP and path.partition("/")[0] in OF_THE_LOOP:
            problem = "this name is reserved for signals of the loop and of its helpers"
            yield Mistake(file, key, problem, "write it under another name", path)
        elif "/" not in path:
            problem = "a signal that blocks write has a slash in its path"
            yield Mistake(file, key, problem, f"write it like {name}/{path}", path)
        elif path in writer:
            problem = f"already written by {writer[path].who}"
            yield Mistake(file, key, problem, "give one of them another name", path)
        writer.setdefault(path, Writer(f"block {name!r}", port.unit))


@dataclass(frozen=True)
class _Block:
    """A block whose wires are looked at; `task` is empty where none steps it."""

    name: str
    table: Mapping[str, Any]
    ports: Ports
    task: str


def task_of(data: Mapping[str, Any]) -> dict[str, str]:
    """Return the task of each block that one steps."""
    return {
        block: task
        for task, table in tables(data, "tasks").items()
        if isinstance(listed := table.get("blocks"), list)
        for block in listed
        if isinstance(block, str)
    }


def _read_mistakes(
    file: str, of: _Block, writer: Mapping[str, Writer], all_known: bool
) -> Iterator[Mistake]:
    given = strings(of.table.get("reads"))
    known = {port.name: port for port in of.ports.reads}
    for port, path in given.items():
        key = f"blocks.{of.name}.reads.{port}"
        if port not in known:
            yield Mistake(file, key, "no such port", near(port, known))
        elif path not in writer:
            if all_known:
                yield Mistake(file, key, "no block writes this signal", near(path, writer), path)
        elif not units.same(known[port].unit, writer[path].unit):
            yield _other_unit(file, of, known[port], path, writer)
    for one in of.ports.reads:
        if one.name not in given and not one.optional:
            key = f"blocks.{of.name}.reads.{one.name}"
            yield Mistake(file, key, "missing", _what_to_wire(one, of, writer))


def _what_to_wire(port: Port, of: _Block, writer: Mapping[str, Writer]) -> str:
    """Name the signals that a bare port usually reads; where none is there, those of its unit."""
    good = [
        path
        for path, one in writer.items()
        if units.same(port.unit, one.unit) and path.partition("/")[0] != of.name
    ]
    pattern = port.usual.replace("TASK", of.task)
    usual = [path for path in good if pattern and fnmatchcase(path, pattern)]
    if usual:
        return "wire it to " + " or ".join(f"'{path}'" for path in usual[:MOST_NAMED])
    if port.unit is None or port.unit == "1":  # a number without a unit may be anything
        return "wire this port to a signal"
    # signals go down a file: the last ones are the nearest
    alike = [path for path in reversed(good) if writer[path].unit is not None]
    alike.sort(key=lambda path: writer[path].unit != port.unit)  # a torque before an energy
    named = ", such as " + ", ".join(alike[:MOST_NAMED]) if alike else ""
    return f"wire it to a signal in {port.unit}{named}"


def _other_unit(
    file: str, of: _Block, port: Port, path: str, writer: Mapping[str, Writer]
) -> UnitMistake:
    """Say which port takes which unit, who writes the signal in which other one, and which signals would do."""
    wired = writer[path]
    problem = f"this port takes {port.unit}, and {wired.who} writes the signal in {wired.unit}"
    good = [
        p
        for p, w in writer.items()
        if w.unit is not None and units.same(port.unit, w.unit) and p.partition("/")[0] != of.name
    ]
    beside = [p for p in good if p.partition("/")[0] == path.partition("/")[0]]
    named = ", ".join((beside or good)[:MOST_NAMED])
    remedy = f"wire a signal in {port.unit}" + (f", such as {named}" if named else "")
    remedy += ", or a block between them that converts it"
    return UnitMistake(file, f"blocks.{of.name}.reads.{port.name}", problem, remedy, path)


def _show_mistakes(
    file: str, data: Mapping[str, Any], writer: Mapping[str, Writer]
) -> Iterator[Mistake]:
    show = data.get("show")
    others = show.get("signals", []) if isinstance(show, dict) else []
    paths = {f"signals[{i}]": p for i, p in enumerate(others if isinstance(others, list) else [])}
    named = {f"show.{role}": path for role, path in (strings(show) | strings(paths)).items()}
    for name, metric in tables(data, "metrics").items():
        named |= {f"metrics.{name}.signal": p for k, p in strings(metric).items() if k == "signal"}
    for key, path in named.items():
        if path not in writer:
            yield Mistake(file, key, "no block writes this signal", near(path, writer), path)


def _of_block(file: str, block: str, mistake: Mistake) -> Mistake:
    """Say where a mistake of a block is: in its own keys, or in a file that it names."""
    if mistake.file:
        return replace(mistake, key=f"blocks.{block}: {mistake.key}")
    return replace(mistake, file=file, key=f"blocks.{block}.{mistake.key}")


def strings(table: Any) -> dict[str, str]:
    """Return the entries of a table that are text; the schema names those that are not."""
    return {k: v for k, v in table.items() if isinstance(v, str)} if isinstance(table, dict) else {}

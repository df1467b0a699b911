"""The kinds of the library and of a rig's own: blocks of a declaration and a C source, taken as they are declared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from rig_configs import units
from rig_configs.mistakes import Mistake
from rig_configs.named_files import SOURCES
from rig_configs.ports import FollowingPorts, Port, Ports
from rig_configs.schema import Rig
from rigloop.blocks.compiled.block import CompiledBlock
from rigloop.blocks.compiled.build import BuiltBlock
from rigloop.blocks.compiled.declared import read_declared
from rigloop.blocks.compiled.formula_units import formula_clash
from rigloop.blocks.compiled.kind import (
    CompiledKind,
    DeclaredPort,
    find_declarations,
    library,
    wired_parameters,
)
from rigloop.blocks.compiled.trust import LIBRARY
from rigloop.blocks.compiled.unit_rule import unit_rule
from rigloop.blocks.compiled.unit_solve import solve_units
from rigloop.blocks.compiled.values import rate_mistakes
from rigloop.blocks.kind import BlockKind, Making, Stage
from rt_core.settings import Refusal, Wrong


def as_block_kind(kind: CompiledKind) -> BlockKind:
    """Return the entry of the catalogue that a declared kind is."""

    def ports(table: Mapping[str, Any]) -> Ports:
        reads = table.get("reads")

        def follow(wired: Mapping[str, str | None]) -> FollowingPorts:
            known = _units(kind, table, wired)
            found = FollowingPorts(
                tuple(_port(port, known) for port in kind.reads(table)),
                tuple(_port(port, known) for port in kind.writes()),
            )
            found.follow = follow
            found.wrong = tuple(_clashes(kind, table, wired, known))
            return found

        return follow(dict.fromkeys(reads if isinstance(reads, Mapping) else ()))

    def table_mistakes(file: str, name: str, given: Mapping[str, Any]) -> Iterator[Mistake]:
        try:
            table = kind.schema.model_validate(given).model_dump()
        except ValidationError:  # the schema of the rig says so
            return
        unit = table.get("unit")
        if unit is not None:
            try:
                units.parse(unit)
            except Refusal as error:
                at = f"blocks.{name}.unit"
                yield Mistake(file, at, error.problem, error.remedy, unit)
        yield from kind.mistakes(file, name, table)

    def rates(file: str, rig: Rig, name: str) -> Iterator[Mistake]:
        table = rig.blocks[name].model_dump()
        period_s = 1e-6 * rig.period_us(name)
        return rate_mistakes(file, name, kind.declared.declaration, table, period_s)

    def build(file: str, rig: Rig, name: str, tell: Stage) -> BuiltBlock:
        tell("compiling")
        return kind.build(rig.blocks[name].model_dump())

    def make(making: Making) -> CompiledBlock:
        wired = making.block.model_dump()
        reads, writes = ([port.name for port in p] for p in (kind.reads(wired), kind.writes()))
        return kind.make(
            making.name,
            wired,
            making.reads(reads),
            making.writes(writes),
            period_s=making.period_us * 1e-6,
            built=making.kernel,
        )

    return BlockKind(
        name=kind.name,
        schema=kind.schema,
        ports=ports,
        make=make,
        about=kind.about,
        mistakes=rates,
        table_mistakes=table_mistakes,
        build=build,
        faults=kind.faults,
        declared=kind.declared,
        has_place=lambda block: not getattr(block, "is_live", True),
    )


def from_file(path: Path) -> BlockKind:
    """Return the kind that a declaration is, named by its path; it is read again where a file of it has changed.

    Raises
    ------
    ConfigError
        With every mistake of the declaration.
    """
    return _read(
        path, *(_stamp(file) for file in (path, *(path.with_suffix(suffix) for suffix in SOURCES)))
    )


@lru_cache(maxsize=256)
def _read(path: Path, *stamps: tuple[int, ...]) -> BlockKind:
    return as_block_kind(CompiledKind(read_declared(path), str(path)))


def _stamp(path: Path) -> tuple[int, ...]:
    try:
        found = path.stat()
    except (OSError, ValueError):
        return ()
    return found.st_ino, found.st_size, found.st_mtime_ns


def _units(
    kind: CompiledKind, table: Mapping[str, Any], wired: Mapping[str, str | None]
) -> dict[str, units.Unit | None]:
    """Units that follow from a block's table, which may be wrong, and from what is wired to it."""
    rules = kind.declared.units | wired_parameters(kind.declared, table)
    given = {
        port: None if unit is None else units.parse(unit)
        for port, unit in wired.items()
        if port in kind.declared.declaration.inputs
    }
    # a port that has to be wired, and is not, may have any unit
    for port, one in kind.declared.declaration.inputs.items():
        if one.otherwise is None:
            given.setdefault(port, None)
    try:
        key = units.parse(table["unit"]) if isinstance(table.get("unit"), str) else None
    except ValueError:  # is a mistake of the block
        key = None
    return solve_units(rules, given, units.parse, key)


def _clashes(
    kind: CompiledKind,
    table: Mapping[str, Any],
    wired: Mapping[str, str | None],
    known: Mapping[str, units.Unit | None],
) -> Iterator[Wrong]:
    """Find choices and formulas whose units are not those of what is wired, and of the block's output."""
    (wanted,) = {known[port.name] for port in kind.writes()} if len(kind.writes()) == 1 else (None,)
    given = {port: known.get(port) for port, unit in wired.items() if unit is not None}
    yield from _choice_clashes(kind, table, known)
    for name, parameter in kind.declared.declaration.parameters.items():
        if parameter.type != "expression" or not isinstance(table.get(name), str):
            continue
        if clash := formula_clash(table[name], given, wanted):
            yield Wrong(name, table[name], clash)


def _choice_clashes(
    kind: CompiledKind, table: Mapping[str, Any], known: Mapping[str, units.Unit | None]
) -> Iterator[Wrong]:
    """Find choices, such as a conversion, that have a unit, and not the one that the ports ask for."""
    declaration = kind.declared.declaration
    ports = {**declaration.inputs, **declaration.outputs}
    for name, parameter in declaration.parameters.items():
        choice = table.get(name, parameter.default)
        if not isinstance(choice, str) or choice not in parameter.unit_of:
            continue
        rule = unit_rule(parameter.unit, ports)
        asked: units.Unit | None = units.ONE
        for factor in rule.factors:
            unit = known[factor.name] if factor.is_port else units.parse(factor.name)
            asked = None if unit is None or asked is None else asked * unit**factor.power
        if asked is None or asked == units.parse(parameter.unit_of[choice]):
            continue
        at = " and ".join(f"{port} in {known[port]}" for port in rule.ports)
        problem = f"is a factor of {parameter.unit_of[choice]}, and {at} ask for one of {asked}"
        yield Wrong(name, choice, problem, "take another one, or give the output another unit")


def _port(port: DeclaredPort, known: Mapping[str, units.Unit | None]) -> Port:
    unit = known[port.name]
    if port.unit.kind == "any":  # whatever is wired there
        unit = None
    return Port(port.name, _spelled(unit), port.about, port.optional)


def _spelled(unit: units.Unit | None) -> str | None:
    """Return the text of a unit; None: nobody knows it, or a chain of products has made one that no text can have."""
    if unit is None:
        return None
    try:
        units.parse(str(unit))
    except Refusal:
        return None
    return str(unit)


class _Library(Mapping[str, BlockKind]):
    """The kinds that ship, by name; a declaration is read when its kind is first taken."""

    def __init__(self) -> None:
        self._read: dict[str, BlockKind] = {}

    def __getitem__(self, name: str) -> BlockKind:
        if name not in self._read:
            self._read[name] = as_block_kind(library((name,))[name])
        return self._read[name]

    def __iter__(self) -> Iterator[str]:
        return iter(find_declarations(LIBRARY))

    def __len__(self) -> int:
        return len(find_declarations(LIBRARY))


KINDS = _Library()

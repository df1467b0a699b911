"""A compiled block as a kind of block: what a registry of kinds asks of it.

`ports`, `schema` and `mistakes` read the declaration alone; `make` compiles, loads and fills.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, create_model

from rig_configs.mistakes import ConfigError, Mistake
from rig_configs.names import Line, SignalPath
from rig_configs.numbers import Real
from rig_configs.schema import BlockTable
from rigloop.blocks.compiled.block import CompiledBlock
from rigloop.blocks.compiled.build import BuiltBlock, build_block
from rigloop.blocks.compiled.declaration import Declaration, Parameter, Whole
from rigloop.blocks.compiled.declared import Declared, read_declared
from rigloop.blocks.compiled.layout import fill, lay_out
from rigloop.blocks.compiled.trust import LIBRARY
from rigloop.blocks.compiled.unit_rule import UnitRule, unit_rule
from rigloop.blocks.compiled.values import (
    rate_mistakes,
    value_mistakes,
    values_of,
    wiring_mistakes,
)

MOST_KINDS = 500  # of a folder


@dataclass(frozen=True)
class DeclaredPort:
    """A port: its unit as a rule, a sentence, and whether it may stay unwired."""

    name: str
    unit: UnitRule
    about: str
    optional: bool = False


@dataclass(frozen=True)
class CompiledKind:
    """A kind of block that is compiled from C or Cython.

    Attributes
    ----------
    declared : Declared
    path : str
        A rig names it by the path of its declaration; empty: by its name, as it ships.
    """

    declared: Declared
    path: str = ""

    @property
    def name(self) -> str:
        """Return the word of a rig's `kind`."""
        return self.path or self.declared.name

    @property
    def about(self) -> str:
        """A paragraph for people."""
        return self.declared.declaration.about

    @property
    def faults(self) -> dict[int, str]:
        """Fault codes of a step in words."""
        return self.declared.faults

    @property
    def needs_unit(self) -> bool:
        """True: the rig's block says the port's unit under the key `unit`."""
        return any(rule.kind == "key" for rule in self.declared.units.values())

    def reads(self, table: Mapping[str, Any] | None = None) -> tuple[DeclaredPort, ...]:
        """Ports that a block of this kind reads: its inputs, and the parameters that its table has as live ones."""
        declared = self.declared
        live = wired_parameters(declared, table or {})
        return (
            *(
                DeclaredPort(name, declared.units[name], port.about, port.otherwise is not None)
                for name, port in declared.declaration.inputs.items()
            ),
            *(
                DeclaredPort(name, rule, declared.declaration.parameters[name].about)
                for name, rule in live.items()
            ),
        )

    def writes(self, table: Mapping[str, Any] | None = None) -> tuple[DeclaredPort, ...]:
        """Ports that it writes."""
        return tuple(
            DeclaredPort(name, self.declared.units[name], port.about)
            for name, port in self.declared.declaration.outputs.items()
        )

    @cached_property
    def schema(self) -> type[BlockTable]:
        """Keys of a block of this kind in a rig file, each with its sentence."""
        declaration = self.declared.declaration
        fields: dict[str, Any] = {
            "kind": (Literal[self.name], Field(description="The kind of the block."))
        }
        for name, parameter in declaration.parameters.items():
            fields[name] = (_type(parameter), _field(parameter))
        if self.needs_unit:
            unit = Annotated[Line, Field(examples=["Nm"])]
            fields["unit"] = (unit, Field(description="The output of the block has this unit."))
        required = any(port.otherwise is None for port in declaration.inputs.values())
        wiring = dict[SignalPath, SignalPath]
        reads = (
            Field(description="Each input is wired to a signal.")
            if required
            else Field({}, description="Each input is wired to a signal.")
        )
        fields["reads"] = (wiring, reads)
        fields["writes"] = (
            wiring,
            Field(
                {}, description="An output writes `NAME/output`, or the signal that is given here."
            ),
        )
        return create_model(self.declared.name, __base__=BlockTable, __doc__=self.about, **fields)

    def mistakes(self, file: str, name: str, table: Mapping[str, Any]) -> list[Mistake]:
        """Find what is wrong with the parameters of a block whose table has passed the schema."""
        declaration = self.declared.declaration
        return [
            *value_mistakes(file, name, declaration, table),
            *wiring_mistakes(file, name, declaration, table),
        ]

    def build(self, table: Mapping[str, Any]) -> BuiltBlock:
        """Compile the block for a table, or take it from the cache; its hash is what a run records."""
        declaration = self.declared.declaration
        values = values_of(declaration, table)
        wanted = [n for n, p in declaration.parameters.items() if p.type == "expression"]
        return build_block(self.declared, {name: values[name] for name in wanted})

    def make(
        self,
        name: str,
        table: Mapping[str, Any],
        reads: Mapping[str, str],
        writes: Mapping[str, str] | None = None,
        *,
        period_s: float,
        built: BuiltBlock | None = None,
    ) -> CompiledBlock:
        """Make a block.

        Parameters
        ----------
        name : str
        table : mapping
            Of the block in its rig: parameters, or nothing where each has a default.
        reads, writes : mapping of port to signal path
            By name, in any order; `NAME/port` for each output that is not given.
        period_s : float
            Of the task that steps it.
        built : BuiltBlock, optional
            What `build` returned for this table.

        Raises
        ------
        ConfigError
            Wrong parameters or ports; all of them.
        NotTrustedError, BuildError
            As `build_block`.
        """
        declaration = self.declared.declaration
        live = wired_parameters(self.declared, {"reads": reads})
        mistakes = [
            *self._port_mistakes(name, reads, writes or {}),
            *self._missing(name, table),
        ]
        file = str(self.declared.path)
        mistakes += self.mistakes(file, name, {**table, "reads": reads})
        mistakes += rate_mistakes(file, name, declaration, table, period_s)
        if mistakes:
            raise ConfigError(mistakes)
        built = built or self.build(table)
        layout = lay_out(declaration)
        words = fill(declaration, layout, values_of(declaration, table), period_s)
        places = layout.places
        paths = {port: f"{name}/{port}" for port in declaration.outputs} | dict(writes or {})
        block = CompiledBlock(
            name,
            built.program,
            words,
            reads,
            paths,
            {port: places["reads", port] for port in declaration.inputs},
            {port: places["writes", port] for port in declaration.outputs},
            {port: places["parameters", port] for port in live},
        )
        if fault := block.prepare():
            words_of_it = self.faults.get(
                fault, f"fault {fault}, which its declaration does not list"
            )
            raise ConfigError([Mistake(file, f"blocks.{name}", words_of_it)])
        return block

    def _port_mistakes(
        self, name: str, reads: Mapping[str, str], writes: Mapping[str, str]
    ) -> Iterator[Mistake]:
        file = str(self.declared.path)
        inputs, outputs = self.reads({"reads": reads}), self.writes()
        for key, given, ports in (("reads", reads, inputs), ("writes", writes, outputs)):
            known = [port.name for port in ports]
            for port in given:
                if port not in known:
                    remedy = f"it has {', '.join(known) or 'none'}"
                    yield Mistake(file, f"blocks.{name}.{key}.{port}", "no such port", remedy)
        for wanted in inputs:
            if not wanted.optional and wanted.name not in reads:
                yield Mistake(file, f"blocks.{name}.reads.{wanted.name}", "not wired", wanted.about)

    def _missing(self, name: str, table: Mapping[str, Any]) -> Iterator[Mistake]:
        for key, parameter in self.declared.declaration.parameters.items():
            if parameter.default is None and table.get(key) is None:
                file = str(self.declared.path)
                yield Mistake(file, f"blocks.{name}.{key}", "missing", parameter.about)


def may_be_live(declaration: Declaration, parameter: str) -> bool:
    """Decide if a parameter may change between two steps: a number, and nothing was prepared of it."""
    found = declaration.parameters.get(parameter)
    return found is not None and found.type == "number" and not declaration.prepare


def wired_parameters(declared: Declared, table: Mapping[str, Any]) -> dict[str, UnitRule]:
    """Return the parameters that a table wires as if they were inputs, each with the rule of its unit."""
    declaration = declared.declaration
    reads = table.get("reads")
    ports = {**declaration.inputs, **declaration.outputs}
    return {
        name: unit_rule(declaration.parameters[name].unit, ports)
        for name in (reads if isinstance(reads, Mapping) else ())
        if name not in ports and may_be_live(declaration, name)
    }


def _type(parameter: Parameter) -> Any:
    types: dict[str, Any] = {
        "number": Real,
        "whole": Whole,
        "list": Annotated[
            list[Real], Field(min_length=parameter.fewest, max_length=parameter.longest)
        ],
        "samples": Line,
        "expression": Annotated[str, Field(min_length=1, max_length=4000)],
    }
    made = Literal[tuple(parameter.choices)] if parameter.choices else types[parameter.type]
    good = parameter.default if parameter.example is None else parameter.example
    return made if good is None else Annotated[made, Field(examples=[good])]


def _field(parameter: Parameter) -> Any:
    words = {">=": "ge", "<=": "le", ">": "gt", "<": "lt"}
    given: dict[str, Any] = {}
    if parameter.type in ("number", "whole"):
        given = {words[sign]: limit for sign, limit in parameter.limits}
    if parameter.default is not None:
        given["default"] = parameter.default
    notes = [] if parameter.unit == "1" else [parameter.unit]
    notes += [f"{sign} {other}" for sign, other in parameter.relations]
    noted = f" [{', '.join(notes)}]" if notes else ""
    return Field(description=f"{parameter.about.rstrip('.')}{noted}.", **given)


def find_declarations(folder: Path) -> dict[str, list[Path]]:
    """Return the declarations in a folder and one level below it, by the name of their kind; none is read."""
    files = sorted([*folder.glob("*.toml"), *folder.glob("*/*.toml")])
    if len(files) > MOST_KINDS:
        problem = f"{len(files)} declarations, at most {MOST_KINDS}"
        raise ConfigError([Mistake(str(folder), "(folder)", problem, "split it")])
    found: dict[str, list[Path]] = {}
    for file in files:
        found.setdefault(file.stem, []).append(file)
    return found


def read_kinds(folder: Path, names: Collection[str] | None = None) -> dict[str, CompiledKind]:
    """Read the blocks declared in a folder and one level below it; nothing is compiled.

    Parameters
    ----------
    names : collection of str, optional
        Read these alone, as far as they are there: a rig takes a few of a library.

    Raises
    ------
    ConfigError
        With every mistake of every declaration, two of one name included.
    """
    kinds: dict[str, CompiledKind] = {}
    mistakes: list[Mistake] = []
    for name, files in find_declarations(folder).items():
        if names is not None and name not in names:
            continue
        for other in files[1:]:
            problem = f"{files[0]} has this name too"
            mistakes.append(Mistake(str(other), "(file)", problem, "rename one"))
        try:
            kinds[name] = CompiledKind(read_declared(files[0]))
        except ConfigError as error:
            mistakes += error.mistakes
    if mistakes:
        raise ConfigError(mistakes)
    return kinds


def library(names: Collection[str] | None = None) -> dict[str, CompiledKind]:
    """Return the blocks that ship, or those of them that are named."""
    return read_kinds(LIBRARY, names)

"""The common part of all blocks on a generated mechanism: their keys, the options of their kernel, and its ports."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, NamedTuple

from pydantic import Field

from codegen.options.option_text import from_table
from codegen.options.options import KernelOptions
from rig_configs import units
from rig_configs.mistakes import ConfigError, Mistake, near
from rig_configs.names import Line
from rig_configs.numbers import Real
from rig_configs.ports import Port, Ports
from rig_configs.schema import BlockTable, Rig

if TYPE_CHECKING:
    from codegen.description.mechanism import Mechanism
    from codegen.description.outputs import Output
    from codegen.system.system import System

FAULT_REMEDY = "look at its inputs in the record just before, and at its parameters and step"


class OnMechanism(BlockTable):
    """A block that is generated from a mechanism."""

    # options of its kernel that are not for a rig to give
    fixed_options: ClassVar[Mapping[str, Any]] = {}

    mechanism: Line
    """The kernel is generated from the shipped mechanism with this name, or from this file:
    `docs/models/mechanisms.md`."""
    options: Annotated[
        dict[str, bool | int | Real | str | list[str]], Field(examples=[{"iterations": 2}])
    ] = {}
    """The kernel is integrated and compiled with these options: `docs/models/options.md`. The step is the period of the
    task."""
    parameters: Annotated[
        dict[str, Real], Field(examples=[{"inertia/wheel/inertia_kg_m2": 0.05}])
    ] = {}
    """These parameters replace those of the mechanism's file."""


def kernel_options(rig: Rig, name: str, file: str = "rig") -> KernelOptions:
    """Return how the kernel of a mechanism block, or that in an observer, integrates and is compiled.

    Raises
    ------
    ConfigError
        With every mistake of its `options`.
    """
    block = rig.blocks[name]
    assert isinstance(block, OnMechanism)
    fixed = {"step_s": rig.period_us(name) * 1e-6, **block.fixed_options}
    if "compiler" in block.options:  # a rig is data: it names no program to be run
        key = f"blocks.{name}.options.compiler"
        problem, remedy = "a rig file names no program", "set CC in the environment"
        raise ConfigError([Mistake(file, key, problem, remedy, block.options["compiler"])])
    try:
        options = from_table(file, block.options, **fixed)
    except ConfigError as error:
        key = f"blocks.{name}.options"
        raise ConfigError(replace(m, key=f"{key}.{m.key}") for m in error.mistakes) from None
    if options.frozen and block.parameters:
        problem = "parameters of a frozen kernel cannot be set"
        remedy = "take out frozen, or write the values into the mechanism"
        raise ConfigError([Mistake(file, f"blocks.{name}.parameters", problem, remedy)])
    return options


class _Facts(NamedTuple):
    mechanism: Mechanism
    ports: Ports
    parameters: Mapping[str, Any]


@cache
def facts(mechanism: str) -> _Facts:
    """Return a mechanism, the ports of its kernel, and its parameters by path.

    Raises
    ------
    ConfigError
        There is no such mechanism, or it is wrong.
    """
    # only where a rig is checked: the cycle process gets one that has been
    from codegen.description.mechanism import load, ports
    from codegen.description.outputs import OWN_PORTS

    found = load(mechanism)
    reads, writes = ports(found)
    shown = {output.port: output for output in found.outputs}
    return _Facts(
        found,
        Ports(
            tuple(_read(name) for name in reads),
            tuple(
                Port(name, "1", OWN[name])
                if name in OWN_PORTS
                else Port(
                    name, _unit_of(shown[name], found.system), "An output of the mechanism's file."
                )
                for name in writes
            ),
        ),
        {p.path: p for p in found.system.parameters},
    )


OWN = {
    "iterations": "The number of iterations of this step.",
    "residual": "The scaled residual of the equations of this step.",
    "status": "0: the step is good; otherwise the code of its failure.",
    "reassembled": "The number of times that the mechanism was assembled again after lost cycles.",
    "singular": "The number of steps at poses where the constraint Jacobian loses rank.",
    "undetermined": "The number of consecutive steps that did not determine a reaction.",
}


def _read(name: str) -> Port:
    about = (
        "The motion that the guide prescribes."
        if name.startswith("guide/")
        else "An input of the mechanism."
    )
    # what the mechanism's file calls it says its unit; a name that says none leaves it open
    return Port(name, units.of_name(name), about)


# by unit of a coordinate: of its value, rate and acceleration, and of what a guide of it gives
OF_COORDINATE = {
    "rad": {"value": "rad", "rate": "rad/s", "acceleration": "rad/s^2", "reaction": "Nm"},
    "m": {"value": "m", "rate": "m/s", "acceleration": "m/s^2", "reaction": "N"},
    "1": {"value": "1", "rate": "1/s", "acceleration": "1/s^2"},
}


def _unit_of(output: Output, system: System) -> str | None:
    """Return the unit of what an output shows; of an expression that of its name, if that says one."""
    if output.kind in ("gain", "undetermined"):
        return "J" if output.kind == "gain" else "1"
    if output.kind == "path":
        suffix = system.value_units.get(output.path)
        if suffix is None:
            return units.of_name(output.port)
        return units.of_name(f"x{suffix}") if suffix else "1"
    of_guide = output.kind == "reaction"
    coordinate = (
        system.guides[output.index].coordinate if of_guide else system.coordinates[output.index]
    )
    return OF_COORDINATE[coordinate.unit].get(output.kind)


def mechanism_mistakes(file: str, rig: Rig, name: str) -> Iterator[Mistake]:
    """Find parameters that a mechanism does not have, or not with such values, and options that do not suit it."""
    block = rig.blocks[name]
    assert isinstance(block, OnMechanism)
    known = facts(block.mechanism).parameters
    for path, value in block.parameters.items():
        key = f"blocks.{name}.parameters.{path}"
        if path not in known:
            yield Mistake(file, key, "no such parameter", near(path, known), value)
        elif problem := known[path].problem(value):
            yield Mistake(file, key, problem, "give a value within its bound", value)
    try:
        options = kernel_options(rig, name, file)
    except ConfigError as error:
        yield from error.mistakes
        return
    from codegen.description.contact import too_short
    from codegen.description.fast_modes import too_fast

    mechanism = facts(block.mechanism).mechanism
    for _, problem, remedy in (*too_short(mechanism, options), *too_fast(mechanism, options)):
        key = f"blocks.{name}.options.substeps"
        yield Mistake(file, key, problem, remedy, options.substeps)

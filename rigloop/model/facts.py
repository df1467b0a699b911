"""The facts about a mechanism, as plain data: for tables, and for `--json`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from codegen.analysis.formulation_costs import FormulationCost, formulation_costs
from codegen.bounds.machine import MachineCosts, machine_costs
from codegen.bounds.step_bound import StepBound, step_bound
from codegen.description.entries import Written, entries
from codegen.description.mechanism import Mechanism, load, ports
from codegen.equations.presolve import presolve
from codegen.kernels import costs
from codegen.kernels.toolchain import BuildError
from codegen.options.options import KernelOptions
from codegen.pose.assembly import Assembled, assemble
from codegen.system.fields import Input
from codegen.system.system import System
from codegen.topology.bodies import GROUND
from codegen.topology.motion import topology

UNITS = {"1": ""}  # a component of a unit vector has none
MASSES = ("mass_kg", "rotor_inertia_kg_m2", "inertia_kg_m2")


class CoordinateFacts(msgspec.Struct, frozen=True):
    """One dependent coordinate; `moved` is how far assembly took it from the file's value."""

    name: str
    unit: str
    value: float
    rate: float
    moved: float
    is_stepped: bool
    """False: linear rows give it, solved when the kernel is generated."""


class RowFacts(msgspec.Struct, frozen=True):
    """One scalar constraint."""

    element: str
    row: str
    coordinates: tuple[str, ...]
    is_linear: bool
    """Solved when the kernel is generated."""


class MassFacts(msgspec.Struct, frozen=True):
    """Masses and inertias of one element."""

    element: str
    mass_kg: float | None
    inertia_kg_m2: tuple[float, ...]


class NamedValue(msgspec.Struct, frozen=True):
    """A parameter or an input, and its value when built."""

    name: str
    value: float


class RedundantRow(msgspec.Struct, frozen=True):
    """A row that follows from others."""

    row: str
    follows_from: tuple[str, ...]


class LinkFacts(msgspec.Struct, frozen=True):
    """One link of the tree: bodies that move as a whole, and the joint that they move by."""

    name: str
    parent: str
    joint: str
    """turn, screw, slide, ball or free."""
    coordinates: tuple[str, ...]
    bodies: tuple[str, ...]


class CutFacts(msgspec.Struct, frozen=True):
    """A condition that the tree does not keep."""

    element: str
    problem: str


class TreeFacts(msgspec.Struct, frozen=True):
    """The spanning tree of the rigid bodies."""

    links: tuple[LinkFacts, ...]
    freedoms: int
    cuts: tuple[CutFacts, ...]
    """None of an open chain: `articulated` takes that."""


class ModelFacts(msgspec.Struct, frozen=True):
    """All that `rigloop model show` prints."""

    name: str
    file: str
    sha256: str
    gravity_m_s2: tuple[float, float, float]
    dof: int
    """Freedoms that the guides leave."""
    is_singular: bool
    coordinates: tuple[CoordinateFacts, ...]
    constraints: tuple[RowFacts, ...]
    redundant: tuple[RedundantRow, ...]
    masses: tuple[MassFacts, ...]
    total_mass_kg: float
    inputs: tuple[NamedValue, ...]
    parameters: tuple[NamedValue, ...]
    outputs: tuple[str, ...]
    states: tuple[str, ...]
    """Internal states of forces."""
    operations: dict[str, int]
    """Operations of one step with `options`: those of the formulation that is advised."""
    options: str
    tree: TreeFacts
    formulations: tuple[FormulationCost, ...]
    """The cost of a step by each."""
    advised: str
    """The formulation that is advised; `reason` says why."""
    reason: str
    bound: StepBound | None
    """The longest time of that step on this machine; None where its costs cannot be measured: no compiler."""
    costs: MachineCosts | None
    """The costs of operations on this machine that the bound is made of."""


def model_facts(
    path: Path, tell: Callable[[str], None] = lambda words: None
) -> tuple[ModelFacts, Mechanism, Assembled]:
    """Read a mechanism file and everything about it; nothing is compiled.

    Parameters
    ----------
    tell : callable
        Takes words about what is done, for somebody who waits.

    Raises
    ------
    MechanismError
        With every mistake of the file.
    """
    tell("reading")
    mechanism = load(path)
    system = mechanism.system
    written = entries(path)
    moved = _moved(written, system)
    assembled = assemble(mechanism)  # type: ignore[arg-type]
    solved = presolve(system)
    gone, linear = set(solved.dependent), set(solved.removed)
    coordinates = tuple(
        CoordinateFacts(
            c.name, UNITS.get(c.unit, c.unit), c.initial, c.initial_rate,
            moved.get(c.name, 0.0), c.index not in gone,
        )
        for c in system.coordinates
    )  # fmt: skip
    by_var = {c.q: c.name for c in system.coordinates}
    rows = []
    for number, row in enumerate(system.rows):
        element, _, words = row.label.partition(" ")
        inside = tuple(by_var[v] for v in system.graph.variables(row.phi) if v in by_var)
        rows.append(RowFacts(element.replace("/", "."), words, inside, number in linear))
    costed = formulation_costs(mechanism, lambda name: tell(f"counting the operations of '{name}'"))
    options = costed.shown
    text = costed.texts.get(options.formulation) or costs.written(path, options)
    tell("bounding the time of a step")
    machine = _machine(options)
    masses = tuple(_masses(written, system))
    facts = ModelFacts(
        name=mechanism.name,
        file=str(path),
        sha256=mechanism.sha256,
        gravity_m_s2=system.gravity,
        dof=assembled.dof,
        is_singular=assembled.is_singular,
        coordinates=coordinates,
        constraints=tuple(rows),
        redundant=tuple(RedundantRow(r.row, tuple(r.others)) for r in assembled.redundant),
        masses=masses,
        total_mass_kg=sum(m.mass_kg or 0.0 for m in masses),
        inputs=tuple(_inputs(mechanism)),
        parameters=tuple(NamedValue(p.path, p.default) for p in system.parameters),
        outputs=tuple(output.port for output in mechanism.outputs),
        states=tuple(state.path for state in system.internals),
        operations=costs.counted(text),
        options=options.text(),
        tree=_tree(system),
        formulations=costed.found,
        advised=costed.advised,
        reason=costed.reason,
        bound=None if machine is None else step_bound(path, options, machine, text),
        costs=machine,
    )
    return facts, mechanism, assembled


def _tree(system: System) -> TreeFacts:
    tree = topology(system).tree
    links = tuple(
        LinkFacts(
            link.name,
            tree.links[link.parent].name if link.parent >= 0 else GROUND,
            link.kind,
            tuple(tree.coordinates[i].name for i in link.coordinates),
            tuple(link.bodies),
        )
        for link in tree.links
    )
    cuts = tuple(CutFacts(cut.element.replace("/", "."), cut.problem) for cut in tree.cuts)
    return TreeFacts(links, sum(link.freedoms for link in tree.links), cuts)


def _machine(options: KernelOptions) -> MachineCosts | None:
    try:
        return machine_costs(options)
    except (BuildError, OSError):
        return None


def _moved(written: list[Written], system: System) -> dict[str, float]:
    """The distance by which assembly took each coordinate from the file's value, above round-off."""
    # the mechanism that `load` returns stands in the closed pose already
    given: dict[str, float] = {}
    for w in written:
        entry = w.entry
        if w.table == "point":
            position = system.vector("position_m", entry.position_m)
            given |= {f"{w.name}_{a}": v for a, v in zip("xyz", position, strict=True)}
        elif w.table == "unit_vector":
            way = system.vector("direction", entry.direction)
            given |= {f"{w.name}_{a}": v for a, v in zip("xyz", way, strict=True)}
        elif w.table == "angle":
            given[w.name] = system.number("initial_rad", entry.initial_rad)
        elif w.table == "distance":
            given[w.name] = system.number("initial_m", entry.initial_m)
    gaps = {c.name: c.initial - given[c.name] for c in system.coordinates if c.name in given}
    return {name: gap for name, gap in gaps.items() if abs(gap) > 1e-12}


def _masses(written: list[Written], system: System) -> Iterator[MassFacts]:
    for w in written:
        if w.table == "flexible_body" and w.name in system.flexible:
            yield MassFacts(w.title, system.flexible[w.name].modes.total_mass, ())
            continue
        found: dict[str, tuple[float, ...]] = {}
        for key in MASSES:
            value = getattr(w.entry, key, None)
            if value is None:
                continue
            parts = value if isinstance(value, tuple) else (value,)
            found[key] = tuple(
                system.number(key, p.input if isinstance(p, Input) else p) for p in parts
            )
        if not any(any(parts) for parts in found.values()):
            continue
        inertia = found.get("inertia_kg_m2") or found.get("rotor_inertia_kg_m2") or ()
        mass = found.get("mass_kg")
        yield MassFacts(w.title, mass[0] if mass else None, inertia if any(inertia) else ())


def _inputs(mechanism: Mechanism) -> Iterator[NamedValue]:
    system = mechanism.system
    reads = ports(mechanism)[0]
    built = [value for guide in system.guides for value in (guide.coordinate.initial, 0.0, 0.0)]
    built += [signal.default for signal in system.signals]
    for port, value in zip(reads, built, strict=True):
        yield NamedValue(port, value)

"""A mechanism in joint coordinates: the same forces, inputs, parameters and outputs over the coordinates of its tree.

Every coordinate of the file is an expression over joint coordinates, which takes its place in whatever forces and
outputs say of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

import numpy as np

from codegen.description.mechanism import Mechanism, MechanismError
from codegen.description.outputs import Output
from codegen.expressions.dag import Expr
from codegen.options.options import BENDING_TREES
from codegen.spatial.algebra import Wrench
from codegen.system.system import System
from codegen.system.vectors import Vector
from codegen.topology.motion import Motion, topology
from codegen.topology.tree import Tree
from codegen.tree.chain import Chain
from codegen.tree.energy import kinetic, potential
from codegen.tree.groups import in_order
from codegen.tree.loads import loads_of
from codegen.tree.places import Coordinates, Places
from codegen.tree.reactions import Reactions
from codegen.tree.stored import KINETIC, StoredPlaces
from codegen.tree.transmission import Loads, transmitted
from rig_configs.mistakes import Mistake

OTHERS = "'semi_recursive' or 'ali3p', which close loops"


@dataclass(frozen=True)
class TreeMechanism:
    """A mechanism in joint coordinates.

    Attributes
    ----------
    made : Mechanism
        With the joints' coordinates; no rows, and no mass matrix.
    source : Mechanism
        The same in the coordinates of its file.
    handed : callable
        Gives the wrench that each joint hands to its link.
    is_looped : bool
        Whether forces and outputs are over what loops store of the links.
    """

    made: Mechanism
    source: Mechanism
    motion: Motion
    chain: Chain
    loads: Loads
    handed: Callable[[], list[Wrench]]
    is_looped: bool


def in_joint_coordinates(
    mechanism: Mechanism,
    most_unrolled: int | None = None,
    *,
    formulation: str = "articulated",
    places: type[StoredPlaces] = StoredPlaces,
    is_ruthless: bool = False,
) -> TreeMechanism:
    """A mechanism that is a tree, in joint coordinates.

    Parameters
    ----------
    most_unrolled : int, optional
        With more coordinates than these, forces and outputs are over what loops store of the links (`stored.py`).
    formulation : str
        The name in the words of mistakes.
    places : type of StoredPlaces
        Places over what loops store.
    is_ruthless : bool
        Bodies that bend are linearised ruthlessly, see `codegen.spatial.modes`.

    Raises
    ------
    MechanismError
        It has loops, or something in it that joint coordinates do not carry: each by name.
    """
    source = mechanism.system
    if source.flexible and formulation not in BENDING_TREES:
        raise MechanismError(flexible(source, formulation))
    motion = topology(source)
    mistakes = no_tree(motion, formulation)
    if mistakes:
        raise MechanismError(mistakes)
    system = _system(source, motion)
    is_looped = most_unrolled is not None and len(system.coordinates) > most_unrolled
    is_looped = is_looped and not source.flexible
    chain = Chain(
        motion,
        system.coordinates,
        system,
        source.graph,
        is_stored=is_looped,
        is_ruthless=is_ruthless,
    )
    for c, inertia in source.masses.of_scalars:
        weights, _ = motion.tree.scalars[c.q]
        ((index, slope),) = weights.items()
        link = next(k for k in chain.links if index in k.coordinates)
        link.rotor = link.rotor + (slope * slope) * inertia
    order = in_order(chain)
    stored = places(chain, order, source.gravity) if is_looped else None
    coordinates = Coordinates(motion, chain, stored or Places(chain))
    move_over(source, system, coordinates)
    loads = loads_of(coordinates, source.pushes)
    handed = stored.handed if stored else partial(transmitted, chain, loads)
    joints = stored.reactions(chain) if stored else Reactions(chain, handed, coordinates.places)
    moving = partial(source.graph.var, KINETIC) if stored else partial(kinetic, chain)
    outputs = tuple(
        output_over(o, source, system, coordinates, joints, moving) for o in mechanism.outputs
    )
    made = Mechanism(mechanism.name, system, outputs, mechanism.sha256)
    return TreeMechanism(made, mechanism, motion, chain, loads, handed, is_looped)


def no_tree(motion: Motion, formulation: str) -> list[Mistake]:
    """Name all that a formulation without rows does not carry: loops, rows of rates, masses that no link has."""
    source = motion.tree.system
    return [
        *_cut(motion.tree, source.file, formulation),
        *_sliding(source, formulation),
        *_uncarried(motion),
    ]


def flexible(source: System, formulation: str) -> list[Mistake]:
    """Bodies that bend, which some sweeps do not carry."""
    problem = f"bends: '{formulation}' is for rigid bodies"
    remedy = "take formulation = 'articulated', or 'ali3p'"
    return [
        Mistake(source.file, f"flexible_body.{name}", problem, remedy) for name in source.flexible
    ]


def move_over(source: System, system: System, coordinates: Coordinates) -> None:
    """States, held values and energies of forces, over the new coordinates."""
    put = coordinates.put
    system.updates = {var: put(e) for var, e in source.updates.items()}
    system.followed = {var: put(e) for var, e in source.followed.items()}
    system.held = [replace(held, value=put(held.value)) for held in source.held]
    system.potential = None if source.potential is None else put(source.potential)


def _cut(tree: Tree, file: str, formulation: str) -> Iterator[Mistake]:
    for cut in tree.cuts:
        remedy = f"take formulation = {OTHERS}"
        yield Mistake(
            file,
            cut.element.replace("/", "."),
            f"{cut.problem}; '{formulation}' is for trees",
            remedy,
        )


def _sliding(source: System, formulation: str) -> Iterator[Mistake]:
    """Rows of rates alone, which no tree keeps."""
    for element in source.sliding:
        problem = f"is a row of rates; '{formulation}' has no rows"
        remedy = "take formulation = 'composite', 'semi_recursive' or 'ali3p'"
        yield Mistake(source.file, element, problem, remedy)


def _uncarried(motion: Motion) -> Iterator[Mistake]:
    """Masses that no link has."""
    tree, system = motion.tree, motion.tree.system
    remedy = f"give it to a rigid_body, or take formulation = {OTHERS}"
    for _, _, var in uncarried(tree):
        if not tree.cuts:
            key = var.name.rpartition("/")[0].replace("/", ".")
            yield Mistake(system.file, key, "is on no rigid body", remedy)
    yield from nameless_masses(system)
    for c, _ in system.masses.of_scalars:
        if len(tree.scalars.get(c.q, ({0: 1.0}, 0.0))[0]) != 1:
            yield Mistake(system.file, c.name, "has inertia and measures several joints", remedy)
    guided = {guide.coordinate.q for guide in system.guides}
    for var in guided:
        if not any(c.scalar is var for c in tree.coordinates) and not tree.cuts:
            yield Mistake(
                system.file, var.name[2:], "is guided and measures no single joint", remedy
            )


def nameless_masses(system: System) -> Iterator[Mistake]:
    """Inertia of which only the mass matrix knows."""
    graph, masses = system.graph, system.masses
    known = {var for parts in masses.of_bodies.values() for var, _ in parts}
    known |= {var for _, var in (*masses.of_points, *masses.of_rods, *masses.of_vectors)}
    for _, inertia in masses.of_scalars:
        known.update(graph.variables(inertia))
    others = {v for e in system.mass.values() for v in graph.variables(e) if v not in known}
    for var in sorted(others, key=lambda v: v.serial):
        key = var.name.rpartition("/")[0].replace("/", ".")
        remedy = f"give it to a rigid_body, or take formulation = {OTHERS}"
        yield Mistake(system.file, key, "has inertia that is no rigid body's", remedy)


def uncarried(tree: Tree) -> Iterator[tuple[str, list[Vector], Expr]]:
    """Points or vectors with mass that no body of the tree has."""
    masses = tree.system.masses
    for kind, points, var in [
        *(("point", [point], var) for point, var in masses.of_points),
        *(("point", list(ends), var) for ends, var in masses.of_rods),
        *(("vector", [vector], var) for vector, var in masses.of_vectors),
    ]:
        if tree.carrier(points, kind) is None:
            yield kind, points, var


def _system(source: System, motion: Motion) -> System:
    """Coordinates, inputs and parameters; nothing that moves them yet."""
    tree = motion.tree
    made = System(source.file, source.names, source.gravity, graph=source.graph)
    rates = start_rates(motion)
    for c, rate in zip(tree.coordinates, rates, strict=True):
        new = made.coordinate(c.name, c.unit, c.initial, rate)
        if c.scalar is not None:
            made.scalars[c.name] = new
    made.parameters, made.signals = source.parameters, source.signals
    made.internals, made.bodies = source.internals, source.bodies
    made.masses, made.carriers = source.masses, source.carriers
    by_name = {c.name: c for c in made.coordinates}
    made.guides = [
        replace(guide, coordinate=by_name[guide.coordinate.name], row=-1) for guide in source.guides
    ]
    return made


def start_rates(motion: Motion) -> list[float]:
    """Rates of the joints that give the file's rates."""
    source = motion.tree.system
    wanted = np.array([c.initial_rate for c in source.coordinates])
    if not wanted.any():
        return [0.0] * len(motion.tree.coordinates)
    slopes = motion.jacobian(motion.start)
    known = [c for c in source.coordinates if c.q in slopes]
    wanted = np.array([c.initial_rate for c in known])
    matrix = np.array([slopes[c.q] for c in known])
    exact = {c.q: c.initial_rate for c in source.coordinates}
    found = np.linalg.lstsq(matrix, wanted, rcond=None)[0]
    return [
        exact[c.scalar] if c.scalar is not None else float(f"{v:.14g}")
        for c, v in zip(motion.tree.coordinates, found, strict=True)
    ]


class JointForces(Protocol):
    """Finds reactions of joints, such as `revolute/elbow/fx_n`; None where a path is none."""

    def of(self, path: str) -> Expr | None: ...


def output_over(
    output: Output,
    source: System,
    system: System,
    coordinates: Coordinates,
    joints: JointForces,
    moving: Callable[[], Expr],
) -> Output:
    """An output of the file over other coordinates."""
    if output.kind in ("reaction", "gain") or (output.kind == "undetermined" and not output.path):
        return output
    path = output.path if output.kind == "path" else f"outputs/{output.port}"
    energies = {
        "outputs/energy": lambda: moving() + potential(system),
        "outputs/energy.kinetic": moving,
    }
    if output.kind == "undetermined":
        made = source.graph.zero  # a tree determines all reactions
    elif path in energies and output.kind == "path":
        made = energies[path]()
    elif output.kind == "path" and (reaction := joints.of(path)) is not None:
        made = reaction
    elif output.kind == "path":
        made = coordinates.put(source.values[path])
    else:
        part = ("value", "rate", "acceleration").index(output.kind)
        made = coordinates.of(source.coordinates[output.index].q, part)
    system.values[path] = made
    return Output(output.port, "path", 0, path)

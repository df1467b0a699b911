"""A mechanism over the coordinates of its particles: forces, inputs, parameters and outputs of the file follow them.

Angles and distances of the file that measure joints stay coordinates beside those of the particles, for turns of more
than one revolution; what they do follows from the particles.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from types import SimpleNamespace

import numpy as np

from codegen.closed_trees.closed import pushes_with_rows
from codegen.description.mechanism import Mechanism, MechanismError
from codegen.expressions.dag import Expr
from codegen.particles.four import Four, chosen
from codegen.particles.momenta import Acting, kinetic, masses_of
from codegen.particles.moving import Moving, Triple
from codegen.spatial.algebra import ZERO
from codegen.system.masses import Share
from codegen.system.quantities import Coordinate
from codegen.system.system import System
from codegen.system.vectors import Vector, plus, times
from codegen.topology.closing import Closing, closing
from codegen.topology.motion import Motion, topology
from codegen.tree.chain import shares_on_links
from codegen.tree.loads import pushed
from codegen.tree.mechanism import (
    flexible,
    move_over,
    nameless_masses,
    output_over,
    start_rates,
    uncarried,
)
from codegen.tree.places import Coordinates, Places
from codegen.tree.reactions import of_joint
from rig_configs.mistakes import Mistake

MOST = 64  # coordinates: the equations are one dense system
REMEDY = "take formulation = 'articulated'"


@dataclass(frozen=True)
class ParticleMechanism:
    """A mechanism over the coordinates of its particles.

    Attributes
    ----------
    made : Mechanism
        With the coordinates of the particles first, and those of angles and distances after them.
    source : Mechanism
        The same in the coordinates of its file.
    spots : dict of (int, int) to int
        The first of the three coordinates of particle k of link n.
    measured : dict of int to Coordinate
        Angles and distances by the joint coordinate that they are.
    closes, closed, lams : Closing, list of Expr and list of Expr
        Rows that close loops: in the file, over particles, and their multipliers in parts of `total_kg`.
    """

    made: Mechanism
    source: Mechanism
    motion: Motion
    fours: list[Four]
    spots: dict[tuple[int, int], int]
    measured: dict[int, Coordinate]
    moving: Moving
    masses: list[list[list[Expr]]]
    acting: Acting
    closes: Closing
    closed: list[Expr]
    lams: list[Expr]
    total_kg: float


class ParticlePlaces(Places):
    """Points and directions of links over particles."""

    def __init__(self, moving: Moving) -> None:
        self._moving = moving

    def place(self, n: int, at: Vector, *, is_point: bool) -> Triple:
        """A point or direction of a link."""
        return self._moving.place(n, at, head=float(is_point))


@dataclass
class _Chain:
    """Joints whose coordinates stay, as `Coordinates` asks for them."""

    graph: object
    links: list[SimpleNamespace] = field(default_factory=list)


class _NoForces:
    """Forces within joints, which momenta leave out."""

    def of(self, path: str) -> None:
        return None


def in_particles(mechanism: Mechanism) -> ParticleMechanism:
    """A small mechanism of rigid bodies, over particles; rows close the loops that its tree leaves open.

    Raises
    ------
    MechanismError
        It is large, or has something that momenta of particles do not carry: each by name.
    """
    source = mechanism.system
    if source.flexible:
        raise MechanismError(flexible(source, "particles"))
    motion = topology(source)
    mistakes = list(_refused(mechanism, motion))
    if mistakes:
        raise MechanismError(mistakes)
    parts, moments = _weighed(motion)
    fours = chosen(motion, moments)
    system, spots, measured = _system(source, motion, fours)
    graph, made = source.graph, system.coordinates
    if len(made) > MOST:
        words = f"has {len(made)} coordinates of particles; 'particles' solves up to {MOST} at once"
        raise MechanismError([Mistake(source.file, "file", words, REMEDY)])

    def own(_: Moving, n: int, k: int) -> Triple:
        x, y, z = (made[spots[n, k] + axis] for axis in range(3))
        bent = [graph.var(f"qdd {c.index}") for c in (x, y, z)]
        return (x.q, y.q, z.q), (x.qd, y.qd, z.qd), (bent[0], bent[1], bent[2])

    moving = Moving(graph, motion, fours, own)
    masses = [
        masses_of(graph, shares, four.places) for shares, four in zip(parts, fours, strict=True)
    ]
    rotors = _rotors(source, motion)
    chain = _Chain(graph)
    for i, c in measured.items():
        bent = graph.var(f"qdd {c.index}")
        chain.links.append(
            SimpleNamespace(coordinates=(i,), q=[c.q], qd=[c.qd], qdd=[bent], modes=None)
        )
    coordinates = Coordinates(motion, chain, ParticlePlaces(moving))  # type: ignore[arg-type]
    move_over(source, system, coordinates)
    closes = closing(motion) if motion.tree.cuts else Closing([], [])
    total = float(sum(moment[0, 0] for moment in moments)) or 1.0
    lams = [graph.var(f"closing {k}") for k in range(len(closes.rows) + len(closes.parted))]
    forces, pushes = pushed(
        coordinates, pushes_with_rows(source, closes, [total * lam for lam in lams])
    )
    for part, lam in zip(closes.parted, lams[len(closes.rows) :], strict=True):
        key = (part.link, tuple(map(float, part.place)))
        way = tuple(float(axis == part.axis) for axis in range(3))
        held = pushes.get(key, ZERO)
        pushes[key] = plus(held, times(total * lam, way))  # type: ignore[arg-type]
    acting = Acting(source.gravity, forces, {k: v for k, v in pushes.items() if k[0] >= 0}, rotors)
    closed = [coordinates.put(source.rows[r].phi) for r in closes.rows]
    for part in closes.parted:
        here = [(k, coordinates.of(var, 0)) for var, k in part.weights.items()]
        there = moving.place(part.link, part.place[1:], head=float(part.place[0]))
        closed.append(graph.total([*here, (-1.0, there[0][part.axis])]) + part.offset)
    energy = partial(kinetic, moving, masses, rotors)
    outputs = tuple(
        output_over(o, source, system, coordinates, _NoForces(), energy) for o in mechanism.outputs
    )
    whole = Mechanism(mechanism.name, system, outputs, mechanism.sha256)
    return ParticleMechanism(
        made=whole,
        source=mechanism,
        motion=motion,
        fours=fours,
        spots=spots,
        measured=measured,
        moving=moving,
        masses=masses,
        acting=acting,
        closes=closes,
        closed=closed,
        lams=lams,
        total_kg=total,
    )


@dataclass(frozen=True)
class Layout:
    """Coordinates of particles without their equations; as `ParticleMechanism`."""

    names: list[str]
    fours: list[Four]
    spots: dict[tuple[int, int], int]
    measured: dict[int, Coordinate]


def layout(motion: Motion) -> Layout:
    """The coordinates that `in_particles` gives a mechanism with this tree."""
    fours = chosen(motion, _weighed(motion)[1])
    system, spots, measured = _system(motion.tree.system, motion, fours)
    return Layout([c.name for c in system.coordinates], fours, spots, measured)


def _weighed(motion: Motion) -> tuple[list[list[Share]], list[np.ndarray]]:
    """Masses of each link, and their integral of x x^T in the pose of the file."""
    parts: list[list[Share]] = [[] for _ in motion.tree.links]
    for link, share in shares_on_links(motion, motion.tree.system):
        if link >= 0:
            parts[link].append(share)
    value = motion.tree.graph.value
    return parts, [
        sum((value(var) * matrix for var, matrix in shares), np.zeros((4, 4))) for shares in parts
    ]


def _refused(mechanism: Mechanism, motion: Motion) -> Iterator[Mistake]:
    """Name all that momenta of particles leave out."""
    source, tree = mechanism.system, motion.tree
    yield from nameless_masses(source)
    for c in motion.loose:
        problem = "is on no rigid body, and measures no joint; 'particles' has bodies alone"
        yield Mistake(source.file, c.name, problem, "take formulation = 'semi_recursive'")
    for _, _, var in uncarried(tree):
        key = var.name.rpartition("/")[0].replace("/", ".")
        yield Mistake(source.file, key, "is on no rigid body", "give it to a rigid_body")
    for c, _ in source.masses.of_scalars:
        if len(tree.scalars.get(c.q, ({0: 1.0}, 0.0))[0]) != 1:
            problem = "has inertia and measures several joints"
            yield Mistake(source.file, c.name, problem, "give it to a rigid_body")
    for element in source.sliding:
        problem = "is a row of rates; 'particles' takes rows of places alone"
        yield Mistake(source.file, element, problem, "take formulation = 'composite'")
    for link in tree.links:
        if link.kind == "screw":
            problem = "moves along a screw; 'particles' takes pins, slides, balls and free bodies"
            yield Mistake(source.file, f"rigid_body.{link.name}", problem, REMEDY)
    for guide in source.guides:
        problem = "is guided; in 'particles' nothing is given but forces"
        yield Mistake(source.file, f"guide.{guide.name}", problem, REMEDY)
    for output in mechanism.outputs:
        key, path = f"outputs.{output.port}", output.path or ""
        if output.kind == "gain":
            problem = "the gain of a step is weighed in natural coordinates only"
            yield Mistake(source.file, key, problem, "leave it out, or take formulation = 'ali3p'")
        elif of_joint(source, path) or _shows_rows(source, path):
            problem = "shows a force within a joint, which momenta leave out"
            yield Mistake(source.file, key, problem, f"leave it out, or {REMEDY}")


def _shows_rows(source: System, path: str) -> bool:
    value = source.values.get(path)
    inside = [] if value is None else source.graph.variables(value)
    return any(var.name.startswith("row_lam ") for var in inside)


def _rotors(source: System, motion: Motion) -> Mapping[int, Expr]:
    """Inertia that an angle or distance carries by itself, by joint coordinates."""
    found: dict[int, Expr] = {}
    for c, inertia in source.masses.of_scalars:
        ((index, slope),) = motion.tree.scalars[c.q][0].items()
        found[index] = found.get(index, source.graph.zero) + (slope * slope) * inertia
    return found


def _system(
    source: System, motion: Motion, fours: Sequence[Four]
) -> tuple[System, dict[tuple[int, int], int], dict[int, Coordinate]]:
    """Coordinates, inputs and parameters; nothing that moves them yet."""
    tree = motion.tree
    made = System(source.file, source.names, source.gravity, graph=source.graph)
    taken = {c.name for c in source.coordinates}
    rates = np.array(start_rates(motion))
    ahead = motion.poses(motion.start + 1e-30j * rates)
    spots: dict[tuple[int, int], int] = {}
    for n, (link, four) in enumerate(zip(tree.links, fours, strict=True)):
        for k in four.own:
            label = f"{link.name.replace(' ', '_')}_p{k + 1}"
            while any(f"{label}_{axis}" in taken for axis in "xyz"):
                label += "_"
            at = np.array([1.0, *four.places[k]])
            place, rate = motion.frames[n] @ at, (ahead[n] @ at).imag / 1e-30
            spots[n, k] = len(made.coordinates)
            for axis, letter in enumerate("xyz", 1):
                start = float(f"{place[axis]:.15g}")
                made.coordinate(f"{label}_{letter}", "m", start, float(f"{rate[axis]:.14g}"))
    asked = sorted({i for weights, _ in tree.scalars.values() for i in weights})
    measured: dict[int, Coordinate] = {}
    for i in asked:
        c = tree.coordinates[i]
        measured[i] = made.coordinate(c.name, c.unit, c.initial, float(rates[i]))
        if c.scalar is not None:
            made.scalars[c.name] = measured[i]
    made.parameters, made.signals = source.parameters, source.signals
    made.internals, made.bodies = source.internals, source.bodies
    made.masses, made.carriers = source.masses, source.carriers
    return made, spots, measured

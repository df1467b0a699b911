"""A mechanism with loops over the coordinates of its spanning tree: mass matrix, forces, rows that close the loops.

    mass(z) zdd + phi_z^T lam = force(z, zd),   phi(z) = 0

What is on no rigid body keeps the coordinates of the file, beside those of the joints. Rows are those of the file that
the tree does not keep, places that bodies share, and the length of each quaternion.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from codegen.closed_trees.closed_outputs import ROW, ClosedOutputs
from codegen.closed_trees.loose import loose_mass
from codegen.closed_trees.row_slopes import RowsOverJoints
from codegen.closed_trees.tangent import tangent
from codegen.description.mechanism import Mechanism, MechanismError
from codegen.expressions.dag import Expr
from codegen.spatial.quaternions import length2
from codegen.system.masses import Masses
from codegen.system.quantities import Coordinate, Guide, Row, RowSlopes
from codegen.system.system import System
from codegen.topology.closed_rates import closed_rates
from codegen.topology.closing import Closing, closing
from codegen.topology.following import follow
from codegen.topology.motion import Motion, keep_guided, topology
from codegen.tree.chain import Chain
from codegen.tree.composite import composite_forces, composite_mass
from codegen.tree.loads import loads_of, push_on
from codegen.tree.mechanism import move_over, nameless_masses, start_rates
from codegen.tree.places import Coordinates, Places
from codegen.tree.reactions import Reactions
from codegen.tree.transmission import Loads, transmitted
from rig_configs.mistakes import Mistake


@dataclass(frozen=True)
class ClosedTree:
    """A mechanism in the coordinates of its tree, with rows.

    Attributes
    ----------
    made : Mechanism
        Its mass matrix and forces depend on the pose, and forces have in them what the rates ask for.
    source : Mechanism
        The same in the coordinates of its file.
    closing : Closing
        The rows, by their numbers in the file, and the places that bodies share.
    loose : Masses
        Masses that no link carries.
    shown : ClosedOutputs
        Finds what expressions of the file are over the new coordinates.
    """

    made: Mechanism
    source: Mechanism
    motion: Motion
    chain: Chain
    closing: Closing
    loose: Masses
    shown: ClosedOutputs


def closed_tree(
    mechanism: Mechanism, formulation: str = "semi_recursive", *, is_ruthless: bool = False
) -> ClosedTree:
    """A mechanism over the coordinates of its tree.

    Raises
    ------
    MechanismError
        Something in it is not carried by joint coordinates: each by name.
    """
    source = mechanism.system
    motion = topology(source)
    mistakes = [*nameless_masses(source), *left_closed(motion)]
    if mistakes:
        raise MechanismError(mistakes)
    keep_guided(motion)
    closes = closing(motion)
    rates = start_rates(motion)
    if source.flexible:
        rates = closed_rates(motion, closes, rates)
    closes = follow(motion, closes, _shown_rows(mechanism))
    system, own = _system(source, motion, rates)
    system.masses, left = _split(source.masses, motion)
    chain = Chain(motion, system.coordinates, system, source.graph, is_ruthless=is_ruthless)
    for c, inertia in system.masses.of_scalars:
        ((index, slope),) = motion.tree.scalars[c.q][0].items()
        link = next(k for k in chain.links if index in k.coordinates)
        link.rotor = link.rotor + (slope * slope) * inertia
    coordinates = Coordinates(motion, chain, Places(chain), own)
    move_over(source, system, coordinates)
    loads = loads_of(coordinates, source.pushes)
    forces = composite_forces(chain, loads)
    forces |= {c.index: loads.forces.get(c.index, source.graph.zero) for c in own.values()}
    system.mass = composite_mass(chain)
    asked: dict[int, Expr] = {}
    loose_mass(system, left, coordinates, asked)
    for i, e in asked.items():
        forces[i] = forces.get(i, source.graph.zero) + e
    if not source.flexible:
        system.tangent = partial(tangent, coordinates, system, asked)
    system.mass = {key: e for key, e in sorted(system.mass.items()) if not e.is_zero}
    system.force = {i: e for i, e in sorted(forces.items()) if not e.is_zero}
    numbers = _close(system, source, coordinates, closes)
    if not source.flexible:
        system.row_slopes = partial(_row_slopes, source, coordinates, closes)
    lams = [source.graph.var(f"row_lam {n}") for n in range(len(numbers) + len(closes.parted))]
    handed = partial(transmitted, chain, _with_rows(coordinates, closes, lams))
    joints = Reactions(chain, handed, coordinates.places)
    shown = ClosedOutputs(source, system, coordinates, joints, numbers)
    outputs = tuple(shown.output(output) for output in mechanism.outputs)
    if shown.mistakes:
        raise MechanismError(shown.mistakes)
    made = Mechanism(mechanism.name, system, outputs, mechanism.sha256)
    return ClosedTree(made, mechanism, motion, chain, closes, left, shown)


def _shown_rows(mechanism: Mechanism) -> set[int]:
    """Rows whose multipliers outputs show."""
    system = mechanism.system
    values = [system.values[o.path] for o in mechanism.outputs if o.path in system.values]
    names = [var.name for e in values for var in system.graph.variables(e)]
    return {int(name.removeprefix(ROW)) for name in names if name.startswith(ROW)}


def left_closed(motion: Motion) -> Iterator[Mistake]:
    """Loops that the `cuts` of a mechanism file leave, each as a mistake of the element that closes it."""
    tree = motion.tree
    if not tree.system.cuts:
        return
    for cut in tree.cuts:
        if cut.element not in tree.system.cuts and "closes a loop" in cut.problem:
            problem = f"{cut.problem}, which `cuts` leaves"
            remedy = "add it to cuts, or leave cuts out: the cheapest are found"
            yield Mistake(tree.system.file, cut.element.replace("/", "."), problem, remedy)


def _system(
    source: System, motion: Motion, rates: Sequence[float]
) -> tuple[System, dict[Expr, Coordinate]]:
    """Coordinates, inputs and parameters, nothing that moves them yet; and those of the file that stay."""
    made = System(source.file, source.names, source.gravity, graph=source.graph)
    tree = motion.tree
    for c, rate in zip(tree.coordinates, rates, strict=True):
        new = made.coordinate(c.name, c.unit, c.initial, rate)
        if c.scalar is not None:
            made.scalars[c.name] = new
    taken, own = {c.name for c in made.coordinates}, {}
    for old in motion.loose:
        name = old.name
        while name in taken:
            name += "_"
        taken.add(name)
        own[old.q] = made.coordinate(name, old.unit, old.initial, old.initial_rate)
        if old.name in source.scalars:
            made.scalars[name] = own[old.q]
    made.parameters, made.signals = source.parameters, source.signals
    made.internals, made.bodies = source.internals, source.bodies
    made.carriers = source.carriers
    return made, own


def _split(masses: Masses, motion: Motion) -> tuple[Masses, Masses]:
    """Masses that links carry, and all others."""
    tree = motion.tree
    mine: tuple[Masses, Masses] = Masses(), Masses()
    for name, parts in masses.of_bodies.items():
        mine[name not in tree.place].of_bodies[name] = parts
    for point, var in masses.of_points:
        mine[tree.carrier([point]) is None].of_points.append((point, var))
    for ends, var in masses.of_rods:
        mine[tree.carrier(list(ends)) is None].of_rods.append((ends, var))
    for vector, var in masses.of_vectors:
        mine[tree.carrier([vector], "vector") is None].of_vectors.append((vector, var))
    for c, var in masses.of_scalars:
        measures = tree.scalars.get(c.q)
        joints = set() if measures is None else measures[0].keys()
        is_joint = len(joints) == 1 and max(joints) < len(tree.coordinates)
        mine[not is_joint].of_scalars.append((c, var))
    return mine


def _close(
    system: System, source: System, coordinates: Coordinates, closes: Closing
) -> dict[int, int]:
    """Add the rows; returns the numbers of the file's rows here."""
    graph, numbers = source.graph, {}
    for r in closes.rows:
        numbers[r] = len(system.rows)
        row = source.rows[r]
        sliding = None if row.sliding is None else coordinates.put(row.sliding)
        system.rows.append(replace(row, phi=coordinates.put(row.phi), sliding=sliding))
    for part in closes.parted:
        here = [(k, coordinates.of(var, 0)) for var, k in part.weights.items()]
        there = coordinates.on(part.link, part.place, part.axis)
        phi = graph.total([*here, (-1.0, there)]) + part.offset
        system.rows.append(Row(part.label, phi))
    for link in coordinates.chain.links:
        if link.kind in ("ball", "free"):
            phi = 0.5 * (length2(link.q[-4:]) - 1.0)
            system.rows.append(Row(f"rigid_body/{link.name} quaternion", phi))
    for guide in source.guides:
        place = coordinates.index(guide.coordinate.q)
        assert place is not None  # others are refused before
        own = system.coordinates[place]
        system.guides.append(Guide(guide.name, own, numbers[guide.row], guide.inputs))
    return numbers


def _row_slopes(source: System, coordinates: Coordinates, closes: Closing) -> dict[int, RowSlopes]:
    """Slopes of all rows but those of rates, by their numbers here; those of quaternions are plain."""
    over, found = RowsOverJoints(coordinates), {}
    for n, r in enumerate(closes.rows):
        if source.rows[r].sliding is None:
            found[n] = over.of_row(source.rows[r].phi)
    for n, part in enumerate(closes.parted):
        found[len(closes.rows) + n] = over.of_parted(part)
    return found


def pushes_with_rows(
    source: System, closes: Closing, lams: Sequence[Expr]
) -> dict[int, list[Expr]]:
    """Return the forces on the file's coordinates, with the multipliers of rows and of places that bodies share."""
    graph = source.graph
    pushes = {i: list(terms) for i, terms in source.pushes.items()}
    owned = {c.q: c.index for c in source.coordinates}
    for r, lam in zip(closes.rows, lams, strict=False):
        phi = source.rows[r].phi
        for var in graph.variables(phi):
            if var in owned:
                pushes.setdefault(owned[var], []).append(-graph.diff(phi, var) * lam)
        for i, slope in source.slopes_of_rates(source.rows[r]).items():
            pushes.setdefault(i, []).append(-slope * lam)
    for part, lam in zip(closes.parted, lams[len(closes.rows) :], strict=True):
        for var, weight in part.weights.items():
            pushes.setdefault(owned[var], []).append(-weight * lam)
    return pushes


def _with_rows(coordinates: Coordinates, closes: Closing, lams: Sequence[Expr]) -> Loads:
    """All that acts on the links, with the multipliers of the rows."""
    source = coordinates.motion.tree.system
    loads = loads_of(coordinates, pushes_with_rows(source, closes, lams))
    for part, lam in zip(closes.parted, lams[len(closes.rows) :], strict=True):
        force = [source.graph.zero] * 3
        force[part.axis] = lam
        push_on(coordinates, loads, part.link, part.place, (force[0], force[1], force[2]))
    return loads

"""Forces on the file's coordinates as forces of joints and wrenches on links."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from codegen.expressions.dag import Expr
from codegen.spatial.algebra import NO_WRENCH, ZERO, Wrench
from codegen.system.system import System
from codegen.system.vectors import Vector, cross, plus
from codegen.tree.places import Coordinates
from codegen.tree.transmission import Loads


def loads_of(coordinates: Coordinates, given: Mapping[int, list[Expr]]) -> Loads:
    """Forces on the file's coordinates, by their numbers, as forces of joints and wrenches on links."""
    loads = Loads(gravity=coordinates.motion.tree.system.gravity)
    loads.forces, pushes = pushed(coordinates, given)
    for (n, at), push in pushes.items():
        push_on(coordinates, loads, n, at, push)
    return loads


def pushed(
    coordinates: Coordinates, given: Mapping[int, list[Expr]]
) -> tuple[dict[int, Expr], dict[tuple[int, tuple[float, ...]], Vector]]:
    """Forces on the file's coordinates as forces of joints, and as those on places (1, position) or (0, direction) of
    links, in the axes of the ground.
    """
    motion, tree = coordinates.motion, coordinates.motion.tree
    source, forces = tree.system, {}
    graph = source.graph
    pushes: dict[tuple[int, tuple[float, ...]], list[Expr]] = {}
    for index, terms in sorted(undefined(source, given).items()):
        c = source.coordinates[index]
        force: Expr = coordinates.put(graph.total((1.0, e) for e in terms))
        if force.is_zero:
            continue
        if c.q in coordinates.own:
            forces[coordinates.own[c.q].index] = force
            continue
        if c.q in tree.scalars:
            for i, k in tree.scalars[c.q][0].items():
                forces[i] = graph.total([(1.0, forces.get(i, graph.zero)), (k, force)])
            continue
        n, place, axis = motion.on_links[c.q]
        pushes.setdefault((n, tuple(map(float, place))), [graph.zero] * 3)[axis] = force
    return forces, {key: (x, y, z) for key, (x, y, z) in pushes.items()}


def undefined(source: System, given: Mapping[int, list[Expr]]) -> dict[int, list[Expr]]:
    """Forces on coordinates that rows define as forces on those that they are defined by."""
    found = {index: list(terms) for index, terms in given.items()}
    for var, (e, _) in source.defined.items():
        defined = source.owner(var)
        assert defined is not None
        force = source.graph.total((1.0, term) for term in found.pop(defined.index, []))
        if force.is_zero:
            continue
        for inside in source.graph.variables(e):
            owner = source.owner(inside)
            assert owner is not None
            found.setdefault(owner.index, []).append(source.graph.diff(e, inside) * force)
    return found


def push_on(
    coordinates: Coordinates, loads: Loads, n: int, place: Iterable[float], force: Vector
) -> None:
    """Add a force, in the axes of the ground, on a place of a link; one on a direction's end turns only."""
    if n < 0:
        return
    head, *at = map(float, place)
    push = coordinates.places.into(n, force)
    moment, force_n = cross((at[0], at[1], at[2]), push), push if head == 1.0 else ZERO
    kept = loads.wrenches.get(n, NO_WRENCH)
    loads.wrenches[n] = Wrench(plus(kept.moment, moment), plus(kept.force, force_n))

"""The node on which a body hangs: it moves with that body when the amplitudes of what bends move."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from codegen.expressions.dag import Expr
from codegen.topology.bodies import GROUND, Graph, Piece
from codegen.topology.families import Families
from codegen.topology.linear import equations_of, null_space


def touching(graph: Graph, pairs: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Pairs of bodies, each of those of two families but for the one that meets there."""
    families = graph.families
    found: dict[tuple[str, str], None] = {}
    done: set[frozenset[str]] = set()
    for first, second in pairs:
        heads = families.head(first), families.head(second)
        if heads[0] == heads[1]:
            if heads[0] in (first, second):
                found[(second, first) if first == heads[0] else (first, second)] = None
            continue
        if frozenset(heads) in done:
            continue
        done.add(frozenset(heads))
        if not any(head in families.bodies for head in heads):
            found[first, second] = None
            continue
        found[_meeting(heads, graph)] = None
    return list(found)


def _meeting(heads: tuple[str, str], graph: Graph) -> tuple[str, str]:
    """The bodies of two families whose motions beside each other are the fewest, whatever bends."""
    motions, places = _motions(heads, graph)
    best, least = heads, np.inf
    count = graph.freedom(*heads).count
    for one in _members(heads[0], graph.families):
        for other in _members(heads[1], graph.families):
            twists = _twist(one, motions, places, 0, graph)
            twists = twists - _twist(other, motions, places, 1, graph)
            sizes = np.linalg.svd(twists, compute_uv=False)
            left = sizes[count] if len(sizes) > count else 0.0
            if left < least - 1e-6:
                best, least = (one, other), left
    return best


def _members(head: str, families: Families) -> list[str]:
    return [head, *(label for label, (body, _) in families.nodes.items() if body.name == head)]


def _twist(
    name: str, motions: np.ndarray, places: dict[Expr, int], side: int, graph: Graph
) -> np.ndarray:
    """Twist of a member of the first or second family, for each of some motions of all coordinates."""
    twist = motions[6 * side : 6 * side + 6]
    nodes = graph.families.nodes
    if name not in nodes:
        return twist
    body, node = nodes[name]
    pose = graph.pieces[body.name].pose
    axes = pose[1:, 1:] @ body.turn
    at = body.frame.body.built[1:, 0] + body.turn @ (body.shift + node.position)
    at = (pose @ np.array([1.0, *at]))[1:]
    omega, velocity = axes @ node.shape[3:], axes @ node.shape[:3]
    velocity = velocity + np.cross(at, omega, axisb=0).T
    rates = motions[[places[c.q] for c in body.amplitudes]]
    return twist + np.vstack([omega, velocity]) @ rates


def _motions(heads: tuple[str, str], graph: Graph) -> tuple[np.ndarray, dict[Expr, int]]:
    """All motions of two bodies that their rows allow when the amplitudes move too: [twists; rates], in columns."""
    system = graph.system
    both = [graph.pieces[name] for name in heads if name != GROUND]
    inside = frozenset().union(*(_uses(piece, graph) for piece in both))
    shapes = {
        c.q for name in heads for b in [graph.families.bodies.get(name)] if b for c in b.amplitudes
    }
    inside |= shapes | {
        var
        for var, (e, _) in system.defined.items()
        if any(v in shapes for v in system.graph.variables(e))
    }
    rows = []
    for r, row in enumerate(system.rows):
        members = {v for v in system.graph.variables(row.phi) if v in graph.owned}
        others = members - inside
        if members & inside and r not in graph.cut and all(v in graph.scalars for v in others):
            rows.append((row.phi, members))
    variables = sorted(inside.union(*(m for _, m in rows)), key=lambda e: e.serial)
    places = {v: 12 + n for n, v in enumerate(variables)}
    lines = []
    for number, piece in enumerate(both):
        for weights, twist in equations_of(piece.body, lambda e: e, graph.value) or []:
            line = np.zeros(12 + len(places))
            line[6 * number : 6 * number + 6] = -twist
            for var, weight in weights.items():
                line[places[var]] += weight
            lines.append(line)
    if GROUND in heads:
        lines += list(np.eye(6, 12 + len(places), 6))
    for phi, members in rows:
        line = np.zeros(12 + len(places))
        for v in members:
            line[places[v]] += graph.value(system.graph.diff(phi, v))
        lines.append(line)
    return null_space(np.array(lines)), places


def _uses(piece: Piece, graph: Graph) -> frozenset[Expr]:
    """Coordinates of a body, none held."""
    return frozenset(
        v
        for generator in piece.body.generators
        for e in generator
        if isinstance(e, Expr)
        for v in graph.system.graph.variables(e)
        if v in graph.owned
    )

"""Forward and inverse dynamics of a tree: two sweeps over the links, tips to root and back.

    inwards    D = h^T A h,  u = tau - h^T p,   A' = A - A h D^-1 h^T A,   p' = p + A' c + A h D^-1 u
    outwards   qdd = D^-1 (u - h^T A a'),   a = a' + h qdd,   a' = X a(parent) + c

A is the articulated inertia of a link and p the wrench that it takes to keep the rates; what reaches the parent is
X^T A' X and X^T p'. A joint whose motion is given hands on A itself, with its acceleration in c.

Source: Featherstone 1983; as innovations factorisation of the mass matrix Rodriguez, Jain and Kreutz-Delgado 1991.
"""

from __future__ import annotations

from dataclasses import dataclass

from codegen.expressions.dag import Expr
from codegen.spatial.algebra import (
    NO_WRENCH,
    ZERO,
    Inertia,
    Matrix,
    Value,
    Wrench,
    apply,
    symmetric,
    transposed,
    without_joint,
)
from codegen.spatial.bent import Bent
from codegen.spatial.factors import Factor, factored, substituted
from codegen.system.vectors import Vector, dot, minus, plus, times
from codegen.topology.joints import SINGLE
from codegen.tree.chain import ChainLink, Links
from codegen.tree.transmission import Loads, beside, bias_of, carried, with_joint


@dataclass
class Open:
    """Results of the inward sweep for the outward one: `gain` is A h D^-1, on alpha and a; `drive` is D^-1 u."""

    gain: Wrench = NO_WRENCH
    drive: Value = 0.0
    factor: Factor | None = None
    inertia: Inertia | None = None
    bias: Wrench = NO_WRENCH
    bent: Bent | None = None


def accelerations(chain: Links, loads: Loads) -> dict[int, Expr]:
    """Second derivatives of all joint coordinates that are not given."""
    found: dict[int, Expr] = {}
    inner: list[Inertia | None] = [None] * len(chain.links)
    pulls: list[Wrench] = [bias_of(chain, link, loads, n) for n, link in enumerate(chain.links)]
    opened: list[Open] = [Open() for _ in chain.links]
    for link, at in zip(chain.links, opened, strict=True):
        at.bent = None if link.modes is None else Bent(link.modes, link.omega, loads.forces)
    for n in reversed(range(len(chain.links))):
        link = chain.links[n]
        assert link.inertia is not None
        own, hanging = link.inertia, inner[n]
        inertia = own.plus(hanging) if hanging is not None else own
        bent = opened[n].bent
        if bent is not None:
            inertia, pulls[n] = bent.let_go(inertia, pulls[n])
        left, pull = open_joint(chain, link, inertia, pulls[n], loads, opened[n])
        if link.parent < 0:
            continue
        if link.node is not None:
            frame, turn = opened[link.parent].bent, link.node.turn
            assert frame is not None
            frame.hang(link.node, turn.inertia_out(left), turn.wrench_out(pull))
            continue
        handed = link.passage.inertia_out(left)
        kept = inner[link.parent]
        inner[link.parent] = handed if kept is None else kept.plus(handed)
        pulls[link.parent] = pulls[link.parent].plus(link.passage.wrench_out(pull))
    motions: list[tuple[Vector, Vector]] = []
    bent_by: dict[int, list[Expr]] = {}
    for link, at in zip(chain.links, opened, strict=True):
        way = carried(link, motions, loads)
        if link.node is not None:
            way = beside(link, way, bent_by[link.parent])
        own_found, motion = follow(chain, link, at, *way)
        found |= own_found
        motions.append(motion)
        if at.bent is not None and link.modes is not None:
            bent_by[len(motions) - 1] = at.bent.accelerations(*motion)
            found |= zip(link.modes.indices, bent_by[len(motions) - 1], strict=True)
    return found


def follow(
    chain: Links, link: ChainLink, at: Open, alpha: Vector, a: Vector
) -> tuple[dict[int, Expr], tuple[Vector, Vector]]:
    """Accelerations of a joint's coordinates and of its link, from those of the link as its parent carries it."""
    graph, found = chain.graph, {}
    if link.is_guided:
        alpha, a = with_joint(link, alpha, a)
    elif link.kind in ("fixed", "node"):
        pass
    elif link.kind in SINGLE:
        gain = at.gain
        qdd = graph.lift(at.drive - dot(gain.moment, alpha) - dot(gain.force, a))
        found[link.coordinates[0]] = qdd
        # a name for it, so that it is computed once and read as what it is
        graph.stem(qdd, f"qdd_{link.coordinates[0]}")
        turned, moved = link.way(qdd)
        alpha, a = plus(alpha, turned), plus(a, moved)
    else:
        new_alpha, new_a = let_go(at, link, a)
        rates = chain.rates_of_quaternion(link, minus(new_alpha, alpha))
        if link.kind == "free":
            moved = link.passage.out(minus(new_a, a))
            for i, e in zip(link.coordinates, moved, strict=False):
                found[i] = graph.lift(e)
        for i, e in zip(link.coordinates[-4:], rates, strict=True):
            found[i] = graph.lift(e)
        alpha, a = new_alpha, new_a
    return found, (alpha, a)


def open_joint(
    chain: Links, link: ChainLink, inertia: Inertia, pull: Wrench, loads: Loads, at: Open
) -> tuple[Inertia, Wrench]:
    """The hand-over of a link to its parent: inertia, and wrench; `at` takes what the outward sweep needs."""
    graph = chain.graph
    if link.is_guided or link.kind in ("fixed", "node"):
        alpha, a = with_joint(link, link.bias_alpha, link.bias_a)
        push = inertia.times(alpha, a)
        return inertia, pull.plus(push)
    if link.kind in SINGLE:
        return _single(chain, link, inertia, pull, loads, at)
    at.inertia, at.bias = inertia, pull
    if link.kind == "free":
        return inertia, pull
    # no moment: alpha = turning^-1 (-p_n - coupling a)
    at.factor = factored(inertia.turning)
    coupling = inertia.coupling
    columns = [_solved(at.factor, _column(coupling, j)) for j in range(3)]
    moving = symmetric(
        lambda i, j: graph.lift(inertia.moving[i][j] - dot(_column(coupling, i), columns[j]))
    )
    zero: Matrix = [[graph.zero] * 3 for _ in range(3)]
    left = Inertia(zero, zero, moving)
    still = _solved(at.factor, pull.moment)
    push = left.times(link.bias_alpha, link.bias_a)
    eased = tuple(dot(_column(coupling, i), still) for i in range(3))
    return left, Wrench(ZERO, minus(plus(pull.force, push.force), eased))


def _single(
    chain: Links, link: ChainLink, inertia: Inertia, pull: Wrench, loads: Loads, at: Open
) -> tuple[Inertia, Wrench]:
    graph = chain.graph
    turns = link.kind == "turn"
    on_moment, on_force = inertia.times(*link.way(1.0))
    size, along = (link.along(of[0][2], of[1][2]) for of in ((on_moment, on_force), pull))
    inverse = graph.stem(graph.reciprocal(size + link.rotor), f"inverse_{link.coordinates[0]}")
    acting = loads.forces.get(link.coordinates[0], graph.zero)
    u = acting - along
    gain = Wrench(times(inverse, on_moment), times(inverse, on_force))
    at.gain, at.drive = gain, inverse * u
    if link.parent < 0:
        return inertia, pull
    is_plain = graph.lift(link.rotor).is_zero and link.kind != "screw"

    def gone(i: int, of_turn: bool) -> bool:
        """Rows along the joint vanish, unless a rotor takes a share."""
        return is_plain and i == 2 and of_turn == turns

    rest = without_joint(inertia, Wrench(on_moment, on_force), gain, gone, graph.zero)
    push = rest.times(link.bias_alpha, link.bias_a)
    moment = plus(plus(pull.moment, push.moment), times(u, gain.moment))
    force = plus(plus(pull.force, push.force), times(u, gain.force))
    if is_plain and turns:
        moment = (moment[0], moment[1], acting)
    elif is_plain:
        force = (force[0], force[1], acting)
    return rest, Wrench(moment, force)


def let_go(at: Open, link: ChainLink, a: Vector) -> tuple[Vector, Vector]:
    """Accelerations of a ball, whose point is carried, or of a free body."""
    inertia, pull = at.inertia, at.bias
    assert inertia is not None
    if link.kind == "ball":
        assert at.factor is not None
        held = plus(pull.moment, apply(inertia.coupling, a))
        return _solved(at.factor, times(-1.0, held)), a
    rows = [[*inertia.turning[i], *inertia.coupling[i]] for i in range(3)] + [
        [*transposed(inertia.coupling)[i], *inertia.moving[i]] for i in range(3)
    ]
    solution = substituted(factored(rows), [-e for e in (*pull.moment, *pull.force)])
    return tuple(solution[:3]), tuple(solution[3:])  # type: ignore[return-value]


def _solved(factor: Factor, right: Vector) -> Vector:
    x, y, z = substituted(factor, list(right))
    return (x, y, z)


def _column(m: Matrix, j: int) -> Vector:
    return (m[0][j], m[1][j], m[2][j])

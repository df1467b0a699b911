"""Forces as a formulation needs them: their held values of a step, and their tangent."""

from __future__ import annotations

from collections.abc import Mapping

from codegen.expressions.dag import Expr
from codegen.expressions.elimination import Entries
from codegen.expressions.emit import Assign
from codegen.expressions.folding import folded
from codegen.system.system import System


def hold(system: System) -> list[Assign]:
    """Return the assignments that forces make once a step: their internal states after it, and held values."""
    assigns = []
    for number, internal in enumerate(system.internals):
        value = system.updates.get(internal.var, internal.var)
        assigns.append(Assign(f"after->internal[{number}]", value, internal.path))
    for number, held in enumerate(system.held):
        assigns.append(Assign(f"w->held[{number}]", held.value, held.path))
    return assigns


def settle(system: System) -> list[Assign]:
    """Internal states that forces follow through the step, at its end."""
    return [
        Assign(f"s->internal[{number}]", system.followed[internal.var], internal.path)
        for number, internal in enumerate(system.internals)
        if internal.var in system.followed
    ]


def scaled_tangent(system: System, rate_weight: float, factor: float, *, moves: bool) -> Entries:
    """Slopes of the forces over coordinates, and over rates times a weight: symmetrised, the upper triangle.

    Parameters
    ----------
    moves : bool
        The mass follows the pose: then slopes may come with a form of their own, whose shared sums stay shared.
    """
    if moves and system.tangent is not None:
        return {key: factor * e for key, e in system.tangent(rate_weight).items()}
    return {
        (i, j): folded(rate_weight * damping + stiffness, factor)
        for i, j, damping, stiffness in force_tangent(system)
    }


def force_tangent(
    system: System, forces: Mapping[int, Expr] | None = None
) -> list[tuple[int, int, Expr, Expr]]:
    """Symmetrised damping -dQ/dqd and stiffness -dQ/dq, upper triangle; `forces` takes the place of all."""
    graph = system.graph
    damping: Entries = {}
    stiffness: Entries = {}
    for i, value in (system.force if forces is None else forces).items():
        inside = set(graph.variables(value))
        for c in system.coordinates:
            key = (min(i, c.index), max(i, c.index))
            share = 1.0 if i == c.index else 0.5
            for entries, var in ((damping, c.qd), (stiffness, c.q)):
                if var in inside:
                    entry = -share * graph.diff(value, var)
                    entries[key] = entries.get(key, graph.zero) + entry
    keys = sorted(damping.keys() | stiffness.keys())
    zero = graph.zero
    found = [(i, j, damping.get((i, j), zero), stiffness.get((i, j), zero)) for i, j in keys]
    return [entry for entry in found if not (entry[2].is_zero and entry[3].is_zero)]

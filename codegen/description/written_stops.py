"""Jumps of stiffness in forces that a user has written: where the argument of an `abs` changes sign."""

from __future__ import annotations

from collections import defaultdict

from codegen.expressions.dag import Expr, evaluate
from codegen.system.quantities import Coordinate
from codegen.system.system import System

NEWTON_STEPS = 30


def stiffness_jump(system: System, coordinate: Coordinate, force: Expr) -> float:
    """Largest jump of the slope of a force along its own coordinate.

    Each jump is taken where it is: the coordinate is moved to the place where the argument vanishes, and the
    others stay in the pose that the file gives. An argument that vanishes nowhere has no jump.
    """
    at: dict[str, float] = defaultdict(float)
    for c in system.coordinates:
        at[c.q.name], at[c.qd.name] = c.initial, c.initial_rate
    at |= {p.var.name: p.default for p in [*system.parameters, *system.signals]}
    largest = 0.0
    for kink in _kinks(force, coordinate.q):
        try:
            largest = max(largest, _jump(system, coordinate.q, force, kink, at))
        except (ArithmeticError, ValueError):
            continue  # the force has no value there
    return largest


def _kinks(force: Expr, q: Expr) -> list[Expr]:
    found, seen, stack = [], set(), [force]
    while stack:
        e = stack.pop()
        if e in seen:
            continue
        seen.add(e)
        stack += e.args
        if e.op == "abs" and q in q.graph.variables(e):
            found.append(e)
    return found


def _jump(system: System, q: Expr, force: Expr, kink: Expr, at: dict[str, float]) -> float:
    (inside,) = kink.args
    there = _root(system, q, inside, at)
    if there is None:
        return 0.0
    slopes = [
        evaluate(system.graph.diff(system.graph.substitute(force, {kink: side}), q), there)
        for side in (inside, -inside)
    ]
    return abs(slopes[0] - slopes[1])


def _root(system: System, q: Expr, inside: Expr, at: dict[str, float]) -> dict[str, float] | None:
    slope = system.graph.diff(inside, q)
    there = at.copy()
    for _ in range(NEWTON_STEPS):
        value, rise = evaluate(inside, there), evaluate(slope, there)
        if rise == 0.0:
            return there if value == 0.0 else None
        move = value / rise
        there[q.name] -= move
        if abs(move) <= 1e-12 * (1.0 + abs(there[q.name])):
            return there
    return None

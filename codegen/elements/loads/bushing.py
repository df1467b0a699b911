"""An elastic bushing between two bodies: force = -K u - C u', with u the six deflections of the first body.

u has the travel of the first body's point along the axes of the second body, and the turn beside it, by the axial
vector of the rotation (its axis times the sine of its angle). `stiffness` and `damping` are six numbers, of travel
along x y z and turn about them, or six rows of six, symmetric; all act along the energy's own gradient, so that
nothing is gained on a closed way.
"""

from __future__ import annotations

from codegen.expressions.dag import Expr
from codegen.system import joints
from codegen.system.fields import Number
from codegen.system.joints import AXES
from codegen.system.system import System
from codegen.system.vectors import Vector, cross, dot, plus, times

Six = tuple[Number, Number, Number, Number, Number, Number]
KEYS = ("fx_n", "fy_n", "fz_n", "tx_nm", "ty_nm", "tz_nm")


class Entry(joints.Entry):
    stiffness: Six | tuple[Six, Six, Six, Six, Six, Six]
    damping: Six | tuple[Six, Six, Six, Six, Six, Six] = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


def add(entry: Entry, name: str, system: System) -> None:
    known = len(system.mistakes)
    joint = joints.Joint(entry, system)
    first = {a: joint.on(joint.first, axis) for a, axis in AXES.items()}
    second = {a: joint.on(joint.second, axis) for a, axis in AXES.items()}
    gap = joint.gap()
    stiffness = _matrix(system, "stiffness", entry.stiffness)
    damping = _matrix(system, "damping", entry.damping)
    if len(system.mistakes) > known:
        return
    graph = system.graph
    turns = [
        0.5 * (dot(second[c], first[b]) - dot(second[b], first[c]))
        for b, c in (("y", "z"), ("z", "x"), ("x", "y"))
    ]
    u = [graph.lift(e) for e in (*(dot(gap, second[a]) for a in "xyz"), *turns)]
    rates = [system.rate(e) for e in u]
    pushes = []
    for k in range(6):
        pull = [(-stiffness[k][n], u[n]) for n in range(6) if stiffness[k][n]]
        drag = [(-damping[k][n], rates[n]) for n in range(6) if damping[k][n]]
        pushes.append(graph.stem(graph.total([*pull, *drag]), f"{name}_push_{k + 1}"))
        system.add_power(pushes[k], u[k])
    terms = [
        (0.5 * stiffness[k][n], u[k] * u[n]) for k in range(6) for n in range(6) if stiffness[k][n]
    ]
    system.add_potential(graph.total(terms))
    _show(system, pushes, first, second)


def _show(
    system: System, pushes: list[Expr], first: dict[str, Vector], second: dict[str, Vector]
) -> None:
    """Force on the first body, and moment about its point, in global axes."""
    force: Vector = (0.0, 0.0, 0.0)
    moment: Vector = (0.0, 0.0, 0.0)
    for k, (a, (b, c)) in enumerate((("x", ("y", "z")), ("y", ("z", "x")), ("z", ("x", "y")))):
        force = plus(force, times(pushes[k], second[a]))
        both = plus(cross(first[b], second[c]), cross(second[b], first[c]))
        moment = plus(moment, times(0.5 * pushes[3 + k], both))
    for key, value in zip(KEYS, (*force, *moment), strict=True):
        system.value(key, value, "_" + key.rpartition("_")[2])


def _matrix(system: System, key: str, given: tuple) -> list[list[float]]:
    """Six numbers as a diagonal, or six rows; not a spring that gives energy."""
    if isinstance(given[0], tuple):
        made = [[system.number(key, value) for value in row] for row in given]
    else:
        diagonal = [system.number(key, value) for value in given]
        made = [[diagonal[k] if k == n else 0.0 for n in range(6)] for k in range(6)]
    size = max(abs(value) for row in made for value in row)
    if any(abs(made[k][n] - made[n][k]) > 1e-9 * size for k in range(6) for n in range(k)):
        system.mistake(key, None, "is not symmetric", "write K[i][j] = K[j][i]")
    elif not _is_passive(made, size):
        system.mistake(key, None, "gives energy", "give values that are not negative")
    return made


def _is_passive(matrix: list[list[float]], size: float) -> bool:
    """Return whether no deflection has a negative energy: pivots of an elimination."""
    left = [list(row) for row in matrix]
    for k in range(6):
        pivot = left[k][k]
        if pivot < -1e-9 * size:
            return False
        if pivot <= 1e-12 * size:
            if any(abs(value) > 1e-9 * size for value in left[k][k + 1 :]):
                return False
            continue
        for n in range(k + 1, 6):
            share = left[n][k] / pivot
            left[n] = [a - share * b for a, b in zip(left[n], left[k], strict=True)]
    return True

"""An elastic bushing between two bodies: force = -K u - C u', with u the six deflections of the first body.

u has the travel of the first body's point along the axes of the second body, and the turn beside it: the axis of the
rotation times the sine of its angle, or with `turn = "vector"` times the angle. `stiffness` and `damping` are six
numbers, of travel along x y z and turn about them, or six rows of six, symmetric. Stiffness acts along the energy's own
gradient, so that nothing is gained on a closed way. Damping acts along the rates of u; with `turn = "vector"` along the
angular velocity in place of the rate of turn.
"""

from __future__ import annotations

import math
from typing import Literal

from codegen.expressions import smooth
from codegen.expressions.dag import Expr
from codegen.system import joints
from codegen.system.fields import Number
from codegen.system.joints import AXES
from codegen.system.moments import add_moment
from codegen.system.system import System
from codegen.system.vectors import Vector, cross, dot, plus, times

Six = tuple[Number, Number, Number, Number, Number, Number]
KEYS = ("fx_n", "fy_n", "fz_n", "tx_nm", "ty_nm", "tz_nm")


class Entry(joints.Entry):
    stiffness: Six | tuple[Six, Six, Six, Six, Six, Six]
    damping: Six | tuple[Six, Six, Six, Six, Six, Six] = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    turn: Literal["sine", "vector"] = "sine"
    initial_turn_rad: tuple[Number, Number, Number] = (0.0, 0.0, 0.0)


def add(entry: Entry, name: str, system: System) -> None:
    known = len(system.mistakes)
    joint = joints.Joint(entry, system)
    x, y, z = (system.number("initial_turn_rad", value) for value in entry.initial_turn_rad)
    built = {a: _turned(axis, (x, y, z)) for a, axis in AXES.items()}
    first = {a: joint.on(joint.first, axis) for a, axis in built.items()}
    second = {a: joint.on(joint.second, axis) for a, axis in AXES.items()}
    gap = joint.gap()
    stiffness = _matrix(system, "stiffness", entry.stiffness)
    damping = _matrix(system, "damping", entry.damping)
    if len(system.mistakes) > known:
        return
    graph = system.graph
    sines = [
        graph.lift(0.5 * (dot(second[c], first[b]) - dot(second[b], first[c])))
        for b, c in (("y", "z"), ("z", "x"), ("x", "y"))
    ]
    travel = [graph.lift(dot(gap, second[a])) for a in "xyz"]
    by_vector = entry.turn == "vector"
    if by_vector:
        cosine = graph.lift(0.5 * (sum(dot(second[a], first[a]) for a in "xyz") - 1.0))
        ratio, slope = smooth.over_sine(cosine)
        u = [*travel, *(ratio * sine for sine in sines)]
        rates = [*(system.rate(e) for e in travel), *_angular_velocity(system, first, second)]
    else:
        u = [*travel, *sines]
        rates = [system.rate(e) for e in u]
    pushes = []
    drag_moment: Vector = (
        0.0,
        0.0,
        0.0,
    )  # beside the pushes: no coordinate has the angular velocity as its rate
    for k in range(6):
        pull = [(-stiffness[k][n], u[n]) for n in range(6) if stiffness[k][n]]
        drag = [(-damping[k][n], rates[n]) for n in range(6) if damping[k][n]]
        if by_vector and k >= 3:
            drag_moment = plus(drag_moment, times(graph.total(drag), second["xyz"[k - 3]]))
            drag = []
        pushes.append(graph.stem(graph.total([*pull, *drag]), f"{name}_push_{k + 1}"))
        system.add_power(pushes[k], u[k])
    terms = [
        (0.5 * stiffness[k][n], u[k] * u[n]) for k in range(6) for n in range(6) if stiffness[k][n]
    ]
    system.add_potential(graph.total(terms))
    if not by_vector:
        _show(system, pushes, second, _moment(pushes[3:], first, second))
        return
    add_moment(system, drag_moment, first.values())
    add_moment(system, times(-1.0, drag_moment), second.values())
    moment = _moment([ratio * push for push in pushes[3:]], first, second)
    by_cosine = slope * graph.total([(0.5, p * s) for p, s in zip(pushes[3:], sines, strict=True)])
    for a in "xyz":
        moment = plus(moment, times(by_cosine, cross(first[a], second[a])))
    _show(system, pushes, second, plus(moment, drag_moment))


def _turned(axis: Vector, turn_rad: Vector) -> Vector:
    """Return an axis after a turn."""
    angle = math.hypot(*turn_rad)
    if angle == 0.0:
        return axis
    about = times(1.0 / angle, turn_rad)
    across = times(math.sin(angle), cross(about, axis))
    along = times((1.0 - math.cos(angle)) * dot(about, axis), about)
    return plus(plus(times(math.cos(angle), axis), across), along)


def _angular_velocity(
    system: System, first: dict[str, Vector], second: dict[str, Vector]
) -> list[Expr]:
    """Angular velocity of the first body against the second one, along the axes of the second one."""
    between = {b: {c: dot(second[b], first[c]) for c in "xyz"} for b in "xyz"}
    return [
        system.graph.lift(sum(system.rate(between[c][n]) * between[b][n] for n in "xyz"))
        for b, c in (("y", "z"), ("z", "x"), ("x", "y"))
    ]


def _moment(weights: list[Expr], first: dict[str, Vector], second: dict[str, Vector]) -> Vector:
    """Moment on the first body, in global axes, whose power is that of weights on the rates of the sines."""
    moment: Vector = (0.0, 0.0, 0.0)
    for weight, (b, c) in zip(weights, (("y", "z"), ("z", "x"), ("x", "y")), strict=True):
        both = plus(cross(first[b], second[c]), cross(second[b], first[c]))
        moment = plus(moment, times(0.5 * weight, both))
    return moment


def _show(system: System, pushes: list[Expr], second: dict[str, Vector], moment: Vector) -> None:
    """Force on the first body, and moment about its point, in global axes."""
    force: Vector = (0.0, 0.0, 0.0)
    for push, axis in zip(pushes[:3], second.values(), strict=True):
        force = plus(force, times(push, axis))
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

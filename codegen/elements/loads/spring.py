"""A spring with damper on an angle or a distance: linear, or a table of force over deflection.

force = -stiffness (q - rest) - damping q',   or   -table(q - rest) - damping q'
"""

from __future__ import annotations

import itertools

from codegen.expressions import smooth
from codegen.expressions.dag import Expr
from codegen.system import fields
from codegen.system.fields import Input, Name, Number, Tunable
from codegen.system.system import System


class Entry(fields.Entry):
    angle: Name | None = None
    distance: Name | None = None
    stiffness_nm_per_rad: Tunable | None = None
    stiffness_n_per_m: Tunable | None = None
    damping_nms_per_rad: Tunable | None = None
    damping_ns_per_m: Tunable | None = None
    rest_rad: Number | None = None
    rest_m: Number | None = None
    table: tuple[tuple[Number, Number], ...] | None = None  # deflection, opposing force


def add(entry: Entry, name: str, system: System) -> None:
    on_angle = entry.angle is not None
    if on_angle == (entry.distance is not None):
        system.mistake("", None, "needs one coordinate", "give `angle` or `distance`")
        return
    unit, per, rate = (
        ("rad", "nm_per_rad", "nms_per_rad") if on_angle else ("m", "n_per_m", "ns_per_m")
    )
    other = ("n_per_m", "ns_per_m", "m") if on_angle else ("nm_per_rad", "nms_per_rad", "rad")
    for key in (f"stiffness_{other[0]}", f"damping_{other[1]}", f"rest_{other[2]}"):
        if getattr(entry, key) is not None:
            system.mistake(key, getattr(entry, key), "has the other unit", f"give it in {per}")
    key = "angle" if on_angle else "distance"
    coordinate = system.scalar(key, getattr(entry, key), unit)
    stiffness, damping = getattr(entry, f"stiffness_{per}"), getattr(entry, f"damping_{rate}")
    if (stiffness is None) == (entry.table is None):
        system.mistake("", None, "needs one law", f"give `stiffness_{per}` or `table`")
        return
    rest = getattr(entry, f"rest_{unit}")
    deflection = coordinate.q - (0.0 if rest is None else system.number(f"rest_{unit}", rest))
    if entry.table is not None:
        xs = [system.number("table", x) for x, _ in entry.table]
        ys = [system.number("table", y) for _, y in entry.table]
        if len(xs) < 2 or any(b <= a for a, b in itertools.pairwise(xs)):
            system.mistake("table", list(xs), "needs two or more rising deflections", "sort them")
            return
        force = -smooth.table(deflection, xs, ys)
        slopes = [(y1 - y0) / (x1 - x0)
                  for (x0, y0), (x1, y1) in itertools.pairwise(zip(xs, ys, strict=True))]  # fmt: skip
        jump = max((abs(b - a) for a, b in itertools.pairwise(slopes)), default=0.0)
        system.kinks.append((".".join([*system.at, "table"]), coordinate.name, jump))
        at_rest = _integral(system.graph.zero, xs, ys)
        system.add_potential(_integral(deflection, xs, ys) - at_rest)
    else:
        k = system.tunable(f"stiffness_{per}", stiffness)
        force = -k * deflection
        if not isinstance(stiffness, Input):
            system.add_potential(0.5 * (k * (deflection * deflection)))
    if damping is not None:
        c = system.tunable(f"damping_{rate}", damping)
        force = force - c * coordinate.qd
    suffix = "_nm" if on_angle else "_n"
    system.value(f"{'torque' if on_angle else 'force'}{suffix}", force, suffix)
    system.add_force(coordinate, force)


def _integral(x: Expr, xs: list[float], ys: list[float]) -> Expr:
    """Energy that a table takes up to x, from its first deflection: a parabola a piece."""
    graph = x.graph
    levels = [0.0]
    for (x0, y0), (x1, y1) in itertools.pairwise(zip(xs, ys, strict=True)):
        levels.append(levels[-1] + (x1 - x0) * (y0 + y1) / 2.0)
    found: Expr | None = None
    for k in reversed(range(len(xs) - 1)):
        slope = (ys[k + 1] - ys[k]) / (xs[k + 1] - xs[k])
        beyond = x - xs[k]
        piece = levels[k] + beyond * (ys[k] + (slope / 2.0) * beyond)
        found = piece if found is None else graph.where_less(x, xs[k + 1], piece, found)
    assert found is not None
    return graph.lift(found)

"""Stops of an angle or distance: a spring and damper beyond a limit, nothing within.

force = -(stiffness d + damping d') with d the depth beyond the limit; it acts while d > 0 and never pulls.
"""

from __future__ import annotations

from codegen.expressions.dag import Expr
from codegen.system import fields
from codegen.system.fields import Name, Number, Tunable
from codegen.system.system import System


class Entry(fields.Entry):
    angle: Name | None = None
    distance: Name | None = None
    lower_rad: Number | None = None
    upper_rad: Number | None = None
    lower_m: Number | None = None
    upper_m: Number | None = None
    stiffness_nm_per_rad: Tunable | None = None
    stiffness_n_per_m: Tunable | None = None
    damping_nms_per_rad: Tunable | None = None
    damping_ns_per_m: Tunable | None = None


UNITS = {
    "angle": ("rad", "stiffness_nm_per_rad", "damping_nms_per_rad"),
    "distance": ("m", "stiffness_n_per_m", "damping_ns_per_m"),
}


def add(entry: Entry, name: str, system: System) -> None:
    if (entry.angle is None) == (entry.distance is None):
        system.mistake("", None, "needs one coordinate", "give `angle` or `distance`")
        return
    kind, other = ("angle", "distance") if entry.angle is not None else ("distance", "angle")
    unit, stiffness_key, damping_key = UNITS[kind]
    for key in (*UNITS[other][1:], f"lower_{UNITS[other][0]}", f"upper_{UNITS[other][0]}"):
        if getattr(entry, key) is not None:
            remedy = f"give it for an {kind}" if kind == "angle" else f"give it for a {kind}"
            system.mistake(key, getattr(entry, key), "has the other unit", remedy)
    coordinate = system.scalar(kind, getattr(entry, kind), unit)
    known = len(system.mistakes)
    limits = {key: getattr(entry, f"{key}_{unit}") for key in ("lower", "upper")}
    if limits["lower"] is None is limits["upper"]:
        remedy = f"give `lower_{unit}`, `upper_{unit}` or both"
        system.mistake("", None, "has no limit", remedy)
    places = {
        key: system.number(f"{key}_{unit}", value)
        for key, value in limits.items()
        if value is not None
    }
    if len(places) == 2 and places["lower"] >= places["upper"]:
        problem = f"is not below upper_{unit} = {places['upper']:g}"
        system.mistake(f"lower_{unit}", places["lower"], problem, "exchange them")
    if getattr(entry, stiffness_key) is None:
        system.mistake(stiffness_key, None, "is missing", "add it")
        stiffness = system.graph.one
    else:
        stiffness = system.tunable(stiffness_key, getattr(entry, stiffness_key), above=0.0)
    if stiffness in {signal.var for signal in system.signals}:
        system.mistake(stiffness_key, None, "cannot be an input signal", "give a number")
    given = getattr(entry, damping_key)
    damping = system.tunable(damping_key, 0.0 if given is None else given, least=0.0)
    if len(system.mistakes) > known:
        return
    graph, total, energy = system.graph, system.graph.zero, system.graph.zero
    for side, place in places.items():
        sense = 1.0 if side == "upper" else -1.0
        depth = sense * (coordinate.q - place)
        push = stiffness * depth + damping * (sense * coordinate.qd)
        total = total - sense * _while_in(depth, graph.where_less(push, 0.0, 0.0, push))
        energy = energy + _while_in(depth, 0.5 * (stiffness * (depth * depth)))
    key, suffix = ("torque_nm", "_nm") if kind == "angle" else ("force_n", "_n")
    force = graph.stem(total, f"{name}_stop")
    system.value(key, force, suffix)
    system.add_potential(energy)
    jump = system.parameters[-2].default
    system.kinks.append((".".join([*system.at, stiffness_key]), coordinate.name, jump))
    system.add_force(coordinate, force)


def _while_in(depth: Expr, value: Expr) -> Expr:
    graph = depth.graph
    return graph.lift(graph.where_less(0.0, depth, value, 0.0))

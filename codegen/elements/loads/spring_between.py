"""A spring with damper between two points: -(k (l - rest) + c l') along the line through them."""

from __future__ import annotations

from codegen.system import fields
from codegen.system.fields import Input, Number, Tunable, VectorValue
from codegen.system.system import System
from codegen.system.vectors import dot, minus


class Entry(fields.Entry):
    points: tuple[VectorValue, VectorValue]
    stiffness_n_per_m: Tunable = 0.0
    damping_ns_per_m: Tunable = 0.0
    rest_m: Number | None = None  # default: the distance when built


def add(entry: Entry, name: str, system: System) -> None:
    a, b = (system.point("points", point) for point in entry.points)
    gap = minus(b, a)
    graph = system.graph
    length = graph.stem(graph.call("sqrt", dot(gap, gap)), f"{name}_length")
    built = system.initial(length)
    if built == 0.0:
        system.mistake("points", list(entry.points), "the distance is zero", "move one of them")
        return
    rest = built if entry.rest_m is None else system.number("rest_m", entry.rest_m)
    k = system.tunable("stiffness_n_per_m", entry.stiffness_n_per_m)
    c = system.tunable("damping_ns_per_m", entry.damping_ns_per_m)
    stretch = length - rest
    pull = graph.stem(k * stretch + c * system.rate(length), f"{name}_pull")
    system.value("pull_n", pull, "_n")
    system.value("length_m", length, "_m")
    system.add_power(-pull, length)
    if not isinstance(entry.stiffness_n_per_m, Input):
        system.add_potential(0.5 * (k * (stretch * stretch)))

"""A constant distance between two points: (|B - A|^2 - l^2) / (2 l) = 0."""

from __future__ import annotations

import math

from codegen.system import fields
from codegen.system.fields import Number, VectorValue
from codegen.system.system import System
from codegen.system.vectors import dot, minus


class Entry(fields.Entry):
    points: tuple[VectorValue, VectorValue]
    length_m: Number | None = None  # default: the distance when built


def add(entry: Entry, name: str, system: System) -> None:
    a, b = (system.point("points", point) for point in entry.points)
    gap = minus(b, a)
    if entry.length_m is None:
        length = math.sqrt(sum(system.initial(component) ** 2 for component in gap))
        remedy = "give the points different positions"
    else:
        length = system.number("length_m", entry.length_m)
        remedy = "give a length above zero"
    if length <= 0.0:
        system.mistake("points", list(entry.points), "the distance is zero", remedy)
        return
    for axis, component in zip("xyz", gap, strict=True):
        system.graph.stem(component, f"{name}_d{axis}")
    system.rods[name] = (a, b)
    row = system.row("", (dot(gap, gap) - length**2) / (2.0 * length))
    system.value("force_n", system.row_multiplier(row), "_n")  # tension

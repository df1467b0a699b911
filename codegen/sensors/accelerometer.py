"""An accelerometer: specific force (acceleration less gravity) of a point along an axis."""

from __future__ import annotations

from codegen.expressions.dag import Expr
from codegen.sensors import Sensing
from codegen.system import fields
from codegen.system.fields import VectorValue
from codegen.system.vectors import dot


class Entry(fields.Entry):
    point: VectorValue
    axis: VectorValue  # fixed, or a unit vector of a body by name
    feels_gravity: bool = True


def measure(entry: Entry, sensing: Sensing) -> tuple[Expr | float, str]:
    system = sensing.system
    point = system.point("point", entry.point)
    axis = system.direction("axis", entry.axis)
    felt = [sensing.acceleration(component) for component in point]
    if entry.feels_gravity:
        felt = [a - g for a, g in zip(felt, system.gravity, strict=True)]
    return dot((felt[0], felt[1], felt[2]), axis), "m_s2"

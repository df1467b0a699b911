"""A slender uniform rod between two points: m/3 on each end, m/6 between them, half its weight on
each.
"""

from __future__ import annotations

from codegen.system import fields
from codegen.system.fields import Tunable, VectorValue
from codegen.system.system import System


class Entry(fields.Entry):
    points: tuple[VectorValue, VectorValue]
    mass_kg: Tunable


def add(entry: Entry, name: str, system: System) -> None:
    a, b = (system.point("points", point) for point in entry.points)
    mass = system.inertial("mass_kg", entry.mass_kg)
    for end_a, end_b in zip(a, b, strict=True):
        system.add_kinetic(end_a, end_a, mass / 3.0)
        system.add_kinetic(end_b, end_b, mass / 3.0)
        system.add_kinetic(end_a, end_b, mass / 6.0)
    system.masses.of_rods.append(((a, b), mass))
    system.add_weight(a, mass / 2.0)
    system.add_weight(b, mass / 2.0)

"""A moment of inertia carried by an angle."""

from __future__ import annotations

from codegen.system import fields
from codegen.system.fields import Name, Tunable
from codegen.system.system import System


class Entry(fields.Entry):
    angle: Name
    inertia_kg_m2: Tunable


def add(entry: Entry, name: str, system: System) -> None:
    angle = system.scalar("angle", entry.angle, "rad")
    inertia = system.inertial("inertia_kg_m2", entry.inertia_kg_m2)
    system.add_mass(angle, angle, inertia)
    system.masses.of_scalars.append((angle, inertia))

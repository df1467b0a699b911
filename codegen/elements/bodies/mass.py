"""A mass carried by a distance, or a point mass at a moving point."""

from __future__ import annotations

from codegen.system import fields
from codegen.system.fields import Name, Tunable
from codegen.system.system import System


class Entry(fields.Entry):
    mass_kg: Tunable
    distance: Name | None = None
    point: Name | None = None


def add(entry: Entry, name: str, system: System) -> None:
    if (entry.distance is None) == (entry.point is None):
        system.mistake("", None, "needs one thing that has the mass", "give `distance` or `point`")
        return
    mass = system.inertial("mass_kg", entry.mass_kg)
    if entry.distance is not None:
        distance = system.scalar("distance", entry.distance, "m")
        system.add_mass(distance, distance, mass)
        system.masses.of_scalars.append((distance, mass))
    if entry.point is not None:
        point = system.point("point", entry.point)
        for component in point:
            system.add_kinetic(component, component, mass)
        system.add_weight(point, mass)
        system.masses.of_points.append((point, mass))

"""An inertia on each component of a unit vector.

A unit vector that stays perpendicular to a fixed axis has |v'| = angular rate, so this is the
moment of inertia about that axis of a shaft that the vector is fixed to.
"""

from __future__ import annotations

from codegen.system import fields
from codegen.system.fields import Name, Tunable
from codegen.system.system import System
from rig_configs.mistakes import near


class Entry(fields.Entry):
    vector: Name
    inertia_kg_m2: Tunable


def add(entry: Entry, name: str, system: System) -> None:
    if entry.vector not in system.vectors:
        system.mistake("vector", entry.vector, "unknown vector", near(entry.vector, system.vectors))
        return
    inertia = system.inertial("inertia_kg_m2", entry.inertia_kg_m2)
    system.masses.of_vectors.append((system.vectors[entry.vector], inertia))
    for component in system.vectors[entry.vector]:
        coordinate = system.owner(component)
        if coordinate is not None:
            system.add_mass(coordinate, coordinate, inertia)

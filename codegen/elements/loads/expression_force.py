"""A user-written force on a coordinate: arithmetic of coordinates and rates, for instance
`"-2.0 * sin(arm) - 0.1 * rate(arm)"`.
"""

from __future__ import annotations

from codegen.system import fields
from codegen.system.fields import Name
from codegen.system.symbolic import expression
from codegen.system.system import System


class Entry(fields.Entry):
    coordinate: Name
    force: str


def add(entry: Entry, name: str, system: System) -> None:
    coordinate = system.any_coordinate("coordinate", entry.coordinate)
    value = expression("force", entry.force, system)
    suffix = "_nm" if coordinate.unit == "rad" else "_n"
    system.value(f"force{suffix}", value, suffix)
    system.add_force(coordinate, value)
    system.written_forces.append((".".join([*system.at, "force"]), coordinate.name, value))

"""A moving unit vector: three coordinates and the row (v.v - 1)/2; as built it may turn already."""

from __future__ import annotations

from codegen.system import fields
from codegen.system.fields import VectorValue
from codegen.system.system import System
from codegen.system.vectors import cross, dot

STAGE = 0


class Entry(fields.Entry):
    direction: VectorValue
    angular_velocity_rad_s: VectorValue = (0.0, 0.0, 0.0)


def add(entry: Entry, name: str, system: System) -> None:
    start = system.unit("direction", entry.direction)
    rates = cross(system.vector("angular_velocity_rad_s", entry.angular_velocity_rad_s), start)
    x, y, z = (
        system.coordinate(f"{name}_{axis}", "1", value, rate + 0.0).q
        for axis, value, rate in zip("xyz", start, rates, strict=True)
    )
    system.vectors[name] = (x, y, z)
    system.row("length", (dot((x, y, z), (x, y, z)) - 1.0) / 2.0)
    system.unit_vectors[x, y, z] = system.rows[-1]

"""A moving point: up to three coordinates; the components that do not move are constants."""

from __future__ import annotations

from typing import Literal

from codegen.system import fields
from codegen.system.fields import VectorValue
from codegen.system.system import System

STAGE = 0


class Entry(fields.Entry):
    position_m: VectorValue
    velocity_m_s: VectorValue = (0.0, 0.0, 0.0)
    moves: Literal["xyz", "xy", "xz", "yz", "x", "y", "z"] = "xyz"


def add(entry: Entry, name: str, system: System) -> None:
    position = system.vector("position_m", entry.position_m)
    velocity = system.vector("velocity_m_s", entry.velocity_m_s)
    components = []
    for axis, start, rate in zip("xyz", position, velocity, strict=True):
        if axis in entry.moves:
            components.append(system.coordinate(f"{name}_{axis}", "m", start, rate).q)
        else:
            components.append(system.graph.const(start))
            if rate != 0.0:
                remedy = f"add {axis} to `moves`, or leave that part out"
                problem = f"has a part along {axis}, where the point does not move"
                system.mistake("velocity_m_s", list(velocity), problem, remedy)
    system.points[name] = (components[0], components[1], components[2])

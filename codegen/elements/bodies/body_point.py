"""A point fixed on a body, given where it is in the file's pose: no coordinates of its own."""

from __future__ import annotations

from codegen.system import fields
from codegen.system.fields import Name, VectorValue
from codegen.system.system import System

STAGE = 2


class Entry(fields.Entry):
    body: Name
    position_m: VectorValue


def add(entry: Entry, name: str, system: System) -> None:
    made = system.on_body("position_m", entry.body, entry.position_m, is_point=True)
    system.points[name] = made
    system.carry(entry.body, "point", [made])
    for axis, component in zip("xyz", made, strict=True):
        system.value(f"{axis}_m", component, "_m")
        system.value(f"v{axis}_m_s", system.rate(component), "_m_s")

"""A rack travels with its pinion: travel = radius x angle, from where both were built."""

from __future__ import annotations

from codegen.system import fields
from codegen.system.fields import Name, Number
from codegen.system.system import System


class Entry(fields.Entry):
    rack: Name
    pinion: Name
    radius_m: Number


def add(entry: Entry, name: str, system: System) -> None:
    rack, pinion = (
        system.scalar("rack", entry.rack, "m"),
        system.scalar("pinion", entry.pinion, "rad"),
    )
    radius = system.number("radius_m", entry.radius_m)
    if radius == 0.0:
        system.mistake("radius_m", entry.radius_m, "is zero", "give the pitch radius")
        return
    # as an angle, so that its gradient is of order one
    row = system.row("", (rack.q - rack.initial) / radius - (pinion.q - pinion.initial))
    system.value("force_n", system.reaction(row, rack), "_n")
    system.value("torque_nm", system.reaction(row, pinion), "_nm")

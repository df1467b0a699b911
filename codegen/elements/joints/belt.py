"""A belt between two pulleys that turn on fixed centres: first_radius x first = second_radius x
second; a crossed one turns them against each other.
"""

from __future__ import annotations

from codegen.system import fields
from codegen.system.fields import Name, Number
from codegen.system.system import System


class Entry(fields.Entry):
    first: Name
    second: Name
    first_radius_m: Number
    second_radius_m: Number
    crossed: bool = False


def add(entry: Entry, name: str, system: System) -> None:
    first, second = (system.scalar(key, getattr(entry, key), "rad") for key in ("first", "second"))
    radii = [
        system.number(key, getattr(entry, key)) for key in ("first_radius_m", "second_radius_m")
    ]
    if min(radii) <= 0.0:
        system.mistake("first_radius_m", radii, "both radii must be above zero", "give radii")
        return
    sense = -1.0 if entry.crossed else 1.0
    ratio = radii[0] / max(radii), sense * radii[1] / max(radii)
    turned = ratio[0] * (first.q - first.initial) - ratio[1] * (second.q - second.initial)
    row = system.row("", turned)
    system.value("torque_nm", system.reaction(row, first), "_nm")

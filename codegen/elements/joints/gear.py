"""A constant ratio between two scalar coordinates: first/ratio - second stays as built (rack and
pinion, gear pair).
"""

from __future__ import annotations

from codegen.system import fields
from codegen.system.fields import Name, Number
from codegen.system.system import System


class Entry(fields.Entry):
    first: Name
    second: Name
    ratio: Number  # of the rates, first : second; m/rad for a rack on a pinion


def add(entry: Entry, name: str, system: System) -> None:
    first, second = system.scalar("first", entry.first), system.scalar("second", entry.second)
    ratio = system.number("ratio", entry.ratio)
    if ratio == 0.0:
        system.mistake("ratio", entry.ratio, "is zero", "give the pitch radius or tooth ratio")
        return
    row = system.row("", first.q / ratio - second.q - (first.initial / ratio - second.initial))
    key = "torque_nm" if first.unit == "rad" else "force_n"
    system.value(key, system.reaction(row, first), "_" + key.split("_")[1])

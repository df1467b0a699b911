"""A relative angle as a coordinate; never wrapped."""

from __future__ import annotations

from codegen.system import fields
from codegen.system.fields import Number
from codegen.system.system import System

STAGE = 0


class Entry(fields.Entry):
    initial_rad: Number = 0.0
    initial_rate_rad_s: Number = 0.0


def add(entry: Entry, name: str, system: System) -> None:
    start = system.number("initial_rad", entry.initial_rad)
    rate = system.number("initial_rate_rad_s", entry.initial_rate_rad_s)
    system.scalars[name] = system.coordinate(name, "rad", start, rate)

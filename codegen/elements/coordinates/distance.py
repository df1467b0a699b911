"""A distance along a line as a coordinate."""

from __future__ import annotations

from codegen.system import fields
from codegen.system.fields import Number
from codegen.system.system import System

STAGE = 0


class Entry(fields.Entry):
    initial_m: Number = 0.0
    initial_rate_m_s: Number = 0.0


def add(entry: Entry, name: str, system: System) -> None:
    start = system.number("initial_m", entry.initial_m)
    rate = system.number("initial_rate_m_s", entry.initial_rate_m_s)
    system.scalars[name] = system.coordinate(name, "m", start, rate)

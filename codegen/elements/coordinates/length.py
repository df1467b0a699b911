"""A distance coordinate measures the distance of two points: (|B - A|^2 - l^2) / (2 l as built)."""

from __future__ import annotations

from codegen.system import fields
from codegen.system.fields import Name, VectorValue
from codegen.system.system import System
from codegen.system.vectors import dot, minus


class Entry(fields.Entry):
    points: tuple[VectorValue, VectorValue]
    by: Name


def add(entry: Entry, name: str, system: System) -> None:
    a, b = (system.point("points", point) for point in entry.points)
    length = system.scalar("by", entry.by, "m")
    gap = minus(b, a)
    built = system.initial(dot(gap, gap)) ** 0.5
    if built == 0.0:
        system.mistake("points", list(entry.points), "the distance is zero", "move one of them")
        return
    row = system.row("", (dot(gap, gap) - length.q * length.q) / (2.0 * built))
    system.value("force_n", (length.q / built) * system.row_multiplier(row), "_n")  # tension

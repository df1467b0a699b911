"""A rheonomic guide: a coordinate follows position, rate and acceleration inputs; its reaction is
an output.
"""

from __future__ import annotations

from codegen.system import fields
from codegen.system.fields import Name
from codegen.system.system import Guide, System


class Entry(fields.Entry):
    coordinate: Name


def add(entry: Entry, name: str, system: System) -> None:
    coordinate = system.any_coordinate("coordinate", entry.coordinate)
    if any(guide.coordinate is coordinate for guide in system.guides):
        system.mistake(
            "coordinate", entry.coordinate, "is guided twice", "remove one of the guides"
        )
    position, rate, acceleration = (
        system.graph.var(f"guide {name} {part}") for part in ("position", "rate", "acceleration")
    )
    row = system.row("", coordinate.q - position)
    system.guides.append(Guide(name, coordinate, row, (position, rate, acceleration)))

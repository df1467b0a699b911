"""A blade, skate or steered wheel seen from above: a point of a body moves along the body's own edge, never across it.

One row of rates alone (nonholonomic): across = normal x edge turns with the body, and the point's velocity along it
stays zero.
"""

from __future__ import annotations

from codegen.system import fields
from codegen.system.fields import Name, VectorValue
from codegen.system.joints import show_force
from codegen.system.system import System
from codegen.system.vectors import Vector, cross, dot, times

ALONG = 0.999  # cosine between edge and normal


class Entry(fields.Entry):
    body: Name
    point_m: VectorValue
    edge: VectorValue
    normal: VectorValue = (0.0, 0.0, 1.0)


def add(entry: Entry, name: str, system: System) -> None:
    known = len(system.mistakes)
    edge = system.unit("edge", entry.edge)
    normal = system.unit("normal", entry.normal)
    at = system.on_body("point_m", entry.body, entry.point_m, is_point=True)
    if len(system.mistakes) > known:
        return
    if abs(dot(edge, normal)) > ALONG:
        system.mistake("edge", list(edge), "is along the normal", "give an edge across it")
        return
    side = cross(normal, edge)
    side = times(1.0 / dot(side, side) ** 0.5, side)
    across = system.on_body("edge", entry.body, side, is_point=False)
    if len(system.mistakes) > known:
        return
    velocity: Vector = tuple(system.rate(e) for e in at)  # type: ignore[assignment]
    row = system.rate_row("cuts", system.graph.lift(dot(velocity, across)))
    show_force([(system.row_multiplier(row), across)], system)  # on the body

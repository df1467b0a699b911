"""A wheel that rolls on a plane of the ground and does not slip: a thin disc, upright or leaning.

The height of its rim over the plane is a row of places; the velocity of the point of it that touches the plane is two
rows of rates alone, which leave every place reachable (nonholonomic).
"""

from __future__ import annotations

from codegen.system import fields
from codegen.system.fields import Name, Number, VectorValue
from codegen.system.joints import AXES, perpendiculars, show_force
from codegen.system.system import System
from codegen.system.vectors import Vector, dot, minus, plus, times

FLAT = 0.999  # cosine between axle and normal from which on the disc lies


class Entry(fields.Entry):
    body: Name
    centre_m: VectorValue
    axis: VectorValue
    radius_m: Number
    start_m: VectorValue = (0.0, 0.0, 0.0)  # a point of the plane
    normal: VectorValue = (0.0, 0.0, 1.0)


def add(entry: Entry, name: str, system: System) -> None:
    known = len(system.mistakes)
    radius = system.number("radius_m", entry.radius_m)
    if radius <= 0.0:
        system.mistake("radius_m", entry.radius_m, "is no radius", "give one above zero")
    normal = system.unit("normal", entry.normal)
    start = system.vector("start_m", entry.start_m)
    centre = system.on_body("centre_m", entry.body, entry.centre_m, is_point=True)
    spin = system.unit("axis", entry.axis)
    axle = system.on_body("axis", entry.body, spin, is_point=False)
    body = system.body("body", entry.body)
    try:
        axes = [body.direction(system.graph, direction) for direction in AXES.values()]
    except ValueError as error:
        system.mistake("body", entry.body, f"turns, and {error}", "add a vector to it")
        return
    if len(system.mistakes) > known:
        return
    if abs(dot(spin, normal)) > FLAT:
        remedy = "let it stand: at most 87 degrees from the plane's normal"
        system.mistake("axis", list(spin), "lets the disc lie on the plane", remedy)
        return
    graph = system.graph
    lean = graph.lift(dot(axle, normal))
    rise = graph.call("sqrt", 1.0 - lean * lean)
    height = graph.lift(dot(minus(centre, start), normal)) - radius * rise
    contact = system.row("contact", height)
    down = times(-radius / rise, minus(normal, times(lean, axle)))
    velocity: Vector = tuple(system.rate(e) for e in centre)  # type: ignore[assignment]
    for way in axes:
        turning: Vector = tuple(system.rate(e) for e in way)  # type: ignore[assignment]
        velocity = plus(velocity, times(dot(down, way), turning))
    pushes = [(system.row_multiplier(contact), normal)]
    for number, along in enumerate(perpendiculars(normal), 1):
        row = system.rate_row(f"rolls {number}", graph.lift(dot(velocity, along)))
        pushes.append((system.row_multiplier(row), along))
    show_force(pushes, system)  # of the plane on the wheel

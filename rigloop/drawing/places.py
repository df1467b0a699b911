"""The places of a mechanism's elements: from the entries of its file to shapes of a sketch.

Elements are distinguished by their keys where these say enough, so that a new one with `bodies` and
`point_m`, or with two `points`, is drawn without a change here.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from codegen.description.entries import Written, entries
from codegen.description.mechanism import Mechanism
from codegen.system.body import GROUND, Body, is_moving
from codegen.system.fields import VectorValue
from codegen.system.system import Coordinate, System
from codegen.system.vectors import Vector, minus
from rigloop.drawing.sketch import SIZED, Shape, Sketch


def sketch(path: Path | str, mechanism: Mechanism) -> Sketch:
    """The parts of a mechanism that are to be drawn.

    Parameters
    ----------
    path : Path or str
        Its file, or the name of one that ships.
    """
    return _Sketcher(entries(path), mechanism.system).made


class _Sketcher:
    def __init__(self, written: list[Written], system: System) -> None:
        self.system, self.written = system, written
        self.made = Sketch(system)
        self.on_body: dict[str, list[Vector]] = {name: [] for name in system.bodies}
        self.guided = {g.coordinate.name for g in system.guides}
        self.placed: set[Vector] = set()
        self.fixed: dict[Vector, str] = {}
        self.rods = {
            frozenset(map(self.point, w.entry.points))
            for w in written
            if w.table == "uniform_rod"
        }  # fmt: skip
        self.turning: dict[str, tuple[Vector, str]] = {}  # vector: its axis and angle
        self.sliding: dict[str, list[Vector]] = {}  # points by the travel that moves them
        self.beneath: dict[str, frozenset[Vector]] = {}  # links that a rod stands for
        for element in written:
            begin = len(self.made.shapes)
            self.element(element)
            if len(self.made.shapes) > begin:
                self.made.place_of[f"{element.table}/{element.name}"] = begin
        rods = {frozenset(s.points): n for n, s in enumerate(self.made.shapes) if s.style == "rod"}
        self.made.place_of |= {link: rods[ends] for link, ends in self.beneath.items()}
        self.bodies()
        self.points()
        self.directions()
        self.guides()

    def point(self, value: VectorValue) -> Vector:
        """A point as the file names it; one that is not moving is remembered with its name."""
        system = self.system
        found = system.point("points", value)
        if not is_moving(found):
            found = _plain(found, system)
            name = value if isinstance(value, str) and value.isidentifier() else ""
            self.fixed[found] = self.fixed.get(found) or name
        return found

    def element(self, w: Written) -> None:
        entry = w.entry
        if hasattr(entry, "bodies") and hasattr(entry, "point_m"):
            self.joint(w)
        elif w.table in ("gear", "rack_and_pinion", "belt"):
            given = [v for v in entry.model_dump().values() if self.is_scalar(v)]
            self.made.notes.append(f"{w.table} {w.name}: {' – '.join(given)}")
        elif w.table == "slide":
            start = self.point(entry.start_m)
            along = self.system.vector("along", entry.along)
            self.slide(start, along, self.system.point("point", entry.point), entry.by, w.name)
        elif w.table == "rotation":
            self.rotation(w)
        elif w.table == "wrench":
            at = self.system.on_body("point_m", entry.body, entry.point_m, is_point=True)
            self.made.add("mark", "force", at, label=w.name)
        elif w.table.startswith("point_on_"):
            self.made.add("mark", "joint", self.system.point("point", entry.point), label=w.name)
        elif w.table != "rigid_body" and len(getattr(entry, "points", ())) == 2:
            self.pair(w)

    def is_scalar(self, value: object) -> bool:
        return isinstance(value, str) and value in self.system.scalars

    def pair(self, w: Written) -> None:
        a, b = (self.point(value) for value in w.entry.points)
        if w.table == "uniform_rod":
            self.made.add("line", "rod", a, b, label=w.name)
        elif w.table.startswith("spring"):
            self.made.add("spring", "spring", a, b, label=w.name)
        elif frozenset((a, b)) not in self.rods:
            style = "measured" if hasattr(w.entry, "by") else "link"
            self.made.add("line", style, a, b, label=w.name)
        else:
            self.beneath[f"{w.table}/{w.name}"] = frozenset((a, b))

    def joint(self, w: Written) -> None:
        entry, system = w.entry, self.system
        at = system.vector("point_m", entry.point_m)
        places = []
        for name in entry.bodies:
            body = system.bodies.get(name, GROUND)
            places.append(_on(body, at, system))
            if name in self.on_body:
                self.on_body[name].append(places[-1])
        label = w.name
        for key, sign in (("angle", "∠"), ("travel", "↔")):
            measured = getattr(entry, key, None)
            if measured is not None:
                label = f"{sign} {w.name}" if measured == w.name else f"{label} {sign} {measured}"
        self.made.add("mark", f"joint {w.table}", places[0], label=label)
        axis = getattr(entry, "axis", None)
        if axis is None:
            return
        second = system.bodies.get(entry.bodies[1], GROUND)
        direction = _turned(second, system.vector("axis", axis), system)
        if direction is not None:
            self.made.add("axis", "axis", places[1], direction)

    def slide(self, start: Vector, along: Vector, point: Vector, by: str, name: str) -> None:
        self.made.add("mark", "joint prismatic", point, label=name)
        self.made.add("arrow", self.style_of(by, "travel"), point, along, label=f"↔ {by}")
        self.made.add("line", "rail", start, point)
        for other in self.sliding.setdefault(by, []):
            self.made.add("line", "together", other, point, label=by)
        self.sliding[by].append(point)

    def style_of(self, coordinate: str, else_: str) -> str:
        return "guide" if coordinate in self.guided else else_

    def rotation(self, w: Written) -> None:
        entry, system = w.entry, self.system
        axis, zero = system.vector("axis", entry.axis), system.vector("zero", entry.zero)
        coordinate = system.scalars[entry.angle]
        if entry.point is not None:
            centre = self.point(entry.centre_m)
            self.made.add("line", "arm", centre, system.point("point", entry.point))
            self.arc(centre, axis, zero, coordinate)
        else:
            self.turning[entry.vector] = (axis, entry.angle)

    def arc(self, centre: Vector, axis: Vector, zero: Vector, c: Coordinate) -> None:
        style = self.style_of(c.name, "angle")
        self.made.add("arc", style, centre, axis, zero, label=f"∠ {c.name}", value=c.q)

    def bodies(self) -> None:
        system = self.system
        for w in self.written:
            if w.table == "body_point":
                self.on_body[w.entry.body].append(system.points[w.name])
        number = 0
        for w in self.written:
            if w.table != "rigid_body":
                continue
            entry, body = w.entry, system.bodies[w.name]
            points = [self.point(value) for value in entry.points]
            corners = list(dict.fromkeys([*points, *self.on_body[w.name]]))
            centre = _on(body, system.vector("centre_m", entry.centre_m), system)
            weighs = system.number("mass_kg", getattr(entry.mass_kg, "input", entry.mass_kg)) > 0.0
            if weighs:
                corners.append(centre)
                self.made.add("mark", "centre", centre, colour=number)
            self.made.add("area", "body", *corners, label=w.name, colour=number)
            self.vectors_of(entry, points[0], centre if weighs else points[0])
            if entry.angle is not None:
                self.turn(entry, points, system.scalars[entry.angle])
            number += 1

    def vectors_of(self, entry: Any, first: Vector, centre: Vector) -> None:
        for value in entry.vectors:
            vector = self.system.direction("vectors", value)
            if is_moving(vector) and vector not in self.placed:
                self.placed.add(vector)
                self.made.add("arrow", "vector", first, vector, label=str(value))

    def turn(self, entry: Any, points: list[Vector], c: Coordinate) -> None:
        system = self.system
        axis = system.vector("axis", entry.axis)
        arms = [system.direction("vectors", value) for value in entry.vectors]
        arms += [minus(p, points[0]) for p in points[1:]]
        built = [np.array([system.initial(part) for part in arm]) for arm in arms]
        unit = np.array(axis) / np.linalg.norm(axis)
        arm = next((b for b in built if np.linalg.norm(np.cross(unit, b)) > 1e-6), None)
        if arm is None:
            return
        # where the arm stood when the angle was zero
        a = -c.initial
        side = arm - unit * (unit @ arm)
        zero = np.cos(a) * side + np.sin(a) * np.cross(unit, side)
        self.made.add("axis", "axis", points[0], _vector(unit))
        self.arc(points[0], _vector(unit), _vector(zero), c)

    def points(self) -> None:
        moving = {v: n for n, v in self.system.points.items() if is_moving(v)}
        for point, name in moving.items():
            self.made.add("mark", "moving", point, label=name)
            free = [k for k in range(3) if is_moving((point[k], 0.0, 0.0))]
            if len(free) == 1:  # the file lets it move along one axis
                self.made.add("axis", "rail", point, _vector(np.eye(3)[free[0]]))
        for point, name in self.fixed.items():
            self.made.add("mark", "fixed", point, label=name)
        q = np.array([c.initial for c in self.system.coordinates])
        shown = [s for s in self.made.shapes if s.kind not in SIZED]
        if shown:
            places = np.concatenate([d.points for d in self.made.drawn(q, shown, 1.0)])
            self.made.size = float(np.linalg.norm(np.ptp(places, axis=0))) or 1.0

    def directions(self) -> None:
        """Moving vectors that belong to no body share an inset of their own."""
        origin = (0.0, 0.0, 0.0)
        for name, vector in self.system.vectors.items():
            if vector in self.placed or not is_moving(vector):
                continue
            axis, angle = self.turning.get(name, (None, ""))
            style = self.style_of(angle, "vector")
            label = f"{name} ∠ {angle}" if angle else name
            self.made.loose.append(Shape("arrow", style, (origin, vector), label))
            if axis is not None:
                self.made.loose.append(Shape("axis", "axis", (origin, axis)))

    def guides(self) -> None:
        """Guided coordinates of points get an arrow; angles and travels have theirs already."""
        for guide in self.system.guides:
            name = guide.coordinate.name
            point, _, letter = name.rpartition("_")
            if point in self.system.points and letter in ("x", "y", "z"):
                axis = _vector(np.eye(3)["xyz".index(letter)])
                self.made.add("arrow", "guide", self.system.points[point], axis, label=f"↔ {name}")
            elif not any(
                shape.style == "guide" and name in shape.label.split()
                for shape in [*self.made.shapes, *self.made.loose]
            ):
                self.made.notes.append(f"guide {guide.name}: {name}")


def _vector(values: NDArray[np.float64]) -> Vector:
    x, y, z = (float(v) for v in values)
    return (x, y, z)


def _plain(vector: Vector, system: System) -> Vector:
    x, y, z = (system.initial(component) for component in vector)
    return (x, y, z)


def _on(body: Body, at: Vector, system: System) -> Vector:
    try:
        return body.point(system.graph, at)
    except ValueError:  # a slender body has no such point
        return at


def _turned(body: Body, direction: Vector, system: System) -> Vector | None:
    try:
        return body.direction(system.graph, direction)
    except ValueError:
        return None

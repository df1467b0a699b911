"""The content of a drawing, in space: shapes whose places are expressions of a mechanism's coordinates."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from codegen.expressions.dag import Expr, evaluate
from codegen.system.system import System
from codegen.system.vectors import Vector

ARROW = 0.13  # of the drawing's size: length of a unit vector
ARC = 0.07  # radius of an angle
ARC_STEPS = 40
SMALL_TURN, HINT = 0.06, 0.5  # rad
SIZED = ("arrow", "axis", "arc")  # kinds that have the size of the drawing, not of the mechanism


@dataclass(frozen=True)
class Shape:
    """Something to draw.

    Attributes
    ----------
    kind : str
        "line", "spring", "area" through `points`; "mark" at the first one; "arrow" from it, "axis"
        to both sides of it, along the unit vector `points[1]`; "arc" about it, axis and zero
        direction following, by `value`.
    style : str
        A key of `paint.STYLES`.
    """

    kind: str
    style: str
    points: tuple[Vector, ...]
    label: str = ""
    value: Expr | float = 0.0
    colour: int = 0


@dataclass(frozen=True)
class Drawn:
    """A shape in one pose; `points` has shape (n, 3), arrows and arcs are polylines."""

    kind: str
    style: str
    points: NDArray[np.float64]
    label: str
    colour: int


@dataclass
class Sketch:
    """All shapes of a mechanism.

    Attributes
    ----------
    loose : list of Shape
        Directions that no element places anywhere.
    notes : list of str
        What has no place in space: couplings of scalar coordinates.
    place_of : dict of str to int
        Number in `shapes` of the one that shows an element first, by `<table>/<name>`.
    """

    system: System
    shapes: list[Shape] = field(default_factory=list)
    loose: list[Shape] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    place_of: dict[str, int] = field(default_factory=dict)
    size: float = 1.0

    def add(self, kind: str, style: str, *points: Vector, label: str = "", **more: Any) -> None:
        self.shapes.append(Shape(kind, style, points, label, **more))

    def at(self, q: NDArray[np.float64]) -> list[Drawn]:
        """The shapes at coordinates `q`, in the order of the system's coordinates."""
        return self.drawn(q, self.shapes, self.size)

    def loose_at(self, q: NDArray[np.float64]) -> list[Drawn]:
        """The loose directions, as arrows of length one from the origin."""
        return self.drawn(q, self.loose, 1.0 / ARROW)

    def drawn(self, q: NDArray[np.float64], shapes: list[Shape], size: float) -> list[Drawn]:
        values = dict(zip((c.q.name for c in self.system.coordinates), map(float, q), strict=True))
        values |= {p.var.name: p.default for p in [*self.system.parameters, *self.system.signals]}

        def number(e: Expr | float) -> float:
            return evaluate(e, values) if isinstance(e, Expr) else float(e)

        made = []
        for shape in shapes:
            points = np.array([[number(c) for c in point] for point in shape.points])
            made.append(finished(shape, points, number(shape.value), size))
        return made


def finished(shape: Shape, points: NDArray[np.float64], value: float, size: float) -> Drawn:
    """Return a shape in a pose, from the numbers of its points and its value."""
    if shape.kind in ("arrow", "axis"):
        reach = ARROW * size * points[1]
        tail = points[0] - reach if shape.kind == "axis" else points[0]
        points = np.array([tail, points[0] + reach])
    elif shape.kind == "arc":
        points = _arc(points, value, ARC * size)
    return Drawn(shape.kind, shape.style, points, shape.label, shape.colour)


def _arc(points: np.ndarray, angle: float, radius: float) -> np.ndarray:
    centre, axis, zero = points
    axis = axis / np.linalg.norm(axis)
    zero = zero - axis * (axis @ zero)
    zero = zero / np.linalg.norm(zero)
    # at zero there is nothing to see but the sense
    ends = (0.0, angle) if abs(angle) > SMALL_TURN else (-HINT, HINT)
    turn = np.linspace(*ends, ARC_STEPS)[:, None]
    # more than a turn winds outwards, so that turns can be counted
    grow = radius * (1.0 + 0.15 * np.abs(turn) / (2.0 * np.pi))
    return centre + grow * (np.cos(turn) * zero + np.sin(turn) * np.cross(axis, zero))

"""The shapes of a sketch for one pose after another, at the cost of a product of a matrix.

Places are affine in the coordinates nearly everywhere, for the coordinates are points and vectors; the others are
evaluated as expressions.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from codegen.expressions.dag import Expr, evaluate
from rigloop.drawing.sketch import ARROW, Drawn, Shape, Sketch, finished

AFFINE = 1e-9  # of the largest number of a place


class Poses:
    """All shapes of a sketch, loose directions last.

    Parameters
    ----------
    sketch : Sketch

    Attributes
    ----------
    shapes : tuple of Shape
    n_placed : int
        From this one on they are loose directions, around one origin.
    """

    def __init__(self, sketch: Sketch) -> None:
        system = sketch.system
        self.shapes: tuple[Shape, ...] = (*sketch.shapes, *sketch.loose)
        self.n_placed = len(sketch.shapes)
        self._size = sketch.size
        self._names = [c.q.name for c in system.coordinates]
        self._others = {p.var.name: p.default for p in [*system.parameters, *system.signals]}
        self._parts = [
            part
            for shape in self.shapes
            for part in (*(c for point in shape.points for c in point), shape.value)
        ]
        self._q0 = np.array([c.initial for c in system.coordinates], np.float64)
        self._base = self._numbers(self._q0)
        self._slopes = np.column_stack(
            [self._numbers(self._q0 + unit) - self._base for unit in np.eye(len(self._q0))]
        ) if len(self._q0) else np.zeros((len(self._parts), 0))  # fmt: skip
        # an affine law that holds at some other place, too, far from the first ones
        away = np.cos(np.arange(1.0, len(self._q0) + 1.0))
        found = self._numbers(self._q0 + away)
        error = np.abs(self._base + self._slopes @ away - found)
        self._bent = np.flatnonzero(~(error <= AFFINE * (1.0 + np.abs(found))))

    def at(self, q: NDArray[np.float64]) -> list[Drawn]:
        """Return the shapes at coordinates `q`, in the order of `shapes`."""
        numbers = self._base + self._slopes @ (q - self._q0)
        if len(self._bent):
            numbers[self._bent] = self._numbers(q, self._bent)
        made, begin = [], 0
        for place, shape in enumerate(self.shapes):
            n = 3 * len(shape.points)
            points = numbers[begin : begin + n].reshape(-1, 3)
            size = self._size if place < self.n_placed else 1.0 / ARROW
            made.append(finished(shape, points, float(numbers[begin + n]), size))
            begin += n + 1
        return made

    def points_of(self, number: int, q: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the numbers of the points of one shape, as the sketch has them: centre, axis and zero of an arc."""
        begin = sum(3 * len(shape.points) + 1 for shape in self.shapes[:number])
        size = 3 * len(self.shapes[number].points)
        return self._numbers(q, np.arange(begin, begin + size)).reshape(-1, 3)

    def _numbers(
        self, q: NDArray[np.float64], which: NDArray[np.intp] | None = None
    ) -> NDArray[np.float64]:
        values = dict(zip(self._names, map(float, q), strict=True)) | self._others
        parts = self._parts if which is None else [self._parts[k] for k in which]
        return np.array([_number(part, values) for part in parts], np.float64)


def _number(part: Expr | float, values: dict[str, float]) -> float:
    if not isinstance(part, Expr):
        return float(part)
    try:
        return evaluate(part, values)
    except (ValueError, ArithmeticError):
        # outside of where the expression has a value
        return float("nan")

"""A rigid body in natural coordinates: every point of it is a constant combination of a few
*generators*, its basic points and vectors.

A generator g_k is homogeneous: (1, position) for a point, (0, direction) for a vector. With G the
4 x n matrix of the generators as built, a point or direction x of the body is sum_k w_k g_k with
w = G^+ x, always. So the mass matrix is constant: M_kl = w_k(dm) w_l(dm) integrated.

Source: Garcia de Jalon and Bayo 1994, chapter 4, in homogeneous form.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from codegen.expressions.dag import Expr, Graph
from codegen.system.vectors import Vector, plus, times

OFF_SPAN = 1e-9


@dataclass(frozen=True)
class Body:
    """Generators as expressions, and the weights `w = inverse @ x` of a homogeneous x as built.

    Attributes
    ----------
    generators : tuple of Vector
    built : ndarray, shape (4, n)
        The generators as built.
    inverse : ndarray, shape (n, 4)
        Empty for the ground, where everything stays as built.
    """

    generators: tuple[Vector, ...]
    built: np.ndarray
    inverse: np.ndarray

    def weights(self, homogeneous: Sequence[float]) -> np.ndarray:
        """Weights of the generators for (1, point) or (0, direction), as built.

        Raises
        ------
        ValueError
            The generators do not span it.
        """
        x = np.asarray(homogeneous, dtype=float)
        w = tidy(self.inverse @ x)
        if np.max(np.abs(self.built @ w - x)) > OFF_SPAN * max(1.0, float(np.max(np.abs(x)))):
            raise ValueError("lies outside what the body's points and vectors span")
        return w

    def point(self, graph: Graph, position: Vector) -> Vector:
        """The body's point that was built at `position`; it moves on the body where that is an
        expression.
        """
        fixed = [
            0.0 if isinstance(p, Expr) and not p.is_const else float(_number(p)) for p in position
        ]
        found = self._combined(graph, (1.0, *fixed))
        for unit, p in zip(np.eye(3), position, strict=True):
            if isinstance(p, Expr) and not p.is_const:
                along = self.direction(graph, [float(u) for u in unit])
                found = plus(found, times(p, along))
        return found

    def direction(self, graph: Graph, direction: Sequence[float]) -> Vector:
        """The body's direction that was built as `direction`."""
        return self._combined(graph, (0.0, *direction))

    def _combined(self, graph: Graph, homogeneous: Sequence[float]) -> Vector:
        if not self.generators:
            return (homogeneous[1], homogeneous[2], homogeneous[3])
        w = self.weights(homogeneous)
        x, y, z = (
            graph.total((float(c), g[axis]) for c, g in zip(w, self.generators, strict=True) if c)
            for axis in range(3)
        )
        return (x, y, z)


GROUND = Body((), np.eye(4), np.zeros((0, 4)))


def make(generators: Sequence[Vector], built: Sequence[Sequence[float]]) -> Body:
    """A body from its generators and their values as built (homogeneous, length 4 each)."""
    matrix = np.array(built, dtype=float).T
    return Body(tuple(generators), matrix, tidy(np.linalg.pinv(matrix)))


def tidy(values: np.ndarray) -> np.ndarray:
    """Zeros and whole numbers exact, other numbers cut to the digits on which linear algebra
    libraries agree: noise would become structure of the generated code.
    """
    size = max(1.0, float(np.max(np.abs(values), initial=0.0)))
    rounded = np.array([float(f"{v:.14g}") for v in values.ravel()]).reshape(values.shape)
    whole = np.round(rounded)
    return np.where(np.abs(rounded - whole) < 1e-13 * size, whole, rounded)


def _number(value: Expr | float) -> float:
    return value.value if isinstance(value, Expr) else value


def is_moving(vector: Vector) -> bool:
    return any(isinstance(c, Expr) and not c.is_const for c in vector)

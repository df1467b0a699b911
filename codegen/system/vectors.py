"""Three-vectors as plain tuples; the components may be numbers or expressions."""

from __future__ import annotations

from typing import Any

Vector = tuple[Any, Any, Any]


def plus(a: Vector, b: Vector) -> Vector:
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


def minus(a: Vector, b: Vector) -> Vector:
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


def times(factor: Any, a: Vector) -> Vector:
    return (factor * a[0], factor * a[1], factor * a[2])


def dot(a: Vector, b: Vector) -> Any:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross(a: Vector, b: Vector) -> Vector:
    return (
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    )

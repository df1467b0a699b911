"""Quaternions of balls and free bodies, whatever their length."""

from __future__ import annotations

from collections.abc import Sequence

from codegen.expressions.dag import Expr
from codegen.spatial.algebra import Matrix
from codegen.system.vectors import Vector


def quaternion_matrix(p: Sequence[Expr]) -> Matrix:
    """Return the rotation matrix of e0 + e1 i + e2 j + e3 k; the quaternion may have any length except zero."""
    e0, e1, e2, e3 = p
    s = 2.0 / length2(p)
    return [
        [1.0 - s * (e2 * e2 + e3 * e3), s * (e1 * e2 - e0 * e3), s * (e1 * e3 + e0 * e2)],
        [s * (e1 * e2 + e0 * e3), 1.0 - s * (e1 * e1 + e3 * e3), s * (e2 * e3 - e0 * e1)],
        [s * (e1 * e3 - e0 * e2), s * (e2 * e3 + e0 * e1), 1.0 - s * (e1 * e1 + e2 * e2)],
    ]


def length2(p: Sequence[Expr]) -> Expr:
    graph = p[0].graph
    return graph.total((1.0, e * e) for e in p)


def grown(p: Sequence[Expr], rates: Sequence[Expr]) -> Vector:
    """Half of the angular velocity in the moving axes, for a quaternion of length 1."""
    e0, e1, e2, e3 = p
    r0, r1, r2, r3 = rates
    return (
        -e1 * r0 + e0 * r1 + e3 * r2 - e2 * r3,
        -e2 * r0 - e3 * r1 + e0 * r2 + e1 * r3,
        -e3 * r0 + e2 * r1 - e1 * r2 + e0 * r3,
    )

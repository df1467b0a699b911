"""Sums of products, one factor a joint, that products and derivatives of them lead back to."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

SMALL = 1e-12  # of a coefficient's size: below, it is round-off

# factors of one joint, and their products and derivatives
ONE, COS, SIN, COS2, SIN2, Q, QQ = range(7)
PRODUCTS = {
    (COS, COS): ((0.5, ONE), (0.5, COS2)),
    (SIN, SIN): ((0.5, ONE), (-0.5, COS2)),
    (COS, SIN): ((0.5, SIN2),),
    (Q, Q): ((1.0, QQ),),
}
SLOPES = {
    COS: (-1.0, SIN), SIN: (1.0, COS), COS2: (-2.0, SIN2), SIN2: (2.0, COS2), Q: (1.0, ONE),
    QQ: (2.0, Q),
}  # fmt: skip

Key = tuple[int, ...]  # one factor a joint
Sum = dict[Key, float]
Matrix = list[list[Sum]]


def values(q: float) -> tuple[float, ...]:
    """Return the factors of a joint at q, in the order of their numbers."""
    return (1.0, math.cos(q), math.sin(q), math.cos(2.0 * q), math.sin(2.0 * q), q, q * q)


def times(a: Sum, b: Sum) -> Sum:
    found: Sum = {}
    for key_a, coef_a in a.items():
        for key_b, coef_b in b.items():
            parts: list[tuple[float, Key]] = [(coef_a * coef_b, ())]
            for one, other in zip(key_a, key_b, strict=True):
                pair = (min(one, other), max(one, other))
                made = PRODUCTS[pair] if pair[0] != ONE else ((1.0, pair[1]),)
                parts = [(c * d, (*key, f)) for c, key in parts for d, f in made]
            for coef, key in parts:
                found[key] = found.get(key, 0.0) + coef
    return found


def plus(sums: Iterable[Sum]) -> Sum:
    found: Sum = {}
    for one in sums:
        for key, coef in one.items():
            found[key] = found.get(key, 0.0) + coef
    return found


def product(a: Matrix, b: Matrix) -> Matrix:
    rows, columns = range(len(a)), range(len(b[0]))
    return [
        [tidy(plus(times(a[r][k], b[k][c]) for k in range(len(b)))) for c in columns] for r in rows
    ]


def tidy(one: Sum) -> Sum:
    return {key: coef for key, coef in one.items() if abs(coef) > SMALL}


def constant(matrix: np.ndarray, n: int) -> Matrix:
    return [[{(ONE,) * n: float(v)} if v else {} for v in row] for row in matrix]

"""Numbers of large mechanisms: L D L^T of a sparse symmetric matrix, and its applications.

Hundreds of bodies have thousands of coordinates, each of which meets only a few others: work and
memory grow with them, where dense factors would grow with their cube.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from codegen.expressions.degree_order import order_by_degree

LARGE = 256  # rows or columns from which on the sparse way is the faster one

Rows = list[dict[int, float]]


def rows_of(matrix: np.ndarray) -> Rows:
    """Nonzeros of a dense matrix, by row."""
    found: Rows = [{} for _ in matrix]
    for i, j in zip(*np.nonzero(matrix), strict=True):
        found[int(i)][int(j)] = float(matrix[i, j])
    return found


@dataclass
class SparseLdl:
    """`columns[k]` has the entries of L below its pivot, `pivots[k]` is D; in the matrix's own
    indices, eliminated in `order`.
    """

    order: list[int]
    columns: list[dict[int, float]]
    pivots: list[float]

    def solve(self, right: Sequence[float]) -> np.ndarray:
        x = [float(v) for v in right]
        for k in self.order:
            value = x[k]
            if value != 0.0:
                for i, entry in self.columns[k].items():
                    x[i] -= entry * value
        for k in reversed(self.order):
            x[k] = x[k] / self.pivots[k] - sum(e * x[i] for i, e in self.columns[k].items())
        return np.array(x)

    def null_vector(self, k: int) -> np.ndarray:
        """x with matrix x = pivot of k times the unit vector of k, or nearly."""
        x = np.zeros(len(self.order))
        x[k] = 1.0
        place = self.order.index(k)
        for m in reversed(self.order[:place]):
            x[m] = -sum(e * x[i] for i, e in self.columns[m].items())
        return x

    def inverse_diagonal(self) -> np.ndarray:
        """Diagonal of the inverse, from the entries of the inverse on L's own pattern.

        Source: Takahashi, Fagan and Chin 1973; Erisman and Tinney 1975.
        """
        inverse: list[dict[int, float]] = [{} for _ in self.order]
        for k in reversed(self.order):
            column = self.columns[k]
            mine = inverse[k]
            for i in column:
                mine[i] = -sum(e * inverse[i][j] for j, e in column.items())
                inverse[i][k] = mine[i]
            mine[k] = 1.0 / self.pivots[k] - sum(e * mine[i] for i, e in column.items())
        return np.array([inverse[k][k] for k in range(len(self.order))])


def factorised(matrix: Rows) -> SparseLdl:
    """L D L^T of a symmetric matrix with both triangles given, without pivoting: it must be
    definite, or quasi-definite (Vanderbei 1995).
    """
    n = len(matrix)
    around = [set(row) - {i} for i, row in enumerate(matrix)]
    order = order_by_degree(n, around, [])
    rest = [dict(row) for row in matrix]
    columns: list[dict[int, float]] = [{} for _ in range(n)]
    pivots = [0.0] * n
    for k in order:
        mine = rest[k]
        pivot = pivots[k] = mine.pop(k, 0.0)
        for i, entry in mine.items():
            del rest[i][k]
            share = columns[k][i] = entry / pivot if pivot else 0.0
            row = rest[i]
            for j, other in mine.items():
                row[j] = row.get(j, 0.0) - share * other
        rest[k] = {}
    return SparseLdl(order, columns, pivots)


def saddle(mass: Rows, jac: Rows, softness: Sequence[float]) -> SparseLdl:
    """Factor of [[mass, jac^T], [jac, -softness]], mass definite; some softness in each row makes
    every order of elimination possible.
    """
    n_q = len(mass)
    whole: Rows = [dict(row) for row in mass] + [{} for _ in jac]
    for r, row in enumerate(jac):
        whole[n_q + r][n_q + r] = -softness[r]
        for i, entry in row.items():
            whole[i][n_q + r] = whole[n_q + r][i] = entry
    return factorised(whole)


def least(jac: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Least change x with jac x = right, or as nearly as can be."""
    if max(jac.shape) < LARGE:
        return np.linalg.lstsq(jac, right, rcond=1e-9)[0]
    # identity as mass: x = -jac^T y; softness is worn off by repetition
    n_q = jac.shape[1]
    unit: Rows = [{i: 1.0} for i in range(n_q)]
    factor = saddle(unit, rows_of(jac), [1e-9] * len(jac))
    x = np.zeros(n_q)
    for _ in range(3):
        missing = right - jac @ x
        x += factor.solve([*np.zeros(n_q), *missing])[:n_q]
    return x

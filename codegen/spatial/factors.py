"""L D L^T of small matrices whose entries are expressions."""

from __future__ import annotations

from codegen.spatial.algebra import Value

Factor = tuple[list[list[Value]], list[Value]]  # L and 1 / D


def factored(matrix: list[list[Value]]) -> Factor:
    """L of L D L^T, below its diagonal of ones, and 1 / D."""
    n = len(matrix)
    lower: list[list[Value]] = [[0.0] * n for _ in range(n)]
    scaled: list[list[Value]] = [[0.0] * n for _ in range(n)]  # L D
    inverse: list[Value] = []
    for j in range(n):
        pivot = matrix[j][j]
        for k in range(j):
            pivot = pivot - lower[j][k] * scaled[j][k]
        inverse.append(1.0 / pivot)
        for i in range(j + 1, n):
            entry = matrix[i][j]
            for k in range(j):
                entry = entry - scaled[i][k] * lower[j][k]
            scaled[i][j] = entry
            lower[i][j] = entry * inverse[j]
    return lower, inverse


def substituted(factor: Factor, right: list[Value]) -> list[Value]:
    """The solution of a system with a factored matrix."""
    scaled = zip(forwards(factor, right), factor[1], strict=True)
    return backwards(factor, [value * scale for value, scale in scaled])


def forwards(factor: Factor, right: list[Value]) -> list[Value]:
    """L^-1 of a column."""
    lower, _ = factor
    x = list(right)
    for i in range(len(x)):
        for k in range(i):
            x[i] = x[i] - lower[i][k] * x[k]
    return x


def backwards(factor: Factor, right: list[Value]) -> list[Value]:
    """L^-T of a column."""
    lower, _ = factor
    x = list(right)
    for i in reversed(range(len(x))):
        for k in range(i + 1, len(x)):
            x[i] = x[i] - lower[k][i] * x[k]
    return x

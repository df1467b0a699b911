"""Static LDL^T of a symmetric matrix of expressions, and its substitutions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from codegen.expressions.dag import Expr, Graph
from codegen.expressions.elimination_cost import entry
from codegen.expressions.ordering import bordered, order_pattern, quick_columns

__all__ = ["Entries", "Factor", "bordered", "factorise", "order_pattern", "substitute"]

Entries = dict[tuple[int, int], Expr]


@dataclass
class Factor:
    """LDL^T in elimination order: `lower[(i, k)]`, `upper[(k, i)]` = lower d and `inverse[k]` = 1/d
    in the matrix's own indices.
    """

    order: list[int]
    lower: Entries
    upper: Entries
    inverse: dict[int, Expr]


def factorise(
    graph: Graph, matrix: Entries, order: list[int], names: Sequence[str], *, cut: bool = False
) -> Factor:
    """LDL^T by columns; only structural nonzeros exist. Keys of `matrix` are (min, max).

    With `cut`, a column sees earlier ones as stored variables (`upper k i`, `lower i k`, `inverse
    k`), so that every column is a small expression on its own.
    """
    rank = {index: position for position, index in enumerate(order)}
    quick = set() if cut else quick_columns({key: entry(e) for key, e in matrix.items()}, order)
    # terms[(i, j)], i eliminated before j, collects the entry and the terms that earlier pivots subtract
    terms: dict[tuple[int, int], list[tuple[float, Expr]]] = {}
    for (i, j), e in matrix.items():
        key = (i, j) if rank[i] <= rank[j] else (j, i)
        terms[key] = [(1.0, e)]
    below: dict[int, list[int]] = {k: [] for k in order}
    for i, j in terms:
        if i != j:
            below[i].append(j)
    factor = Factor(order, {}, {}, {})
    for k in order:
        rest = sorted(set(below[k]), key=rank.__getitem__)
        pivot = graph.stem(graph.total(terms[k, k]), f"pivot_{names[k]}")
        inverse = factor.inverse[k] = graph.stem(graph.reciprocal(pivot), f"inverse_{names[k]}")
        upper, lower = {}, {}
        for i in rest:
            value = graph.stem(graph.total(terms[k, i]), f"u_{names[k]}_{names[i]}")
            factor.upper[k, i] = value
            upper[i] = graph.var(f"upper {k} {i}") if cut else value
            factor.lower[i, k] = graph.stem(
                (value if cut else upper[i]) * inverse, f"l_{names[i]}_{names[k]}"
            )
            lower[i] = graph.var(f"lower {i} {k}") if cut else factor.lower[i, k]
        for a, i in enumerate(rest):
            # the next pivot of this branch waits for nothing but the reciprocal
            if a == 0 and k in quick:
                square = (upper[i] * upper[i]) * inverse
            else:
                square = upper[i] * lower[i]
            terms[i, i].append((-1.0, square))
            for j in rest[a + 1 :]:
                if (i, j) not in terms:
                    terms[i, j] = []
                    below[i].append(j)
                terms[i, j].append((-1.0, upper[i] * lower[j]))
    return factor


def substitute(
    graph: Graph,
    factor: Factor,
    lower: Mapping[tuple[int, int], Expr],
    inverse: Mapping[int, Expr],
    rhs: Sequence[Expr],
    *,
    cut: bool = False,
) -> tuple[list[Expr], list[Expr]]:
    """Forward (y) and back substitution (x), with the factor's entries as given expressions.

    With `cut`, earlier results are variables (`y i`, `x i`). `rhs` may have zeros for indices that
    are not in the order.
    """
    rank = {index: position for position, index in enumerate(factor.order)}
    by_row: dict[int, list[int]] = {k: [] for k in factor.order}
    by_column: dict[int, list[int]] = {k: [] for k in factor.order}
    for i, k in factor.lower:
        by_row[i].append(k)
        by_column[k].append(i)
    y: dict[int, Expr] = {}
    seen: dict[int, Expr] = {}
    for i in factor.order:
        earlier = sorted(by_row[i], key=rank.__getitem__)
        y[i] = graph.total([(1.0, rhs[i])] + [(-1.0, lower[i, k] * seen[k]) for k in earlier])
        seen[i] = graph.var(f"y {i}") if cut else y[i]
    x: dict[int, Expr] = {}
    found: dict[int, Expr] = {}
    for k in reversed(factor.order):
        later = sorted(by_column[k], key=rank.__getitem__)
        x[k] = graph.total(
            [(1.0, seen[k] * inverse[k])] + [(-1.0, lower[i, k] * found[i]) for i in later]
        )
        found[k] = graph.var(f"x {k}") if cut else x[k]
    zero = graph.zero
    return [y.get(i, zero) for i in range(len(rhs))], [x.get(i, zero) for i in range(len(rhs))]

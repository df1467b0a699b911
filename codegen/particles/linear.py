"""Expressions that are linear in some variables, taken apart in one pass: a coefficient of each, and the rest."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from codegen.expressions.dag import Expr, Graph

Parts = tuple[dict[Expr, Expr], Expr]


def parted(graph: Graph, exprs: Sequence[Expr], unknown: Iterable[Expr]) -> list[Parts]:
    """Coefficients by variable, and what is left where all of these are zero.

    Raises
    ------
    ValueError
        An expression is not linear in them.
    """
    known: dict[Expr, Parts] = {var: ({var: graph.one}, graph.zero) for var in unknown}
    for e in exprs:
        stack = [e]
        while stack:
            top = stack[-1]
            waiting = [a for a in top.args if a not in known]
            if top in known or not waiting:
                stack.pop()
                if top not in known:
                    known[top] = _of(graph, top, [known[a] for a in top.args])
            else:
                stack += waiting
    return [known[e] for e in exprs]


def _of(graph: Graph, e: Expr, parts: list[Parts]) -> Parts:
    if not any(coefficients for coefficients, _ in parts):
        return {}, e
    if e.op == "sum":
        terms: dict[Expr, list[tuple[float, Expr]]] = {}
        for weight, (coefficients, _) in zip(e.coefs, parts, strict=True):
            for var, c in coefficients.items():
                terms.setdefault(var, []).append((weight, c))
        found = {var: graph.total(summed) for var, summed in terms.items()}
        rest = graph.total((w, left) for w, (_, left) in zip(e.coefs, parts, strict=True))
        return {var: c for var, c in found.items() if not c.is_zero}, rest
    if e.op == "mul" and not (parts[0][0] and parts[1][0]):
        (first, left), (second, right) = parts
        scaled = {var: c * right for var, c in first.items()}
        scaled |= {var: left * c for var, c in second.items()}
        return {var: c for var, c in scaled.items() if not c.is_zero}, left * right
    raise ValueError(f"{e!r} is not linear in the accelerations")

"""Reading an expression as a weighted sum of variables plus a constant."""

from __future__ import annotations

from codegen.expressions.dag import Expr


def affine(expr: Expr | float) -> tuple[dict[Expr, float], float] | None:
    """Weights of the variables and the constant; None when `expr` is not such a sum."""
    weights: dict[Expr, float] = {}
    offset = 0.0
    terms: list[tuple[float, Expr | float]] = [(1.0, expr)]
    while terms:
        coef, term = terms.pop()
        if not isinstance(term, Expr):
            offset += coef * term
        elif term.op == "const":
            offset += coef * term.value
        elif term.op == "var":
            weights[term] = weights.get(term, 0.0) + coef
        elif term.op == "sum":
            terms += [(coef * c, a) for c, a in zip(term.coefs, term.args, strict=True)]
        else:
            return None
    return {var: weights[var] for var in sorted(weights, key=lambda v: v.serial)}, offset

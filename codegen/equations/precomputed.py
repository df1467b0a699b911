"""Parts of expressions that are worth computing once, before the rest."""

from __future__ import annotations

from codegen.equations.program import Routine
from codegen.expressions.dag import Expr
from codegen.expressions.descent import Steps, descend


def trigonometric(exprs: list[Expr]) -> list[Expr]:
    """The sines and cosines in some expressions, in creation order."""
    found: set[Expr] = set()
    seen: set[Expr] = set()
    stack = list(exprs)
    while stack:
        e = stack.pop()
        if e not in seen:
            seen.add(e)
            stack.extend(e.args)
            if e.op in ("sin", "cos"):
                found.add(e)
    return sorted(found, key=lambda e: e.serial)


def parameter_only(routines: list[Routine], parameters: set[Expr]) -> list[Expr]:
    """The largest parts of all routines but `prepare` that contain parameters and nothing that
    moves.
    """
    fixed: dict[Expr, bool] = {}
    found: set[Expr] = set()

    def is_fixed(e: Expr) -> Steps[bool]:
        if e not in fixed:
            fixed[e] = e.op == "const" or e in parameters
            for arg in e.args:
                fixed[e] = yield is_fixed(arg)
                if not fixed[e]:
                    break
        return fixed[e]

    seen: set[Expr] = set()
    stack = [a.expr for routine in routines if routine.name != "prepare" for a in routine.assigns]
    while stack:
        e = stack.pop()
        if e in seen:
            continue
        seen.add(e)
        if not descend(is_fixed(e)):
            stack.extend(e.args)
        elif e.op not in ("const", "var"):
            found.add(e)
    return sorted(found, key=lambda e: e.serial)

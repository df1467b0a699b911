"""Numbers of many expressions at once: each shared part is computed once."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from codegen.expressions.dag import FUNCTIONS, Expr


class Evaluated:
    """A list of expressions that is evaluated again and again.

    Parameters
    ----------
    expressions : sequence of Expr
        All of one graph.
    """

    def __init__(self, expressions: Sequence[Expr]) -> None:
        self.expressions = tuple(expressions)
        reached: set[Expr] = set()
        waiting = list(self.expressions)
        while waiting:
            e = waiting.pop()
            if e not in reached:
                reached.add(e)
                waiting.extend(e.args)
        # a node is made after its arguments
        self._order = sorted(reached, key=lambda e: e.serial)

    def __call__(self, values: Mapping[str, float]) -> NDArray[np.float64]:
        """Their numbers where the variables have these values, shape (n,)."""
        found: dict[Expr, float] = {}
        for e in self._order:
            args = [found[a] for a in e.args]
            if e.op == "const":
                found[e] = e.value
            elif e.op == "var":
                found[e] = values[e.name]
            elif e.op == "sum":
                found[e] = math.fsum(c * a for c, a in zip(e.coefs, args, strict=True))
            elif e.op == "mul":
                found[e] = args[0] * args[1]
            elif e.op == "inv":
                found[e] = 1.0 / args[0]
            elif e.op == "where":
                found[e] = args[2] if args[0] < args[1] else args[3]
            else:
                found[e] = FUNCTIONS[e.op](args[0])
        return np.array([found[e] for e in self.expressions], float)

"""Expressions as a hash-consed directed acyclic graph: equal expressions are one node.

Building folds constants, drops zeros and merges like terms; `tangent` and `diff` differentiate. A
node is an n-ary weighted sum, a binary product, a reciprocal, a function of one argument, a choice,
a variable or a number. Sums keep the grouping in which they were written, so that a difference
shared by several rows stays shared.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from codegen.expressions.descent import Steps, descend

FUNCTIONS: dict[str, Callable[[float], float]] = {
    "sin": math.sin,
    "cos": math.cos,
    "sqrt": math.sqrt,
    "abs": abs,
}


class Parts(NamedTuple):
    """The content of a node: all that tells it from another one of its graph."""

    op: str
    args: tuple[Expr, ...] = ()
    coefs: tuple[float, ...] = ()
    name: str = ""
    value: float = 0.0


class Expr:
    """One node; made by its `Graph` only, compared by identity."""

    __slots__ = ("args", "coefs", "graph", "name", "op", "serial", "value")

    def __init__(self, graph: Graph, serial: int, parts: Parts) -> None:
        self.graph = graph
        self.serial = serial
        self.op, self.args, self.coefs, self.name, self.value = parts

    def __add__(self, other: Expr | float) -> Expr:
        return self.graph.total([(1.0, self), (1.0, other)])

    __radd__ = __add__

    def __sub__(self, other: Expr | float) -> Expr:
        return self.graph.total([(1.0, self), (-1.0, other)])

    def __rsub__(self, other: Expr | float) -> Expr:
        return self.graph.total([(1.0, other), (-1.0, self)])

    def __neg__(self) -> Expr:
        return self.graph.total([(-1.0, self)])

    def __mul__(self, other: Expr | float) -> Expr:
        return self.graph.product(self, other)

    __rmul__ = __mul__

    def __truediv__(self, other: Expr | float) -> Expr:
        if isinstance(other, Expr):
            return self.graph.product(self, self.graph.reciprocal(other))
        return self.graph.product(self, 1.0 / other)

    def __rtruediv__(self, other: float) -> Expr:
        return self.graph.product(self.graph.reciprocal(self), other)

    def __repr__(self) -> str:
        if self.op == "const":
            return repr(self.value)
        return self.name or f"{self.op}#{self.serial}"

    @property
    def is_const(self) -> bool:
        return self.op == "const"

    @property
    def is_zero(self) -> bool:
        return self.op == "const" and self.value == 0.0


class Graph:
    """Owner and interning table of expressions; numbering follows creation, so output is
    reproducible.
    """

    def __init__(self) -> None:
        self._nodes: dict[tuple, Expr] = {}
        self.stems: dict[Expr, str] = {}
        self.slopes: dict[Expr, tuple[Expr, Expr]] = {}
        self.zero = self.const(0.0)
        self.one = self.const(1.0)

    def _node(self, op, args=(), coefs=(), name="", value=0.0) -> Expr:
        # a zero's sign has no meaning here, and repr keeps keys like 1 and 1.0 apart
        key = (op, tuple(a.serial for a in args), coefs, name, value)
        node = self._nodes.get(key)
        if node is None:
            node = Expr(self, len(self._nodes), Parts(op, args, coefs, name, value))
            self._nodes[key] = node
        return node

    def const(self, value: float) -> Expr:
        return self._node("const", value=float(value) + 0.0)

    def lift(self, value: Expr | float) -> Expr:
        return value if isinstance(value, Expr) else self.const(value)

    def var(self, name: str) -> Expr:
        return self._node("var", name=name)

    def stem(self, expr: Expr | float, stem: str) -> Expr:
        """Give `expr` the name that a generated temporary starts with; the first one given
        stays.
        """
        expr = self.lift(expr)
        if expr.op not in ("const", "var"):
            self.stems.setdefault(expr, stem)
        return expr

    def with_slope(self, expr: Expr, variable: Expr, slope: Expr | float) -> Expr:
        """State that `expr` depends on `variable` alone, with this derivative: an expression written as a
        series is differentiated as the function that it stands for.
        """
        if expr.op not in ("const", "var"):
            self.slopes.setdefault(expr, (variable, self.lift(slope)))
        return expr

    def total(self, terms: Iterable[tuple[float, Expr | float]]) -> Expr:
        """Sum of coefficient times expression; one level of scaling is absorbed, grouping is
        kept.
        """
        offset = 0.0
        merged: dict[Expr, float] = {}
        for given_coef, given in terms:
            coef, term = given_coef, self.lift(given)
            if term.op == "sum" and len(term.args) == 1:
                coef, term = coef * term.coefs[0], term.args[0]
            if term.op == "const":
                offset += coef * term.value
            else:
                merged[term] = merged.get(term, 0.0) + coef
        kept = [(term, coef) for term, coef in merged.items() if coef != 0.0]
        if not kept:
            return self.const(offset)
        if offset != 0.0:
            kept.append((self.one, offset))
        elif len(kept) == 1 and kept[0][1] == 1.0:
            return kept[0][0]
        kept.sort(key=lambda pair: pair[0].serial)
        return self._node("sum", tuple(t for t, _ in kept), tuple(c for _, c in kept))

    def flat(self, expr: Expr) -> Expr:
        """A chain of nested sums as one sum, however deep."""
        terms: list[tuple[float, Expr]] = []
        stack = [(1.0, expr)]
        while stack:
            coef, e = stack.pop()
            if e.op == "sum":
                stack += [(coef * c, a) for c, a in zip(e.coefs, e.args, strict=True)]
            else:
                terms.append((coef, e))
        return self.total(terms)

    def product(self, a: Expr | float, b: Expr | float) -> Expr:
        coef, factors = 1.0, []
        for factor in (self.lift(a), self.lift(b)):
            if factor.op == "sum" and len(factor.args) == 1:
                coef *= factor.coefs[0]
                factor = factor.args[0]
            if factor.op == "const":
                coef *= factor.value
            else:
                factors.append(factor)
        if coef == 0.0:
            return self.zero
        if not factors:
            return self.const(coef)
        if len(factors) == 2:
            factors.sort(key=lambda e: e.serial)
            factors = [self._node("mul", tuple(factors))]
        return factors[0] if coef == 1.0 else self.total([(coef, factors[0])])

    def reciprocal(self, a: Expr | float) -> Expr:
        a = self.lift(a)
        if a.op == "const":
            return self.const(1.0 / a.value)
        if a.op == "inv":
            return a.args[0]
        return self._node("inv", (a,))

    def call(self, function: str, a: Expr | float) -> Expr:
        a = self.lift(a)
        if a.op == "const":
            return self.const(FUNCTIONS[function](a.value))
        return self._node(function, (a,))

    def where_less(self, a, b, then, other) -> Expr:
        """`then` where a < b, else `other`; both are evaluated, nothing branches."""
        a, b, then, other = (self.lift(e) for e in (a, b, then, other))
        if a.is_const and b.is_const:
            return then if a.value < b.value else other
        return then if then is other else self._node("where", (a, b, then, other))

    def tangent(self, expr: Expr, seeds: Mapping[Expr, Expr]) -> Expr:
        """Directional derivative of `expr` when each seeded variable moves at the given rate."""
        memo: dict[Expr, Expr] = {}

        def walk(e: Expr) -> Steps[Expr]:
            if e not in memo:
                memo[e] = yield self._tangent(e, walk, seeds)
            return memo[e]

        return descend(walk(expr))

    def _tangent(
        self, e: Expr, walk: Callable[[Expr], Steps[Expr]], seeds: Mapping[Expr, Expr]
    ) -> Steps[Expr]:
        if e.op == "const":
            return self.zero
        if e in self.slopes:
            variable, slope = self.slopes[e]
            return slope * (yield walk(variable))
        if e.op == "var":
            return seeds.get(e, self.zero)
        if e.op == "sum":
            slopes = []
            for a in e.args:
                slopes.append((yield walk(a)))
            return self.total(zip(e.coefs, slopes, strict=True))
        if e.op == "mul":
            a, b = e.args
            if a is b:
                return 2.0 * (a * (yield walk(a)))
            left = (yield walk(a)) * b
            return left + a * (yield walk(b))
        if e.op == "where":
            a, b, then, other = e.args
            first = yield walk(then)
            return self.where_less(a, b, first, (yield walk(other)))
        rate = yield walk(e.args[0])
        if rate.is_zero:
            return self.zero
        if e.op == "inv":
            return -(e * e) * rate
        if e.op == "sin":
            return self.call("cos", e.args[0]) * rate
        if e.op == "cos":
            return -self.call("sin", e.args[0]) * rate
        if e.op == "sqrt":
            return 0.5 * (rate / e)
        if e.op == "abs":
            return self.where_less(e.args[0], 0.0, -rate, rate)
        raise AssertionError(e.op)

    def substitute(self, expr: Expr, values: Mapping[Expr, Expr]) -> Expr:
        """`expr` with variables replaced by expressions."""
        memo: dict[Expr, Expr] = dict(values)

        def walk(e: Expr) -> Steps[Expr]:
            if e not in memo:
                args = []
                for a in e.args:
                    args.append((yield walk(a)))
                made = memo[e] = self._rebuilt(e, args)
                if e in self.slopes and made is not e:
                    variable, slope = self.slopes[e]
                    moved = yield walk(variable)
                    self.with_slope(made, moved, (yield walk(slope)))
            return memo[e]

        return descend(walk(expr))

    def _rebuilt(self, e: Expr, args: list[Expr]) -> Expr:
        if all(a is b for a, b in zip(e.args, args, strict=True)):
            return e
        if e.op == "sum":
            made = self.total(zip(e.coefs, args, strict=True))
        elif e.op == "mul":
            made = self.product(*args)
        elif e.op == "inv":
            made = self.reciprocal(args[0])
        elif e.op == "where":
            made = self.where_less(*args)
        else:
            made = self.call(e.op, args[0])
        return self.stem(made, self.stems[e]) if e in self.stems else made

    def diff(self, expr: Expr, variable: Expr) -> Expr:
        return self.tangent(expr, {variable: self.one})

    def variables(self, expr: Expr) -> list[Expr]:
        """The variables that `expr` contains, in creation order."""
        found: set[Expr] = set()
        seen: set[Expr] = set()
        stack = [expr]
        while stack:
            e = stack.pop()
            if e in seen:
                continue
            seen.add(e)
            if e.op == "var":
                found.add(e)
            stack.extend(e.args)
        return sorted(found, key=lambda e: e.serial)


def evaluate(expr: Expr, values: Mapping[str, float]) -> float:
    """Number of `expr` for given variable values: the slow, obvious oracle of the emitted code."""
    memo: dict[Expr, float] = {}

    def walk(e: Expr) -> Steps[float]:
        if e not in memo:
            args = []
            for a in e.args:
                args.append((yield walk(a)))
            memo[e] = compute(e, args)
        return memo[e]

    def compute(e: Expr, args: list[float]) -> float:
        if e.op == "const":
            return e.value
        if e.op == "var":
            return values[e.name]
        if e.op == "sum":
            return math.fsum(c * a for c, a in zip(e.coefs, args, strict=True))
        if e.op == "mul":
            return args[0] * args[1]
        if e.op == "inv":
            return 1.0 / args[0]
        if e.op == "where":
            a, b, then, other = args
            return then if a < b else other
        return FUNCTIONS[e.op](args[0])

    return descend(walk(expr))

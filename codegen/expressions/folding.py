"""Constant factors moved to where they cost nothing, like squares gathered, opposite sums made one,
second-degree polynomials in their shortest form.

    c (a - x0)  ->  c a - c x0               a multiply-add instead of two operations
    k (a^2 + b^2) - c  ->  (g^2 + h^2) / (2 s) - c,   g = s a, h = s b, s = 2 k

The second is the form of a distance: its gradient is g and h, which are needed anyway.
"""

from __future__ import annotations

import math

from codegen.expressions.dag import Expr, Graph
from codegen.expressions.descent import Steps, descend

LONGEST = 16  # monomials of a polynomial that is worth multiplying out


def folded(e: Expr, factor: float = 1.0, *, with_gradient: bool = False) -> Expr:
    """`factor * e` in the cheapest of the forms that this module knows; with its gradient, when
    that will be wanted too.
    """
    graph = e.graph
    if factor == 0.0:
        return graph.zero
    made = Folding(graph).walk(e, factor)
    found = descend(_polynomial(e))
    if found is None or len(found) > LONGEST or all(len(set(key)) < 2 for key in found):
        return made  # no product of two: nothing to arrange otherwise
    found = {key: factor * k for key, k in found.items()}

    def work(form: Expr) -> int:
        if not with_gradient:
            return slots([form])
        slopes = [graph.diff(form, v) for v in graph.variables(form)]
        return slots([form, *(Folding(graph).walk(slope, 1.0) for slope in slopes)])

    return min(made, _nested(graph, found), _symmetric(graph, found), key=work)


class Folding:
    """One pass over an expression; `walk(e, c)` is `c * e`, folded."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.memo: dict[tuple[Expr, float], Expr] = {}
        self.takes: dict[Expr, bool] = {}

    def walk(self, e: Expr, c: float) -> Expr:
        return descend(self._walk(e, c))

    def _walk(self, e: Expr, c: float) -> Steps[Expr]:
        if (e, c) not in self.memo:
            self.memo[e, c] = yield self._scaled(e, c)
        return self.memo[e, c]

    def _scaled(self, e: Expr, c: float) -> Steps[Expr]:
        if e.op == "sum":
            return (yield self._scaled_sum(e, c))
        if e.op == "mul":
            a, b = e.args
            if c != 1.0 and self._takes_factor(a):
                return (yield self._walk(a, c)) * (yield self._walk(b, 1.0))
            if c != 1.0 and self._takes_factor(b):
                return (yield self._walk(a, 1.0)) * (yield self._walk(b, c))
            return c * ((yield self._walk(a, 1.0)) * (yield self._walk(b, 1.0)))
        if not e.args:
            return c * e
        args = []
        for a in e.args:
            args.append((yield self._walk(a, 1.0)))
        return c * self.graph._rebuilt(e, args)

    def _scaled_sum(self, e: Expr, c: float) -> Steps[Expr]:
        flat = self.graph.total(descend(_terms(e)))
        if flat.op != "sum":
            return (yield self._walk(flat, c))
        if self.graph.one in flat.args:
            gathered = yield self._squares(flat, c)
            if gathered is not None:
                return gathered
        elif len(flat.args) > 1 and not all(self._takes_factor(a) for a in flat.args):
            sizes = {abs(k) for k in flat.coefs}
            if len(sizes) == 1 and sizes != {1.0}:
                size = sizes.pop()
                pairs = zip(flat.coefs, flat.args, strict=True)
                signs = [(math.copysign(1.0, k), a) for k, a in pairs]
                return (c * size) * (yield self._walk(self.graph.total(signs), 1.0))
        if c != 1.0 and not self._takes_factor(flat):
            return c * (yield self._walk(flat, 1.0))
        made = []
        for k, a in zip(flat.coefs, flat.args, strict=True):
            if self._takes_factor(a) and not a.is_const:
                made.append((1.0, (yield self._walk(a, c * k))))
            else:
                made.append((c * k, (yield self._walk(a, 1.0))))
        return self._signed(made)

    def _takes_factor(self, e: Expr) -> bool:
        # a multiplication by a constant disappears in one that is there anyway, and an addition of
        # a constant becomes a part of it
        return e.is_const if not e.args else descend(self._takes(e))

    def _takes(self, e: Expr) -> Steps[bool]:
        if e not in self.takes:
            found = e.is_const
            if e.op == "sum":
                found = True
                if self.graph.one not in e.args:
                    for c, a in zip(e.coefs, e.args, strict=True):
                        if abs(c) == 1.0 and not (yield self._takes(a)):
                            found = False
                            break
            elif e.op == "mul":
                for a in e.args:
                    found = yield self._takes(a)
                    if found:
                        break
            self.takes[e] = found
        return self.takes[e]

    def _signed(self, terms: list[tuple[float, Expr]]) -> Expr:
        """The sum, its first coefficient positive: a difference and its opposite are one node."""
        made = self.graph.total(terms)
        if made.op != "sum" or len(made.args) == 1:
            return made
        first = made.coefs[1] if made.args[0].is_const else made.coefs[0]
        if first > 0.0:
            return made
        return -self.graph.total((-k, a) for k, a in zip(made.coefs, made.args, strict=True))

    def _squares(self, flat: Expr, c: float) -> Steps[Expr | None]:
        """c times a sum with a constant, its squares gathered by their coefficients."""
        groups: dict[float, list[Expr]] = {}
        rest: list[tuple[float, Expr]] = []
        for k, a in zip(flat.coefs, flat.args, strict=True):
            if a.op == "mul" and a.args[0] is a.args[1]:
                groups.setdefault(k, []).append(a.args[0])
            else:
                rest.append((k, a))
        if not groups:
            return None
        made = []
        for k, a in rest:
            made.append((c * k, (yield self._walk(a, 1.0))))
        for k, roots in groups.items():
            slope, share = _inverse_pair(2.0 * c * k)
            if all(not root.args for root in roots):
                squares = []
                for r in roots:
                    root = yield self._walk(r, 1.0)
                    squares.append((1.0, root * root))
                made.append((c * k, self.graph.total(squares)))
                continue
            sides = []
            for root in roots:
                sides.append((yield self._spread(root, slope)))
            made.append((share, self.graph.total((1.0, side * side) for side in sides)))
        return self.graph.total(made)

    def _spread(self, e: Expr, factor: float) -> Steps[Expr]:
        """factor * e, multiplied out one level so that it stays one sum."""
        made = yield self._walk(e, 1.0)
        if made.op != "sum":
            return factor * made
        pairs = zip(made.coefs, made.args, strict=True)
        return self._signed([(factor * k, a) for k, a in pairs])


def _terms(e: Expr) -> Steps[list[tuple[float, Expr]]]:
    if e.op != "sum":
        return [(1.0, e)]
    found = []
    for c, inner in zip(e.coefs, e.args, strict=True):
        for k, a in (yield _terms(inner)):
            found.append((c * k, a))
    return found


def _inverse_pair(slope: float) -> tuple[float, float]:
    """The slope, or a neighbour within some last bits, and the number whose product with twice it
    rounds to one: no factor is left in the gradient. Where there is none, a factor of almost one is.
    """
    tried = slope
    for _ in range(8):
        near = 0.5 / tried
        for share in (near, math.nextafter(near, math.inf), math.nextafter(near, -math.inf)):
            if share * (2.0 * tried) == 1.0:
                return tried, share
        tried = math.nextafter(tried, 0.0)
    return slope, 0.5 / slope


Monomial = tuple["Expr", ...]


def _nested(graph: Graph, found: dict[Monomial, float]) -> Expr:
    """Each variable times the rest after it."""
    rows, rest = _by_variable(graph, found, both=False)
    return graph.total([*rows, *rest])


def _symmetric(graph: Graph, found: dict[Monomial, float]) -> Expr:
    """Half of q^T (A q), A q being the gradient, and the rest."""
    rows, rest = _by_variable(graph, found, both=True)
    return graph.total([(0.5, graph.total(rows)), *rest])


def _by_variable(
    graph: Graph, found: dict[Monomial, float], *, both: bool
) -> tuple[list[tuple[float, Expr]], list[tuple[float, Expr]]]:
    """Products by their first variable, or by both, as one product each; and what is no product of two."""
    rest = [(k, key[0] if key else graph.one) for key, k in found.items() if len(key) < 2]
    rows: dict[Expr, list[tuple[float, Expr]]] = {}
    for key, k in found.items():
        if len(key) == 2:
            rows.setdefault(key[0], []).append((k, key[1]))
            if both:
                rows.setdefault(key[1], []).append((k, key[0]))
    return [(1.0, a * graph.total(terms)) for a, terms in rows.items()], rest


def _polynomial(e: Expr) -> Steps[dict[Monomial, float] | None]:
    """Coefficients by monomial of at most two variables; None if `e` is not such a polynomial."""
    if e.op == "const":
        return {(): e.value}
    if e.op == "var":
        return {(e,): 1.0}
    found: dict[Monomial, float] = {}
    if e.op == "sum":
        for c, a in zip(e.coefs, e.args, strict=True):
            inner = yield _polynomial(a)
            if inner is None or len(inner) > LONGEST:
                return None
            for key, k in inner.items():
                found[key] = found.get(key, 0.0) + c * k
        return found
    if e.op != "mul":
        return None
    left = yield _polynomial(e.args[0])
    right = yield _polynomial(e.args[1])
    if left is None or right is None or len(left) * len(right) > LONGEST**2:
        return None
    for p, k in left.items():
        for q, m in right.items():
            key = tuple(sorted((*p, *q), key=lambda v: v.serial))
            if len(key) > 2:
                return None
            found[key] = found.get(key, 0.0) + k * m
    return found


def slots(roots: list[Expr]) -> int:
    """Operations of some expressions, a product in a sum counted as one with its addition."""
    count = 0
    seen: set[Expr] = set()
    stack = list(roots)
    fused: set[Expr] = set()
    while stack:
        e = stack.pop()
        if e in seen or not e.args:
            continue
        seen.add(e)
        if e.op == "sum":
            products = [
                (abs(c) != 1.0 and not a.is_const) or a.op == "mul"
                for c, a in zip(e.coefs, e.args, strict=True)
            ]
            count += sum(products) + max(len(products) - sum(products), 1) - 1
            pairs = zip(e.coefs, e.args, strict=True)
            inside = [a for c, a in pairs if abs(c) == 1.0 and a.op == "mul"]
            for product in inside:
                if product not in fused:
                    fused.add(product)
                    stack.extend(product.args)
            stack.extend(a for a in e.args if a not in fused)
        else:
            count += 1
            stack.extend(e.args)
    return count

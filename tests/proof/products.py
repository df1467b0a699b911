"""Laws of IEEE 754 that the proofs use: of products and quotients in place of a multiplier, and of sums.

Rounding is monotone, and a number that is a double rounds to itself: so |a| <= 1 gives |ab| <= |b| after rounding as
before it, and likewise for the others. `products_of_halves` and `sums_of_halves` ask for them with the solver's own
arithmetic, of 11 bits.
"""

from __future__ import annotations

from bitwuzla import Kind, Sort, Term
from terms import Terms


class Numbers:
    """Comparisons of floats of one width."""

    def __init__(self, terms: Terms, sort: Sort) -> None:
        self.terms, self.sort = terms, sort

    def number(self, value: str) -> Term:
        return self.terms.manager.mk_fp_value(self.sort, self.terms.nearest, value)

    def le(self, a: Term, b: Term) -> Term:
        return self.terms.of(Kind.FP_LEQ, a, b)

    def size(self, a: Term) -> Term:
        return self.terms.of(Kind.FP_ABS, a)

    def finite(self, a: Term) -> Term:
        return self.terms.is_finite(a)


def product_laws(terms: Terms, a: Term, b: Term, ab: Term) -> list[Term]:
    """Return what holds of `ab`, the rounded product of a and b."""
    n = Numbers(terms, a.sort())
    zero, one = n.number("0.0"), n.number("1.0")
    both = terms.and_(n.finite(a), n.finite(b))

    def of_sizes(x: Term, y: Term) -> list[Term]:
        return [
            terms.implies(n.le(n.size(x), one), n.le(n.size(ab), n.size(y))),
            terms.implies(n.le(one, n.size(x)), n.le(n.size(y), n.size(ab))),
        ]

    same = terms.of(Kind.EQUAL, terms.of(Kind.FP_IS_NEG, a), terms.of(Kind.FP_IS_NEG, b))
    laws = [
        terms.not_(terms.of(Kind.FP_IS_NAN, ab)),
        terms.of(Kind.EQUAL, same, terms.of(Kind.FP_IS_POS, ab)),
        terms.implies(n.le(n.size(a), zero), n.le(n.size(ab), zero)),
        terms.implies(n.le(n.size(b), zero), n.le(n.size(ab), zero)),
        *of_sizes(a, b),
        *of_sizes(b, a),
    ]
    return [terms.implies(both, law) for law in laws]


def quotient_laws(terms: Terms, a: Term, b: Term, ab: Term) -> list[Term]:
    """Return what holds of `ab`, the rounded quotient of a and b, both above 0."""
    n = Numbers(terms, a.sort())
    zero, one = n.number("0.0"), n.number("1.0")
    both = terms.and_(n.finite(a), n.finite(b), n.le(zero, a), terms.not_(n.le(b, zero)))
    laws = [
        n.le(zero, ab),
        terms.implies(n.le(one, b), n.le(ab, a)),
        terms.implies(n.le(b, a), n.le(one, ab)),
        terms.implies(n.le(a, b), n.le(ab, one)),
    ]
    return [terms.implies(both, law) for law in laws]


def back_laws(terms: Terms, a: Term, b: Term, ab: Term, x: Term, xb: Term) -> list[Term]:
    """Return what holds of `xb`, the rounded product of b and an x that is no more than the quotient `ab`."""
    n = Numbers(terms, a.sort())
    zero, one, two = n.number("0.0"), n.number("1.0"), n.number("2.0")
    good = terms.and_(
        n.finite(a), n.finite(b), n.finite(x), n.le(one, b), n.le(zero, a), n.le(zero, x)
    )

    def twice(y: Term) -> Term:
        return terms.of(Kind.FP_ADD, terms.nearest, y, y)

    return [
        terms.implies(terms.and_(good, n.le(x, ab)), n.le(xb, twice(a))),
        terms.implies(terms.and_(good, n.le(two, x)), n.le(twice(b), xb)),
    ]


def sum_laws(terms: Terms, old: Term, new: Term, step: Term) -> list[Term]:
    """Return that a step which is shorter than the way, rounded, does not go beyond its end, and no step backwards.

    A rounded difference above a number is above it exactly, so old + step is below `new` before rounding and not
    above it after.
    """
    n = Numbers(terms, old.sort())
    way, minus = terms.of(Kind.FP_SUB, terms.nearest, new, old), terms.of(Kind.FP_NEG, step)
    up = terms.of(Kind.FP_ADD, terms.nearest, old, step)
    down = terms.of(Kind.FP_SUB, terms.nearest, old, step)
    forwards = terms.and_(*(n.finite(x) for x in (old, new, step)), n.le(n.number("0.0"), step))
    laws = [
        terms.implies(terms.not_(n.le(way, step)), n.le(up, new)),
        terms.implies(terms.not_(n.le(minus, way)), n.le(new, down)),
        terms.and_(n.le(old, up), n.le(down, old)),
    ]
    return [terms.implies(forwards, law) for law in laws]


def products_of_halves(terms: Terms) -> Term:
    """Return whether the laws of products and quotients hold of halves."""
    a, b, x = _halves(terms, "abx")
    ab, ratio, xb = (
        terms.of(kind, terms.nearest, left, right)
        for kind, left, right in ((Kind.FP_MUL, a, b), (Kind.FP_DIV, a, b), (Kind.FP_MUL, x, b))
    )
    laws = [*product_laws(terms, a, b, ab), *quotient_laws(terms, a, b, ratio)]
    return terms.and_(*laws, *back_laws(terms, a, b, ratio, x, xb))


def sums_of_halves(terms: Terms) -> Term:
    """Return whether the first law of sums holds of halves; the second is that one with all signs changed."""
    return sum_laws(terms, *_halves(terms, "abs"))[0]


def steps_of_doubles(terms: Terms) -> Term:
    """Return whether the last law of sums holds of doubles."""
    return sum_laws(terms, *(terms.manager.mk_const(terms.double, name) for name in "abs"))[2]


def _halves(terms: Terms, names: str) -> list[Term]:
    sort = terms.manager.mk_fp_sort(5, 11)
    return [terms.manager.mk_const(sort, name) for name in names]

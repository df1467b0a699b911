"""Exponential and hyperbolic tangent from sums and products alone: a kernel calls no library.

    expm1(x) = E_7,  E_0 = Taylor series at x / 2^7,  E_k+1 = E_k (2 + E_k);   tanh(x) = E / (E + 2) at 2 x

    angle / sin(angle) of its cosine c: halved four times, by a / sin a = (a/2) / (sin(a/2) cos(a/2)), then a series

Arguments are held within +-40, where tanh is 1 to the last bit and exp is 4e-18 or 2e17. Within
|x| < 40 errors are some 1e-14 of the value for exp, of 1 for tanh.
"""

from __future__ import annotations

from math import factorial

from codegen.expressions.dag import Expr

DOUBLINGS = 7
DEGREE = 13
BOUND = 40.0
HALVINGS = 4
TERMS = 9  # in sin^2 of half the smallest angle, at most 0.0097
NEAR_HALF_TURN = 1e-9  # of the cosine: 0.003 degrees


def expm1(x: Expr) -> Expr:
    """e^x - 1, x held within +-40; exact to round-off near zero, and so is its slope."""
    graph = x.graph
    held = graph.where_less(x, -BOUND, -BOUND, graph.where_less(BOUND, x, BOUND, x))
    y = held * 2.0**-DOUBLINGS
    series: Expr = graph.const(1.0 / factorial(DEGREE))
    for power in range(DEGREE - 1, 0, -1):
        series = series * y + 1.0 / factorial(power)
    grown = series * y
    for _ in range(DOUBLINGS):
        grown = grown * (2.0 + grown)
    inside = graph.where_less(graph.call("abs", x), BOUND, 1.0 + grown, 0.0)
    return graph.with_slope(grown, x, inside)


def exp(x: Expr) -> Expr:
    """e^x, x held within +-40."""
    return 1.0 + expm1(x)


def tanh(x: Expr) -> Expr:
    """Hyperbolic tangent."""
    grown = expm1(2.0 * x)
    turn = grown * x.graph.reciprocal(grown + 2.0)
    return x.graph.with_slope(turn, x, 1.0 - turn * turn)


def over_sine(cosine: Expr) -> tuple[Expr, Expr]:
    """Angle over its sine, and the slope of this by the cosine, for angles up to a half turn.

    Nearer than 0.003 degrees to a half turn, the ratio stays as it is there.
    """
    graph = cosine.graph
    least = NEAR_HALF_TURN - 1.0
    halves = [graph.where_less(cosine, least, least, cosine)]
    for _ in range(HALVINGS):
        halves.append(graph.call("sqrt", 0.5 + 0.5 * halves[-1]))
    # asin(z) / (z sqrt(1 - z^2)) = sum of (2^n n!)^2 / (2n + 1)! z^(2n), z^2 = (1 - c) / 2
    terms = [4.0**n * factorial(n) ** 2 / factorial(2 * n + 1) for n in range(TERMS)]
    z2 = 0.5 - 0.5 * halves[-1]
    ratio: Expr = graph.const(terms[-1])
    slope: Expr = graph.const(-0.5 * (TERMS - 1) * terms[-1])
    for n in range(TERMS - 2, -1, -1):
        ratio = ratio * z2 + terms[n]
        if n:
            slope = slope * z2 - 0.5 * n * terms[n]
    for half in reversed(halves[1:]):
        over = graph.reciprocal(half)
        slope = 0.25 * over * over * (slope - ratio * over)
        ratio = ratio * over
    return ratio, slope


def table(x: Expr, xs: list[float], ys: list[float]) -> Expr:
    """Piecewise linear through the points, straight on beyond the ends."""
    graph = x.graph
    found: Expr | None = None
    for k in reversed(range(len(xs) - 1)):
        slope = (ys[k + 1] - ys[k]) / (xs[k + 1] - xs[k])
        piece = slope * x + (ys[k] - slope * xs[k])
        found = piece if found is None else graph.where_less(x, xs[k + 1], piece, found)
    assert found is not None
    return graph.lift(found)

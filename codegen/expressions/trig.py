"""Coefficients of the inline sine and cosine: computed here from first principles, no libm at run
time.

On |r| <= pi/4, with z = r^2:  sin r = r + r z S(z),  cos r = 1 - z/2 + z^2 C(z).
S and C interpolate the exact functions at Chebyshev nodes in rational arithmetic; the remainder
is below 1e-17.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from math import cos, factorial, pi

DEGREE = 5  # of S and C


def _series(first: int, z: Fraction) -> Fraction:
    """sum_k (-1)^(k+1) z^k / (first + 2k)!, the Taylor series of S (first=3) and, negated, of C
    (first=4).
    """
    return sum(
        (Fraction((-1) ** (k + 1), factorial(first + 2 * k)) * z**k for k in range(16)), Fraction(0)
    )


@cache
def coefficients() -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Coefficients of S and C, lowest power first."""
    span = Fraction((pi / 4 * 1.0001) ** 2)
    # rounded, so that no math library decides about the coefficients' last bits
    cosines = [round(cos(pi * (2 * k + 1) / (2 * (DEGREE + 1))), 6) for k in range(DEGREE + 1)]
    nodes = [span * (1 + Fraction(c)) / 2 for c in cosines]
    sine = _interpolate(nodes, [_series(3, z) for z in nodes])
    cosine = _interpolate(nodes, [-_series(4, z) for z in nodes])
    return tuple(map(float, sine)), tuple(map(float, cosine))


def _interpolate(nodes: list[Fraction], values: list[Fraction]) -> list[Fraction]:
    """Monomial coefficients of the interpolating polynomial, by Newton's divided differences."""
    divided = list(values)
    n = len(nodes)
    for level in range(1, n):
        for k in range(n - 1, level - 1, -1):
            divided[k] = (divided[k] - divided[k - 1]) / (nodes[k] - nodes[k - level])
    poly = [Fraction(0)] * n
    for k in range(n - 1, -1, -1):
        shifted = [Fraction(0), *poly[:-1]]
        poly = [up - nodes[k] * same for up, same in zip(shifted, poly, strict=True)]
        poly[0] += divided[k]
    return poly


@cache
def half_pi_parts() -> tuple[float, float, float]:
    """pi/2 as three numbers; the first two have 33 bits or fewer, so that small multiples are
    exact.
    """
    # pi by Machin's formula, 60 digits
    scale = 10**70

    def arctan_inverse(x: int) -> int:
        term, total, k = scale // x, scale // x, 1
        while term:
            term //= x * x
            k += 2
            total += (-1) ** (k // 2) * (term // k)
        return total

    rest = Fraction(2 * (4 * arctan_inverse(5) - arctan_inverse(239)), scale)
    parts = []
    for bits in (32, 65):
        step = Fraction(1, 2**bits)
        part = Fraction(round(rest / step)) * step
        parts.append(float(part))
        rest -= part
    return parts[0], parts[1], float(rest)

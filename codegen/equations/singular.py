"""Singular poses, seen in the pivots of the factor.

In L D L^T of weight + phi_q^T phi_q a pivot is the rest of its coordinate's column of phi_q when
the columns before are taken out: of the size of phi_q^2 where the constraints determine the
coordinate, and of the size of the weight, 1/kappa of that, where they do not. So the number of small
pivots is the number of freedoms, whatever the order and however many coordinates there are, and it
rises by the rank that is lost. (The determinant is not a measure: for a long chain it varies by more
than one lost rank does.)

A row that is an unknown of its own (`factor`) has a negative pivot: -1 where it finds its
coordinates determined already, and -phi_q^2 / weight where it takes a small pivot's place. So the
number of freedoms is the number of small pivots of coordinates, and of rows with a pivot near -1, minus
the number of such rows.

While a freedom passes from one coordinate to another the product of their pivots stays, so both meet
in the geometric middle of the two sizes. Where pivots alone judge, the limit lies a tenth below it:
there at most one of them is small, whatever else changes, but then a lost rank can hide behind a
freedom that passes on. As a hint the limit lies above the middle: there at least one is small.

That alone is a hint: pivots carry the scales of bodies, and inertias that differ by thousands make some
of them small anywhere (Andrews' squeezer: in three steps of four). The proof has no units. The matrix
1 - phi_q T^-1 phi_q^T has the eigenvalue weight / (sigma^2 + weight) for each singular value sigma of
phi_q in the metric of the weight: some 1e-5 in regular poses, 1e-2 to 1 in singular ones. With kappa =
1e6 a pose counts as singular when the smallest singular value is below 0.01 of its usual size: 0.5
degrees before the links of one four-bar lie flat, 1.3 of sixty. From some 1e4 on down kappa does not
separate the sizes as well, and the range is wider.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from codegen.equations.equations import Equations
from codegen.pose.built import built_pose

BELOW = 0.1  # of the geometric middle, where pivots alone judge
ABOVE = 3.0  # of it, where they are a hint
# share of the weight beside phi_q^2 near a singular pose: round-off allows no less
HARDEST = {"float64": 1e-10, "float32": 1e-4}
HARDEST_PROVED = {"float64": 1e-11, "float32": 1e-4}
NOISE = {"float64": 1e-6, "float32": 1e-2}
OPEN = 1e3  # times that: of a reaction's direction, the share that marks it as not determined
SHARE = 1e4  # times the usual weight beside phi_q^2: a singular value below 0.01 of its usual size
FOUND_AGAIN = 30.0  # times that: a lost rank counts as lost up to here
# with long steps or a penalty of the user's own reactions are settled again from a tenth of the usual singular value on
SHORT_STEP_S = 1e-3
REGULAR = 10.0  # times the share of the worst direction of the built pose: that pose is regular
BUILT_SINGULAR = (
    0.1  # share from which on a direction of the built pose is lost or redundant, not its worst
)
CLOSE = 100.0  # times the usual weight beside phi_q^2
WIDE = 1e-2  # of phi_q^2: the hint for it
ROUNDOFF = {"float64": 1.1e-16, "float32": 6e-8}
LOST = 100.0  # times the weight: a pivot below has nothing of phi_q left


@dataclass(frozen=True)
class Limits:
    """Limits below which a value counts as small.

    Attributes
    ----------
    coordinates, rows : list of float
        Size below which the pivot of each coordinate, and that of each row that is an unknown of its
        own, is small.
    less : float
        Factor of the weight with which a pose near a singular one is settled again.
    nearer : float
        By how much the limits are smaller with that weight: below, nothing is determined.
    lost_share : float
        Share of the load that rows bear in their worst direction, above which reactions are settled again.
    singular_share : float
        The same, above which a pose is singular.
    open : float
        Share of a reaction's own direction, with that weight, above which the reaction is not determined.
    noise : float
        Of the largest multiplier: round-off of the others.
    """

    coordinates: list[float]
    rows: list[float]
    less: float = 1.0
    nearer: float = 1.0
    lost_share: float = 1e-2
    singular_share: float = 1e-2
    open: float = 1e-7
    noise: float = 1e-6


def pivot_limits(
    eq: Equations, share: float, kept: list[int], *, is_proved: bool = False
) -> Limits:
    """Limits of the pivots, with weight `share` mass, and of rows in `kept`; `is_proved`: they are a hint."""
    below = ABOVE if is_proved else BELOW
    if not eq.phi:
        return Limits([], [])
    jac, mass = built_pose(eq.system)
    gradient = np.max((jac * np.array(eq.scale)[:, None]) ** 2, axis=1)
    held = np.array([max((gradient[r] for r in rows), default=0.0) for rows in eq.columns])
    free = np.diag(mass) * (share / eq.unit)
    both = (held > 0.0) & (free > 0.0)
    usual = np.median(free[both] / held[both]) if both.any() else 1e-6
    # a massless coordinate passes on the weight of others
    free = np.where(free > 0.0, free, usual * held)
    coordinates = below * np.sqrt(held * free)
    if is_proved and _is_wide(eq):
        coordinates = np.maximum(coordinates, WIDE * held)
    rows = [below * np.sqrt(max(jac[r] ** 2 * eq.scale[r] ** 2 / free)) for r in kept]
    hardest = (HARDEST_PROVED if is_proved else HARDEST)[eq.options.precision]
    less = min(1.0, hardest / usual)
    nearer = max(1.0, below / np.sqrt(usual) / (LOST * less))
    return Limits(
        [_rounded(e) for e in coordinates],
        [_rounded(e) for e in rows],
        _rounded(less),
        _rounded(nearer),
        _rounded(_lost_share(eq, usual, _worst(eq, jac, mass, share))),
        _rounded(_singular_share(eq, usual)),
        _rounded(OPEN * hardest),
        NOISE[eq.options.precision],
    )


def _singular_share(eq: Equations, usual: float) -> float:
    weight = usual if eq.options.alpha else 1.0 / eq.options.row_kappa
    return min(0.5, max(1e-2, SHARE * weight))


def _is_wide(eq: Equations) -> bool:
    # a long step comes to a singular pose from further away, and a hard penalty turns what it leaves open into force
    is_long = bool(eq.system.guides) and eq.options.inner_step_s > SHORT_STEP_S
    return bool(eq.options.alpha) or is_long


def _worst(
    eq: Equations, jac: NDArray[np.float64], mass: NDArray[np.float64], share: float
) -> float:
    """Share of the weight in the direction that the constraints bear worst in the built pose, but for lost ones."""
    rows = jac * np.array(eq.scale)[:, None]
    both = mass * (share / eq.unit) + rows.T @ rows
    left = np.eye(len(rows)) - rows @ np.linalg.lstsq(both, rows.T)[0]
    shares = np.linalg.eigvalsh((left + left.T) / 2.0)
    return float(max(0.0, *shares[shares < BUILT_SINGULAR], 0.0))


def _lost_share(eq: Equations, usual: float, worst: float) -> float:
    singular = _singular_share(eq, usual)
    if not _is_wide(eq):
        return singular
    # the harder the penalty, the smaller the share of the same singular value; round-off bounds it
    least = 3.0 * ROUNDOFF[eq.options.precision] / usual
    return min(singular, max(CLOSE * usual, REGULAR * worst, least))


def _rounded(value: float) -> float:
    return float(f"{value:.3g}")

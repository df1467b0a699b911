"""Singular poses, seen in the pivots of the factor.

In L D L^T of weight + phi_q^T phi_q a pivot is what is left of its coordinate's column of phi_q when
the columns before are taken out: of the size of phi_q^2 where the constraints determine the
coordinate, and of the size of the weight, 1/kappa of that, where they do not. So the number of small
pivots is the number of freedoms, whatever the order and however many coordinates there are, and it
rises by the rank that is lost. (The determinant is no measure: that of a long chain varies by more
than one lost rank does.)

The limit lies in the geometric middle of the two sizes: while a freedom passes from one coordinate
to another the product of their pivots stays, so that one of them is small and one is not. With
kappa = 1e6 a pose counts as singular when the smallest singular value of the scaled phi_q is below
0.02 to 0.03 of its usual size: two to four degrees before the links of one to sixty four-bars lie flat. From some
1e4 on down kappa does not tell the sizes apart as well, and the range is wider.
"""

from __future__ import annotations

import numpy as np

from codegen.formulations.equations import Equations
from codegen.pose import built_pose


def pivot_limits(eq: Equations, share: float) -> list[float]:
    """Size below which each coordinate's pivot is small, with weight `share` mass."""
    if not eq.phi:
        return []
    jac, mass = built_pose(eq.system)
    gradient = np.max((jac * np.array(eq.scale)[:, None]) ** 2, axis=1)
    held = np.array([max((gradient[r] for r in rows), default=0.0) for rows in eq.columns])
    free = np.diag(mass) * (share / eq.unit)
    both = (held > 0.0) & (free > 0.0)
    usual = np.median(free[both] / held[both]) if both.any() else 1e-6
    # a massless coordinate passes on the weight of others
    free = np.where(free > 0.0, free, usual * held)
    return [float(f"{limit:.3g}") for limit in np.sqrt(held * free)]

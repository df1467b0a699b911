"""Moments of inertia that no body has."""

from __future__ import annotations

import numpy as np

# settings of MuJoCo's reader that make up for masses and moments
MENDS = ("balanceinertia", "boundmass", "boundinertia", "inertiafromgeom")
ROUNDING = 1e-6  # of the largest moment: files have some digits only
LEAST = 1e-15  # kg m^2: MuJoCo takes nothing below
REMEDY = "correct its six numbers"


def wrong_moments(
    xx: float, yy: float, zz: float, xy: float = 0.0, xz: float = 0.0, yz: float = 0.0
) -> tuple[str, str] | None:
    """Return the problem of an inertia matrix in kg m^2, and its remedy; None if a body may have it."""
    least, middle, most = np.linalg.eigvalsh([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    if least < -ROUNDING * abs(most):
        return f"has a negative principal moment, {least:.3g} kg m²", REMEDY
    if least < LEAST:
        told = f"its moments are {least:.3g}, {middle:.3g} and {most:.3g}"
        problem = f"has no inertia about one of its axes: {told}"
        return problem, f"no body is so thin: give more than {LEAST:g} kg m²"
    if most > (1.0 + ROUNDING) * (least + middle):
        told = f"{least:.3g}, {middle:.3g} and {most:.3g} kg m²"
        return (
            f"no body has these principal moments, {told}: one exceeds the sum of the others",
            REMEDY,
        )
    return None

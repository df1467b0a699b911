"""Ten particles that move as a rigid body does: four of its points, and the middles between each two of them.

With `w` the barycentric weights of a place among the four points, the masses

    at a point i             integral of w_i (2 w_i - 1) dm
    between points i and j   integral of 4 w_i w_j dm

have the body's mass, its centre and its second moments, so also its kinetic energy in every motion. They are unique:
ten linear conditions on ten masses. Some may be negative, which harms nothing: the sums are those of the body.

Source: Attia 2004, equivalent systems of constrained particles, in closed form here.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

PAIRS = tuple(combinations(range(4), 2))
"""The points between which particles 5 to 10 lie."""
FLAT = 1e-6  # of a volume over the cube of its longest edge


def is_flat(points: Sequence[Sequence[float]]) -> bool:
    """Return whether four points lie in a plane, so that no weights belong to a place beside it."""
    edges = np.asarray(points[1:4], float) - np.asarray(points[0], float)
    longest = float(np.max(np.linalg.norm(edges, axis=1)))
    return bool(abs(np.linalg.det(edges)) <= FLAT * longest**3)


def particle_masses(second_moment: Array, points: Sequence[Sequence[float]]) -> Array:
    """Masses of the ten particles.

    Parameters
    ----------
    second_moment : ndarray, shape (4, 4)
        Integral of x x^T dm over the body, x = (1, position).
    points : sequence of 4 positions
        Not in a plane; in the frame of the integral.

    Returns
    -------
    ndarray, shape (10,)
        First at the points, then between the `PAIRS`, in kg where the integral is one of mass.
    """
    weights = np.linalg.inv(np.array([(1.0, *point) for point in points]).T)
    products = weights @ second_moment @ weights.T
    at_points = 2.0 * np.diag(products) - products.sum(axis=1)
    return np.array([*at_points, *(4.0 * products[i, j] for i, j in PAIRS)])

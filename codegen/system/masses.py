"""The masses of a mechanism as its elements give them, beside the mass matrix that they add up to.

A mass matrix of natural coordinates does not tell to which body an entry belongs; what turns and moves as a whole
is put together from these.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from codegen.expressions.dag import Expr
from codegen.system.quantities import Coordinate
from codegen.system.vectors import Vector

Share = tuple[Expr, np.ndarray]


@dataclass
class Masses:
    """Everything that has mass.

    Attributes
    ----------
    of_bodies : dict of str to list of (Expr, ndarray of shape (4, 4))
        By body: parameters, and what one unit of each adds to the integral of x x^T dm, where x is (1, position) in
        the pose of the file.
    of_points : list of (Vector, Expr)
        Point masses.
    of_rods : list of ((Vector, Vector), Expr)
        Uniform slender rods between two points.
    of_vectors : list of (Vector, Expr)
        Inertias on the components of moving directions.
    of_scalars : list of (Coordinate, Expr)
        What an angle or distance carries by itself: rotors, sliding masses.
    """

    of_bodies: dict[str, list[Share]] = field(default_factory=dict)
    of_points: list[tuple[Vector, Expr]] = field(default_factory=list)
    of_rods: list[tuple[tuple[Vector, Vector], Expr]] = field(default_factory=list)
    of_scalars: list[tuple[Coordinate, Expr]] = field(default_factory=list)
    of_vectors: list[tuple[Vector, Expr]] = field(default_factory=list)

    def over(self, put: Callable[[Expr], Expr]) -> Masses:
        """The same with other expressions for the parameters."""
        return Masses(
            {name: [(put(e), m) for e, m in parts] for name, parts in self.of_bodies.items()},
            [(point, put(e)) for point, e in self.of_points],
            [(ends, put(e)) for ends, e in self.of_rods],
            [(c, put(e)) for c, e in self.of_scalars],
            [(vector, put(e)) for vector, e in self.of_vectors],
        )


def shares(
    mass: Expr, centre: tuple[float, float, float], moments: list[tuple[Expr, np.ndarray]]
) -> list[Share]:
    """Shares of a body: a mass at its centre, and second moments of mass about that."""
    at = np.array([1.0, *centre])
    found = [(mass, np.outer(at, at))]
    for var, moment in moments:
        full = np.zeros((4, 4))
        full[1:, 1:] = moment
        found.append((var, full))
    return found

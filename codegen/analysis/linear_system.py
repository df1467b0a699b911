"""A linear system with named inputs and outputs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class LinearSystem:
    """The matrices of a linear system.

    Attributes
    ----------
    a, b, c, d : ndarray of float64, shapes (n, n), (n, m), (p, n), (p, m)
        Inputs and outputs in the units of their ports.
    inputs, outputs : tuple of str
        Port of each column of `b`, and of each row of `c`.
    """

    a: Array
    b: Array
    c: Array
    d: Array
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]

    def transfer(self, at: NDArray[np.complex128]) -> NDArray[np.complex128]:
        """Outputs over inputs at points of the plane of s, or of z, shape (n_points, p, m)."""
        inner = at[:, None, None] * np.eye(len(self.a)) - self.a
        return np.asarray(self.c @ np.linalg.solve(inner, self.b.astype(complex)) + self.d)

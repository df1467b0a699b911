"""A linear elastic structure as finite elements leave it, whoever made it: matrices, nodes, and fields over its mass.

All components are along the structure's own axes, and positions are from its own origin. Displacements are small;
freedoms of a node are its three displacements, and three small rotations where it has any (`NO_FREEDOM` marks one that
is held or absent).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

NO_FREEDOM = -1


class StructureError(ValueError):
    """A structure that is no elastic body; `key`, `value` and `remedy` say why."""

    def __init__(self, key: str, value: object, problem: str, remedy: str) -> None:
        super().__init__(problem)
        self.key, self.value, self.problem, self.remedy = key, value, problem, remedy


@dataclass(frozen=True)
class Node:
    """A named node: its position, and the numbers of its six freedoms, displacements first."""

    position: np.ndarray
    freedoms: tuple[int, ...]

    @property
    def has_rotations(self) -> bool:
        """Return whether all of its rotations are freedoms or held by the plane."""
        return any(freedom != NO_FREEDOM for freedom in self.freedoms[3:])


@dataclass(frozen=True)
class Structure:
    """A structure of `n` freedoms.

    Attributes
    ----------
    mass, stiffness : ndarray, shape (n, n)
    rigid : ndarray, shape (n, 6)
        Displacements by a unit translation along x, y, z and a unit turn about x, y, z through the origin; zero
        columns are motions that a plane structure does not have.
    nodes : dict of str to Node
    mass_points : ndarray, shape (p, 3)
        Places of the mass.
    weights : ndarray, shape (p,) or (p, p)
        Mass at each; or, as consistent matrices have it, between any two.
    displacement : ndarray, shape (p, 3, n)
        Displacement of each place by a unit of each freedom.
    gauges : dict of str to ndarray, shape (n,)
        Strain is row times displacements.
    load_stiffness : ndarray, shape (4, 3, n, n), or None
        Geometric stiffness by loads of the mass: `[0, l]` of a unit acceleration field along l, `[k, l]` of a field
        along l that grows with the coordinate k. Tension stiffens.
    """

    mass: np.ndarray
    stiffness: np.ndarray
    rigid: np.ndarray
    nodes: dict[str, Node]
    mass_points: np.ndarray
    weights: np.ndarray
    displacement: np.ndarray
    gauges: dict[str, np.ndarray] = field(default_factory=dict)
    load_stiffness: np.ndarray | None = None

    @property
    def motions(self) -> np.ndarray:
        """Rigid-body motions that the structure has: six, three in the plane."""
        return self.rigid[:, np.any(self.rigid != 0.0, axis=0)]

    @property
    def total_mass(self) -> float:
        return float(np.sum(self.weights))

    def gram(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Integrals over the mass of products of two fields of scalars, shapes (p, i) and (p, j)."""
        if self.weights.ndim == 1:
            return a.T @ (self.weights[:, None] * b)
        return a.T @ self.weights @ b


def rigid_motions(nodes: np.ndarray, freedoms: np.ndarray, n: int) -> np.ndarray:
    """Displacements of all freedoms by the six unit motions, from positions (m, 3) and freedoms (m, 6) of all nodes."""
    found = np.zeros((n, 6))
    for position, numbers in zip(nodes, freedoms, strict=True):
        x, y, z = position
        moved = np.zeros((6, 6))
        moved[:3, :3] = np.eye(3)
        moved[:3, 3:] = np.array([[0.0, z, -y], [-z, 0.0, x], [y, -x, 0.0]])
        moved[3:, 3:] = np.eye(3)
        for row, number in zip(moved, numbers, strict=True):
            if number != NO_FREEDOM:
                found[number] = row
    return found

"""Everything that the equations of a flexible body need of its structure: modes, their integrals, nodes and gauges.

A structure is reduced to it when a file that describes a beam is read; that of a finite-element model is written into
the mechanism file itself (`reduced_text.py`), so that the mechanism names no other file.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from codegen.flexible.reduction import Modes
from codegen.flexible.structure import NO_FREEDOM, Structure

AXES = 4  # fields before those of the modes: 1 and the three coordinates


@dataclass(frozen=True)
class ReducedNode:
    """A named node: its position, and displacement and rotation by each mode, (6, m)."""

    position: np.ndarray
    shape: np.ndarray
    has_rotations: bool


@dataclass(frozen=True)
class Reduced:
    """A structure in the coordinates of its m modes, along its own axes, from its own origin.

    Attributes
    ----------
    gram : ndarray, shape (4 + 3 m, 4 + 3 m)
        Integrals over the mass of products of the fields 1, x, y, z, and the displacements of the modes: x of all, y
        of all, z of all.
    load : ndarray, shape (4, 3, m, m), or None
        Geometric stiffness by loads of the mass, as `Structure.load_stiffness`.
    effective, rigid, dropped_hz
        As those of `Modes`.
    freedoms : int
        Of the structure.
    places, moved : ndarray, shapes (p, 3) and (p, 3, m)
        What pictures show; without any the nodes alone.
    """

    frequency_hz: np.ndarray
    stiffness: np.ndarray
    mass: np.ndarray
    gram: np.ndarray
    nodes: dict[str, ReducedNode]
    gauges: dict[str, np.ndarray]
    load: np.ndarray | None
    effective: np.ndarray
    rigid: np.ndarray
    dropped_hz: list[float]
    freedoms: int
    places: np.ndarray
    moved: np.ndarray

    @property
    def count(self) -> int:
        return len(self.frequency_hz)

    @property
    def total_mass(self) -> float:
        return float(self.gram[0, 0])

    def moved_by(self, shift: np.ndarray) -> np.ndarray:
        """Return the integrals with coordinates from another origin, which is at -shift."""
        change = np.eye(len(self.gram))
        change[1:AXES, 0] = shift
        return change @ self.gram @ change.T


def reduced(structure: Structure, modes: Modes) -> Reduced:
    """A structure in the coordinates of its modes."""
    shapes = modes.shapes
    moved = np.einsum("pkn,nm->pkm", structure.displacement, shapes, optimize=True)
    fields = np.hstack(
        [
            np.ones((len(moved), 1)),
            structure.mass_points,
            *(moved[:, k, :] for k in range(3)),
        ]
    )
    none = np.zeros(shapes.shape[1])
    nodes = {
        name: ReducedNode(
            node.position,
            np.array([none if f == NO_FREEDOM else shapes[f] for f in node.freedoms]),
            node.has_rotations,
        )
        for name, node in structure.nodes.items()
    }
    load = None
    if structure.load_stiffness is not None:
        load = np.einsum(
            "nm,clnk,kj->clmj", shapes, structure.load_stiffness, shapes, optimize=True
        )
    return Reduced(
        frequency_hz=modes.frequency_hz,
        stiffness=modes.stiffness,
        mass=modes.mass,
        gram=structure.gram(fields, fields),
        nodes=nodes,
        gauges={name: row @ shapes for name, row in structure.gauges.items()},
        load=load,
        effective=modes.effective,
        rigid=modes.rigid,
        dropped_hz=modes.dropped_hz,
        freedoms=len(structure.mass),
        places=structure.mass_points,
        moved=moved,
    )

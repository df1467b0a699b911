"""The modes of a structure beside its declared reference frame, and the constants of them that equations need.

The frame is where the structure's own rigid-body motions are not: at a node, through two nodes, or where the modes have
neither momentum nor moment of momentum. Two reductions: Craig-Bampton, with the static shapes of unit displacements of
the interfaces and the modes of the rest between them; free-free modes with the residual shapes of unit forces at the
interfaces, under inertia relief. Either set is freed of its rigid-body motions by the frame, and made orthogonal.

Source: Craig and Bampton 1968; Craig and Chang 1977 (residual attachment modes); Shabana 2013, chapter 5 (frames).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from codegen.flexible.eigen import lowest, null_space
from codegen.flexible.structure import NO_FREEDOM, Structure, StructureError


@dataclass(frozen=True)
class Wanted:
    """The part of a structure's motion that a body keeps.

    Attributes
    ----------
    frame : tuple of str
        One node, two nodes, or none for the mean of the motion.
    interfaces : tuple of str
        Nodes at which forces will act.
    modes : int
        Normal modes kept, beside the shapes of the interfaces.
    highest_hz : float or None
        Shapes above it are dropped.
    free_free : bool
        Free-free modes and residual attachment modes in place of Craig-Bampton.
    """

    frame: tuple[str, ...]
    interfaces: tuple[str, ...]
    modes: int
    highest_hz: float | None = None
    free_free: bool = False


@dataclass(frozen=True)
class Modes:
    """Modes of a structure: shapes (n, m) of which the largest displacement is 1 m, and their constants.

    Attributes
    ----------
    frequency_hz, stiffness, mass : ndarray, shape (m,)
    effective : ndarray, shape (m, 6)
        Effective mass along x, y, z and effective inertia about x, y, z through the origin.
    rigid : ndarray, shape (6,)
        What the structure has of each: mass and inertia.
    dropped_hz : list of float
        Frequencies of shapes that were found and left out, the lowest first.
    """

    shapes: np.ndarray
    frequency_hz: np.ndarray
    stiffness: np.ndarray
    mass: np.ndarray
    effective: np.ndarray
    rigid: np.ndarray
    dropped_hz: list[float]


def reduce(structure: Structure, wanted: Wanted) -> Modes:
    """Modes of a structure in its reference frame.

    Raises
    ------
    StructureError
        The frame does not hold the structure, or nothing is left.
    """
    held = frame_conditions(structure, wanted.frame)
    motions = structure.motions
    if np.linalg.matrix_rank(held @ motions) < motions.shape[1]:
        remedy = 'take a node with rotations, two nodes for a line, or frame = "mean"'
        raise StructureError("frame", list(wanted.frame), "does not hold the body", remedy)
    if wanted.free_free:
        basis = _free(structure, wanted)
        basis = basis - motions @ np.linalg.solve(held @ motions, held @ basis)
        kept_normal = None
    elif wanted.interfaces:
        basis = _craig_bampton(structure, wanted)
        basis = basis @ null_space(held @ basis)
        kept_normal = None
    else:
        basis, kept_normal = null_space(held), wanted.modes
    k, m = basis.T @ structure.stiffness @ basis, basis.T @ structure.mass @ basis
    squares, inner = lowest(k, m, len(k))
    frequency = np.sqrt(squares) / (2.0 * np.pi)
    is_kept = np.isfinite(frequency)
    if wanted.highest_hz is not None:
        is_kept &= frequency <= wanted.highest_hz
    if kept_normal is not None:
        is_kept &= np.arange(len(frequency)) < kept_normal
    if not is_kept.any():
        raise StructureError(
            "highest_hz",
            wanted.highest_hz,
            f"leaves no mode, the first is at {frequency[0]:.4g} Hz",
            "raise it",
        )
    dropped = [float(f) for f in frequency[~is_kept] if np.isfinite(f)]
    return _scaled(structure, basis @ inner[:, is_kept], dropped)


def frame_conditions(structure: Structure, frame: tuple[str, ...]) -> np.ndarray:
    """Rows over all freedoms that vanish for displacements beside the frame."""
    n = len(structure.mass)
    if not frame:
        return structure.motions.T @ structure.mass
    for name in frame:
        if name not in structure.nodes:
            known = ", ".join(structure.nodes)
            raise StructureError("frame", name, "is not a node", f"nodes are {known}")
    first = structure.nodes[frame[0]]
    rows = []
    if len(frame) == 1:
        for f in first.freedoms:
            if f != NO_FREEDOM:
                rows.append(np.eye(n)[f])
        return np.array(rows)
    second = structure.nodes[frame[1]]
    along = second.position - first.position
    length = float(np.linalg.norm(along))
    if length == 0.0:
        raise StructureError(
            "frame", list(frame), "the two nodes are in one place", "take another one"
        )
    along = along / length

    def row(node_freedoms: tuple[int, ...], direction: np.ndarray) -> np.ndarray:
        found = np.zeros(n)
        for f, d in zip(node_freedoms, direction, strict=True):
            if f != NO_FREEDOM:
                found[f] = d
        return found

    rows = [row(first.freedoms[:3], d) for d in np.eye(3)]
    rows += [row(second.freedoms[:3], d) for d in np.linalg.svd(along[None, :])[2][1:]]
    rows.append(row(first.freedoms[3:], along))
    return np.array([r for r in rows if np.any(np.abs(r) > 1e-12)])


def _interface_freedoms(structure: Structure, wanted: Wanted) -> list[int]:
    found: set[int] = set()
    for name in (*wanted.interfaces, *wanted.frame):
        if name not in structure.nodes:
            known = ", ".join(structure.nodes)
            raise StructureError("interfaces", name, "is not a node", f"nodes are {known}")
        found |= {f for f in structure.nodes[name].freedoms if f != NO_FREEDOM}
    return sorted(found)


def _craig_bampton(structure: Structure, wanted: Wanted) -> np.ndarray:
    """Static shapes of unit displacements of the interfaces, and the lowest modes with these held."""
    n = len(structure.mass)
    outer = _interface_freedoms(structure, wanted)
    inner = [f for f in range(n) if f not in set(outer)]
    k = structure.stiffness
    basis = np.zeros((n, len(outer) + wanted.modes))
    basis[outer, range(len(outer))] = 1.0
    if not inner:
        return basis[:, : len(outer)]
    basis[inner, : len(outer)] = -np.linalg.solve(k[np.ix_(inner, inner)], k[np.ix_(inner, outer)])
    count = min(wanted.modes, len(inner))
    _, shapes = lowest(k[np.ix_(inner, inner)], structure.mass[np.ix_(inner, inner)], count)
    basis[inner, len(outer) : len(outer) + count] = shapes
    return basis[:, : len(outer) + count]


def _free(structure: Structure, wanted: Wanted) -> np.ndarray:
    """The lowest elastic modes of the free structure, and the rest of the shapes of unit forces at the interfaces."""
    mean = null_space(frame_conditions(structure, ()))
    k, m = mean.T @ structure.stiffness @ mean, mean.T @ structure.mass @ mean
    squares, shapes = lowest(k, m, wanted.modes)
    modes = mean @ shapes
    outer = _interface_freedoms(structure, wanted)
    if not outer:
        return modes
    force = np.eye(len(structure.mass))[:, outer]
    # inertia relief: in the mean frame accelerations of the rigid motions bear no work
    static = mean @ np.linalg.solve(k, mean.T @ force)
    left = static - modes @ ((modes.T @ force) / squares[:, None])
    size = np.linalg.norm(left, axis=0)
    return np.hstack([modes, left[:, size > 1e-9 * size.max()] / size[size > 1e-9 * size.max()]])


def _scaled(structure: Structure, shapes: np.ndarray, dropped: list[float]) -> Modes:
    displaced = np.einsum("pkn,nm->pkm", structure.displacement, shapes, optimize=True)
    for mode in range(shapes.shape[1]):
        part = displaced[:, :, mode]
        at = np.unravel_index(
            int(np.argmax(np.round(np.abs(part) / np.abs(part).max(), 6))), part.shape
        )
        shapes[:, mode] /= _largest(structure, part, shapes[:, mode]) * np.sign(part[at])
    mass = np.einsum("nm,nk,km->m", shapes, structure.mass, shapes, optimize=True)
    stiffness = np.einsum("nm,nk,km->m", shapes, structure.stiffness, shapes, optimize=True)
    shares = structure.rigid.T @ structure.mass @ shapes
    return Modes(
        shapes=shapes,
        frequency_hz=np.sqrt(stiffness / mass) / (2.0 * np.pi),
        stiffness=stiffness,
        mass=mass,
        effective=(shares**2 / mass).T,
        rigid=np.diag(structure.rigid.T @ structure.mass @ structure.rigid),
        dropped_hz=sorted(dropped),
    )


def _largest(structure: Structure, of_mass: np.ndarray, shape: np.ndarray) -> float:
    """Largest displacement of the places of the mass and of the named nodes."""
    found = float(np.linalg.norm(of_mass, axis=1).max())
    for node in structure.nodes.values():
        moved = [shape[f] for f in node.freedoms[:3] if f != NO_FREEDOM]
        found = max(found, float(np.linalg.norm(moved)))
    return found

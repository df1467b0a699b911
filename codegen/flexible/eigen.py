"""Eigenproblems of structures.

Parts that do not act on each other are solved apart: so the two bendings of a round shaft, whose frequencies are equal,
stay in their own planes, and a mode keeps its zeros.
"""

from __future__ import annotations

import numpy as np

from codegen.flexible.structure import StructureError

NOTHING = 1e-12  # of an entry beside those of its row and column


def null_space(rows: np.ndarray) -> np.ndarray:
    """A basis of the displacements that the rows let vanish, orthonormal, with as many zeros as the rows allow."""
    scale = np.linalg.norm(rows, axis=1, keepdims=True)
    rows = rows / np.where(scale > 0.0, scale, 1.0)
    is_used = np.abs(rows) > NOTHING
    n = rows.shape[1]
    columns: list[np.ndarray] = []
    for group in parts(is_used.T.astype(float) @ is_used > 0.0):
        touching = np.any(is_used[:, group], axis=1)
        found = np.zeros((n, len(group)))
        found[group, range(len(group))] = 1.0
        if touching.any():
            _, sizes, right = np.linalg.svd(rows[np.ix_(touching, group)])
            rank = int(np.sum(sizes > 1e-10 * max(1.0, sizes.max(initial=0.0))))
            found = np.zeros((n, len(group) - rank))
            found[group] = right[rank:].T
        columns.append(found)
    return np.hstack(columns)


def parts(is_linked: np.ndarray) -> list[list[int]]:
    """Groups of numbers that a symmetric relation links, in order."""
    left = set(range(len(is_linked)))
    found = []
    while left:
        group, new = set(), {min(left)}
        while new:
            group |= new
            new = set(np.flatnonzero(is_linked[sorted(new)].any(axis=0)).tolist()) - group
        left -= group
        found.append(sorted(group))
    return found


def lowest(stiffness: np.ndarray, mass: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """The `count` lowest squares of angular frequencies, and their shapes with a modal mass of one.

    The stiffness is positive, the mass need not be: a shape without mass has an infinite frequency.

    Raises
    ------
    StructureError
        The stiffness is not positive.
    """
    size = np.sqrt(np.maximum(np.diag(stiffness), 0.0))
    if not np.all(size > 0.0):
        raise StructureError(
            "K", None, "has a freedom without stiffness", "hold it or give it some"
        )
    of_mass = np.sqrt(np.maximum(np.diag(mass), 0.0))
    is_linked = np.abs(stiffness) > NOTHING * np.outer(size, size)
    is_linked |= np.abs(mass) > NOTHING * np.outer(of_mass, of_mass)
    found: list[tuple[float, int, np.ndarray]] = []
    for group in parts(is_linked):
        here = np.ix_(group, group)
        squares, shapes = _of_part(stiffness[here], mass[here], size[group])
        for square, shape in zip(squares[:count], shapes.T, strict=False):
            whole = np.zeros(len(size))
            whole[group] = shape
            found.append((float(square), len(found), whole))
    found.sort(key=lambda mode: mode[:2])
    chosen = found[:count]
    return np.array([mode[0] for mode in chosen]), np.array([mode[2] for mode in chosen]).T


def _of_part(
    stiffness: np.ndarray, mass: np.ndarray, size: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    try:
        root = np.linalg.cholesky(stiffness / np.outer(size, size))
    except np.linalg.LinAlgError:
        remedy = "something moves without being held: a part that is not connected, or a frame that is too little"
        raise StructureError("K", None, "is not positive beside the frame", remedy) from None
    half = np.linalg.solve(root, np.diag(1.0 / size))
    inner = half @ mass @ half.T
    over, turned = np.linalg.eigh((inner + inner.T) / 2.0)
    over, turned = over[::-1], turned[:, ::-1]
    with np.errstate(divide="ignore"):
        squares = np.where(over > 1e-14 * over[0], 1.0 / np.maximum(over, 1e-300), np.inf)
    return squares, half.T @ turned * np.where(np.isfinite(squares), np.sqrt(squares), 1.0)

"""Linear algebra of bodies in the assembled pose: their rates by a twist, null spaces, poses."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from codegen.expressions.dag import Expr
from codegen.system.affine import affine
from codegen.system.body import Body

SMALL = 1e-7  # of a singular value beside the largest: poses are closed to some 1e-12
Equation = tuple[dict[Expr, float], np.ndarray]


def equations_of(
    body: Body,
    fixed: Callable[[Expr | float], Expr | float],
    value: Callable[[Expr | float], float],
) -> list[Equation] | None:
    """Rates of a body's generators by a twist; see `Piece.equations`. None where one is no sum of coordinates."""
    found = []
    for k, generator in enumerate(body.generators):
        now = [value(c) for c in generator]
        for axis, component in enumerate(generator):
            weights = affine(fixed(component))
            if weights is None:
                return None
            twist = np.zeros(6)
            # omega x r, by components
            ahead, behind = (axis + 1) % 3, (axis + 2) % 3
            twist[ahead], twist[behind] = now[behind], -now[ahead]
            twist[3 + axis] = body.built[0, k]
            found.append((weights[0], twist))
    return found


def null_space(matrix: np.ndarray) -> np.ndarray:
    """Columns that span it, orthonormal."""
    _, sizes, right = np.linalg.svd(matrix)
    rank = int(np.sum(sizes > SMALL * max(1.0, sizes.max(initial=0.0))))
    return right[rank:].T


def column_space(matrix: np.ndarray) -> np.ndarray:
    """Columns that span the range, orthonormal."""
    left, sizes, _ = np.linalg.svd(matrix, full_matrices=False)
    return left[:, sizes > SMALL]


def rigid_pose(built: np.ndarray, now: np.ndarray) -> np.ndarray | None:
    """Displacement from the file's pose; None where the generators do not tell it."""
    arms = [k for k in range(built.shape[1]) if built[0, k] == 0.0]
    if np.linalg.matrix_rank(built[1:, arms], tol=1e-9) == 2:
        # two directions, and the one across
        a, b = max(
            ((i, j) for i in arms for j in arms if i < j),
            key=lambda p: np.linalg.norm(np.cross(built[1:, p[0]], built[1:, p[1]])),
        )
        built, now = (
            np.column_stack([m, [0.0, *np.cross(m[1:, a], m[1:, b])]]) for m in (built, now)
        )
    if np.linalg.matrix_rank(built) < 4:
        return None
    pose = now @ np.linalg.pinv(built)
    pose[0] = (1.0, 0.0, 0.0, 0.0)
    left, _, right = np.linalg.svd(pose[1:, 1:])
    turn = left @ right
    if np.linalg.det(turn) < 0.0 or np.max(np.abs(turn - pose[1:, 1:])) > 1e-9:
        return None
    pose[1:, 1:] = np.where(np.abs(turn - np.round(turn)) < 1e-13, np.round(turn), turn)
    return pose

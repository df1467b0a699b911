"""Penalties that suit the masses: one scale a row, one force unit."""

from __future__ import annotations

import math

import numpy as np

from codegen.options.options import INDEX_3, KernelOptions
from codegen.pose.built import built_pose
from codegen.pose.redundancy import SHARE_LIMIT, row_space
from codegen.pose.sparse import LARGE, rows_of, saddle
from codegen.system.system import System

ROUND_OFF = 1e-12  # of the largest slope


def penalties(system: System, options: KernelOptions) -> tuple[list[float], float]:
    """Row scales w_i and force unit a0, so that alpha_i = a0 w_i^2.

    With kappa, alpha_i = kappa m_i / (beta h^2), or kappa m_i for formulations on accelerations and
    momenta, where m_i is the inertia that row i feels at the
    built pose when all other rows hold, (S^+)_ii with S = phi_q mass^-1 phi_q^T, and at least what
    it feels alone, 1/S_ii. A row that feels none takes the largest of the rows that share its
    coordinates.
    """
    n_phi = len(system.rows)
    if options.alpha is not None:
        return [1.0] * n_phi, options.alpha
    _, _, beta, _ = options.newmark
    unit = options.row_kappa
    if options.formulation in INDEX_3:
        unit /= beta * options.inner_step_s**2
    if n_phi == 0 and options.formulation != "independent":
        return [], unit
    jac, mass = built_pose(system)
    # a row that follows from others where a loop closes may have the round-off of its pose only, and no mass is
    # as large as the one that such a row would feel
    jac = np.where(np.abs(jac) > ROUND_OFF * np.max(np.abs(jac), initial=0.0), jac, 0.0)
    diagonal = np.diag(mass)
    if options.formulation == "independent":
        # no penalty but in the metric of the assembly
        return [1.0] * n_phi, options.row_kappa * float(diagonal.max())
    if not diagonal.any():
        return [1.0] * n_phi, unit
    together = _inertia_together(jac, mass)
    mobile = np.where(diagonal > 0.0, 1.0 / np.where(diagonal > 0.0, diagonal, 1.0), 0.0)
    mobility = (jac**2) @ mobile
    alone = np.where(mobility > 0.0, 1.0 / np.where(mobility > 0.0, mobility, 1.0), 0.0)
    alone = _spread(alone, jac)
    # three digits are plenty for a penalty, and hide differences between linear algebra libraries
    return [float(f"{math.sqrt(m):.3g}") for m in np.maximum(together, alone)], unit


def _inertia_together(jac: np.ndarray, mass: np.ndarray) -> np.ndarray:
    """(S^+)_ii of S = jac mass^-1 jac^T; a trace of mass on massless coordinates makes the inverse
    exist.
    """
    floor = 1e-6 * np.diag(mass).max() * np.eye(len(mass))
    if max(jac.shape) < LARGE:
        return np.diag(np.linalg.pinv(jac @ np.linalg.solve(mass + floor, jac.T)))
    # large: -S^-1 is the last block of the inverse of [[mass, jac^T], [jac, 0]]; rows that follow
    # from others are left out, and take the values of those
    found = np.zeros(len(jac))
    space = row_space(jac)
    kept = [r for r in range(len(jac)) if r not in space.dependent]
    alone = (jac[kept] ** 2) @ (1.0 / np.diag(mass + floor))
    factor = saddle(rows_of(mass + floor), rows_of(jac[kept]), list(1e-8 * alone))
    found[kept] = -factor.inverse_diagonal()[len(mass) :]
    for r, combination in space.dependent.items():
        found[r] = np.max(np.where(np.abs(combination) > SHARE_LIMIT, found, 0.0))
    return found


def _spread(alone: np.ndarray, jac: np.ndarray) -> np.ndarray:
    """Rows without inertia take the largest of the rows that share their coordinates."""
    rows = [np.flatnonzero(row) for row in jac]
    while not alone.all():
        nearby = np.zeros(jac.shape[1])  # largest of the rows at each coordinate
        for value, row in zip(alone, rows, strict=True):
            nearby[row] = np.maximum(nearby[row], value)
        around = np.array([nearby[row].max(initial=0.0) for row in rows])
        spread = np.where(alone > 0.0, alone, around)
        if np.array_equal(spread, alone):
            return np.where(alone > 0.0, alone, alone.max())
        alone = spread
    return alone

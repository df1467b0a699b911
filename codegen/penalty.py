"""Penalties that suit the masses: one scale a row, one force unit."""

from __future__ import annotations

import math

import numpy as np

from codegen.options import KernelOptions
from codegen.pose import built_pose
from codegen.system import System


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
    # multipliers make up for a soft penalty; without them it is what decides
    default = 1e8 if options.formulation == "penalty" else 1e6
    kappa = options.kappa if options.kappa is not None else default
    unit = kappa / (beta * options.step_s**2) if options.formulation == "ali3p" else kappa
    jac, mass = built_pose(system)
    diagonal = np.diag(mass)
    if options.formulation == "independent":
        # no penalty but in the metric of the assembly
        return [1.0] * n_phi, kappa * float(diagonal.max())
    if n_phi == 0 or not diagonal.any():
        return [1.0] * n_phi, unit
    # a trace of mass on massless coordinates makes the inverse exist
    floor = 1e-6 * diagonal.max() * np.eye(len(mass))
    together = np.diag(np.linalg.pinv(jac @ np.linalg.solve(mass + floor, jac.T)))
    mobile = np.where(diagonal > 0.0, 1.0 / np.where(diagonal > 0.0, diagonal, 1.0), 0.0)
    mobility = (jac**2) @ mobile
    alone = np.where(mobility > 0.0, 1.0 / np.where(mobility > 0.0, mobility, 1.0), 0.0)
    shares = (np.abs(jac) @ np.abs(jac.T)) > 0.0
    while not alone.all():
        spread = np.where(alone > 0.0, alone, np.max(np.where(shares, alone, 0.0), axis=1))
        if np.array_equal(spread, alone):
            alone = np.where(alone > 0.0, alone, alone.max())
        else:
            alone = spread
    # three digits are plenty for a penalty, and hide what linear algebra libraries differ in
    return [float(f"{math.sqrt(m):.3g}") for m in np.maximum(together, alone)], unit

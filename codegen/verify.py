"""Proof of a fresh kernel: Jacobian by complex step, and the compiled steps against the NumPy
twin.
"""

from __future__ import annotations

import math
from types import ModuleType
from typing import Any

import numpy as np

STEPS = 50
JACOBIAN_LIMIT = 1e-12  # complex step is exact to round-off of numbers of order one
TWIN_LIMIT = 1e-9  # both iterate to round-off; the twin's dense solve is conditioned like kappa


class VerificationError(RuntimeError):
    """A generated kernel disagrees with its own equations; it is not cached."""


def verify(kernel: ModuleType, twin: ModuleType) -> dict[str, float]:
    """Check a compiled kernel against its NumPy twin.

    Returns
    -------
    dict
        Largest errors found: ``phi_q`` (complex step), ``q`` and ``reaction`` (relative) over some
        steps; ``open``, the twin's largest constraint violation.

    Raises
    ------
    VerificationError
        An error above its limit; the message has the numbers.
    """
    # dense linear algebra: fewer steps for hundreds of coordinates
    steps = max(3, min(STEPS, 10**9 // len(twin.Q_0) ** 3))
    found = {"phi_q": jacobian_error(twin)} | twin_error(kernel, twin, steps)
    # with a tolerance both stop early, each at its own small rest; a formulation that leaves rows
    # open says no more about positions than that, while linear rows hold exactly in the kernel
    limits = {
        "phi_q": JACOBIAN_LIMIT,
        "q": TWIN_LIMIT + 1e-2 * twin.TOLERANCE + 10.0 * found["open"],
        "reaction": 1e-5,
        "open": math.inf,
    }
    wrong = [f"{k}: {v:.3g} above {limits[k]:.3g}" for k, v in found.items() if not v <= limits[k]]
    if wrong:
        name = twin.model_info()["name"]
        raise VerificationError(f"kernel of {name} fails its checks: {'; '.join(wrong)}")
    return found


def jacobian_error(twin: ModuleType, seed: int = 0) -> float:
    """Largest difference of phi_q and a complex-step derivative of phi, near the built pose."""
    rng = np.random.default_rng(seed)
    n_q, n_guides = len(twin.Q_0), len(twin.GUIDES)
    q = np.array(twin.Q_0, dtype=float) + rng.uniform(-0.3, 0.3, n_q)
    guide = np.zeros(3 * n_guides)
    exact = twin.phi_q(q)
    error = 0.0
    for i in range(n_q):
        moved = q.astype(complex)
        moved[i] += 1e-30j
        column = twin.phi(moved, guide).imag / 1e-30
        error = max(error, float(np.max(np.abs(column - exact[:, i]), initial=0.0)))
    return error / max(1.0, float(np.max(np.abs(exact), initial=0.0)))


def twin_error(kernel: ModuleType, twin: ModuleType, steps: int = STEPS) -> dict[str, float]:
    """Largest differences of a short, smooth motion; guides swing 0.05 rad or 5 mm about the built
    pose.
    """
    fast, slow = kernel.Kernel(), twin.Kernel()
    guide = _swing(twin, 0.0)
    status = fast.reset(*guide)
    if status != 0:
        raise VerificationError(
            f"kernel of {twin.model_info()['name']}: cannot be assembled at the built pose "
            f"(status {status}, largest violation {fast.residual:.3g})"
        )
    slow.reset(*guide, parts=1)
    error_q = float(np.max(np.abs(np.array(fast.q) - slow.q)))
    error_reaction, size, left_open = 0.0, 1.0, 0.0
    for k in range(1, steps + 1):
        guide = _swing(twin, k * twin.STEP_S)
        status = fast.step(*guide)
        slow.step(*guide)
        if status != 0:
            raise VerificationError(f"step {k} of the kernel returns status {status}")
        error_q = max(error_q, float(np.max(np.abs(np.array(fast.q) - slow.q))))
        left_open = max(left_open, float(slow.residual))
        if len(slow.reaction):
            size = max(size, float(np.max(np.abs(slow.reaction))))
            gap = np.abs(np.array(fast.reaction) - slow.reaction)
            error_reaction = max(error_reaction, float(np.max(gap)))
    return {"q": error_q, "reaction": error_reaction / size, "open": left_open}


def _swing(twin: Any, t: float) -> list[float]:
    rate = 2.0 * math.pi * 2.0
    units = dict(twin.model_info()["coordinates"])
    names = [name for name, _ in twin.model_info()["coordinates"]]
    values = []
    for _, index in twin.GUIDES:
        size = 0.05 if units[names[index]] == "rad" else 0.005
        s, c = math.sin(rate * t), math.cos(rate * t)
        values += [twin.Q_0[index] + size * s, size * rate * c, -size * rate * rate * s]
    return values

"""Proof of a fresh observer model: positions, rates, accelerations and readings against its NumPy twin,
and every slope against a complex step through the twin, at states around the pose of the file.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

from codegen.verify import VerificationError

STATES = 5
SPREAD = 0.1  # rad, m, and per s
# relative to the largest of each array; the twin solves normal equations, which square the condition
LIMITS = {"q": 1e-9, "qdd": 1e-8, "y": 1e-8, "zdd_x": 1e-7, "y_x": 1e-7, "phi_dot_q": 1e-10}
LIMITS |= {"sens": 1e-8, "sens_bias": 1e-8, "mass": 1e-9, "mass_bias": 1e-8, "share": 1e-9}


def verify(module: ModuleType, twin: ModuleType, seed: int = 0) -> dict[str, float]:
    """Check a compiled observer model.

    Returns
    -------
    dict
        Largest relative errors: coordinates, accelerations, readings, slopes of the accelerations of
        z and of the readings, and the Jacobian of phi_dot.

    Raises
    ------
    VerificationError
        An error above its limit, or a state at which the model cannot be put together.
    """
    rng = np.random.default_rng(seed)
    model, slow = module.Model(), twin.Observed()
    name = module.model_info()["name"]
    found = dict.fromkeys(LIMITS, 0.0)
    start = np.array(model.info["start"])
    still = [feels != "force" for feels in model.info["sensor_feels"]]
    for trial in range(STATES):
        x = start + (SPREAD * rng.uniform(-1.0, 1.0, len(start)) if trial else 0.0)
        fast = model.at(list(x))
        if fast["status"] != 0:
            raise VerificationError(
                f"observer of {name}: no position at state {x.round(4).tolist()}, status "
                f"{fast['status']}: take other independent coordinates"
            )
        slow.near = np.array(fast["q"])
        right: dict[str, Any] = slow.at(x)
        right["zdd_x"], right["y_x"] = slow.slopes(x)
        right["sens"], right["share"] = slow.apart(x)
        fast |= model.apart(list(x))
        for key in ("sens", "sens_bias"):
            fast[key], right[key] = (np.array(at[key])[still] for at in (fast, right))
        for key in LIMITS.keys() - {"phi_dot_q"}:
            found[key] = max(found[key], _gap(fast[key], right[key]))
        open_ = model.at_coordinates(list(right["q"]), list(right["qd"]))
        found["phi_dot_q"] = max(
            found["phi_dot_q"],
            _gap(open_["phi_dot_q"], _phi_dot_q(twin, slow, right, open_["phi_q"])),
        )
    wrong = [f"{k}: {v:.3g} above {LIMITS[k]:.3g}" for k, v in found.items() if not v <= LIMITS[k]]
    if wrong:
        raise VerificationError(f"observer of {name} fails its checks: {'; '.join(wrong)}")
    return found


def _gap(given: Any, right: Any) -> float:
    right = np.asarray(right, dtype=float)
    size = max(1.0, float(np.max(np.abs(right), initial=0.0)))
    return (
        float(
            np.max(np.abs(np.asarray(given, dtype=float).reshape(right.shape) - right), initial=0.0)
        )
        / size
    )


def _phi_dot_q(twin: ModuleType, slow: Any, at: dict[str, Any], scaled: Any) -> Any:
    """Jacobian of phi_dot by complex step, in the model's scaling of rows."""
    columns = [
        (twin.phi_q(at["q"] + 1e-30j * e) @ at["qd"]).imag / 1e-30 for e in np.eye(len(at["q"]))
    ]
    plain = twin.phi_q(at["q"])
    size = np.linalg.norm(plain, axis=1)
    weight = np.linalg.norm(np.asarray(scaled).reshape(plain.shape), axis=1) / np.where(
        size > 0, size, 1.0
    )
    return np.array(columns).T * weight[:, None]

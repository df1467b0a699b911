"""Proof of a fresh observer model: positions, rates, accelerations and readings against its NumPy twin,
and every slope against a complex step through the twin, at states around the pose of the file; and what a
correction does to the kernel's state.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

from codegen.kernels.verify import VerificationError

STATES = 5
SPREAD = 0.1  # rad, m, and per s
# relative to the largest of each array; the twin solves normal equations, which square the condition
LIMITS = {
    "q": 1e-9, "qdd": 1e-8, "y": 1e-8, "zdd_x": 1e-7, "y_x": 1e-7, "phi_dot_q": 1e-10,
    # motion and forces apart
    "sens": 1e-8, "sens_bias": 1e-8, "mass": 1e-9, "mass_bias": 1e-8, "share": 1e-9,
    "sens_slopes": 1e-7,
    # at the kernel's state, whose constraints its iterations leave open by a little
    "kernel_y": 1e-5, "kernel_y_x": 1e-5, "curve": 1e-5, "nudge": 1e-2,
}  # fmt: skip
NUDGE = 1e-5  # rad, m, and per s; the gap that its square leaves is less than `nudge` of it


def verify(module: ModuleType, twin: ModuleType, seed: int = 0) -> dict[str, float]:
    """Check a compiled observer model.

    Returns
    -------
    dict
        Largest relative errors: coordinates, accelerations, readings, slopes of the accelerations of
        z and of the readings, the Jacobian of phi_dot; readings and slopes after a step of the kernel, the curve
        of phi along a correction and, relative to the correction, coordinates and rates after it.

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
        zdd = right["zdd"] + rng.uniform(-1.0, 1.0, len(right["zdd"]))
        right["sens_slopes"] = slow.sens_slopes(x, zdd)
        fast |= model.apart(list(x), zdd.tolist())
        for key in ("sens", "sens_bias", "sens_slopes"):
            fast[key], right[key] = (np.array(at[key])[still] for at in (fast, right))
        for key in LIMITS.keys() & right.keys():
            found[key] = max(found[key], _gap(fast[key], right[key]))
        open_ = model.at_coordinates(list(right["q"]), list(right["qd"]))
        found["phi_dot_q"] = max(
            found["phi_dot_q"],
            _gap(open_["phi_dot_q"], _phi_dot_q(twin, slow, right, open_["phi_q"])),
        )
    x = start + SPREAD * rng.uniform(-1.0, 1.0, len(start))
    found |= _corrected(module.Model(), twin, slow, x, rng)
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


def _corrected(model: Any, twin: ModuleType, slow: Any, x: Any, rng: Any) -> dict[str, float]:
    """Errors of readings, of their slopes, and of a correction, after a step of the kernel."""
    status = model.kernel_start(x.tolist()) or model.kernel_step()[0]
    if status:
        raise VerificationError(
            f"observer of {model.info['name']}: its kernel does not start at {x.round(4).tolist()}, status {status}"
        )
    at = model.kernel_senses()
    z = twin.Z
    state = np.concatenate([[at["q"][i] for i in z], [at["qd"][i] for i in z], x[2 * len(z) :]])
    slow.near = np.array(at["q"])
    right = slow.at(state)
    change = NUDGE * rng.uniform(-1.0, 1.0, len(x))
    dq = np.array(at["vel_map"]).T @ change[: len(z)]
    after, there = model.nudge(change.tolist()), slow.at(state + change)
    curve = 0.5 * (twin.phi_q(right["q"] + 1e-30j * dq) @ dq).imag / 1e-30
    weight = _weight(twin.phi_q(right["q"]), model.at_coordinates(at["q"], at["qd"])["phi_q"])
    # without projections the kernel's own rates are a little off
    moved = max(
        np.max(np.abs((np.array(after[key]) - at[key]) - (there[key] - right[key])))
        for key in ("q", "qd")
    )
    return {
        "kernel_y": _gap(at["y"], right["y"]),
        "kernel_y_x": _gap(at["y_x"], slow.slopes(state)[1]),
        "curve": _gap(np.array(after["phi"]) / NUDGE**2, weight * curve / NUDGE**2),
        "nudge": float(moved) / NUDGE,
    }


def _phi_dot_q(twin: ModuleType, slow: Any, at: dict[str, Any], scaled: Any) -> Any:
    """Jacobian of phi_dot by complex step, in the model's scaling of rows."""
    columns = [
        (twin.phi_q(at["q"] + 1e-30j * e) @ at["qd"]).imag / 1e-30 for e in np.eye(len(at["q"]))
    ]
    return np.array(columns).T * _weight(twin.phi_q(at["q"]), scaled)[:, None]


def _weight(plain: Any, scaled: Any) -> Any:
    """Return the factor by which the model multiplies each row."""
    size = np.linalg.norm(plain, axis=1)
    return np.linalg.norm(np.asarray(scaled).reshape(plain.shape), axis=1) / np.where(
        size > 0, size, 1.0
    )

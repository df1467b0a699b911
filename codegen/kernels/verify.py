"""Proof of a fresh kernel: Jacobian by complex step, the compiled steps against the NumPy twin, and
the work of all forces against the change of kinetic energy.

Bounded: up to 100 coordinates every column of the Jacobian and 50 steps are checked. Above, the
Jacobian is checked along 16 random directions (a wrong entry shows in all of them), and the twin,
whose linear algebra is dense, takes fewer steps: 37 at 200 coordinates, 2 from 465 on. Outputs are
compared up to 300 coordinates, and where all multipliers are determined.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from codegen.kernels.work_energy import work_error
from codegen.options.statuses import STATUSES

STEPS = 50
ALL_COLUMNS = 100  # coordinates
COMPARED = 300  # coordinates up to which ranks are found in reasonable time
JACOBIAN_LIMIT = 1e-12  # complex step is exact to round-off of numbers of order one
LIMITS = {
    # both iterate to round-off; the twin's dense solve is conditioned like kappa
    "float64": {"q": 1e-9, "reaction": 1e-5, "outputs": 1e-5, "work": 1e-2},
    # single precision: the error of kappa times its round-off; its reactions are not fit for use
    "float32": {"q": 1e-3, "reaction": math.inf, "outputs": math.inf, "work": 0.1},
}
SHORTER = (2, 4, 8, 16)  # parts of a step that are tried where a step fails
FOLLOWED_M = 1e-4  # violation of a step that is good, as of a kernel by default: m or rad
REFINEMENTS = 6  # of the step, each by four, until the work of all forces must come out


class VerificationError(RuntimeError):
    """A generated kernel disagrees with its own equations; it is not cached."""


class StepError(VerificationError):
    """A step of the kernel's trial ends with a status."""

    def __init__(self, step: int, status: int, remedy: str = "") -> None:
        self.step, self.status = step, status
        words = STATUSES.get(status, "unknown")
        super().__init__(f"step {step} of the kernel returns status {status}: {words}{remedy}")


def verify(
    kernel: ModuleType, twin: ModuleType, finer: Callable[[float], ModuleType] | None = None
) -> dict[str, float]:
    """Check a compiled kernel against its NumPy twin.

    Parameters
    ----------
    finer : callable, optional
        Twin of the same mechanism and options with a given step in s.

    Returns
    -------
    dict
        Largest errors found: ``phi_q`` (complex step); ``q``, ``reaction`` and ``outputs`` (relative)
        over some steps; ``open``, the twin's largest constraint violation; ``work``, change of
        kinetic energy minus work of the forces, relative to the energy moved.

    Raises
    ------
    VerificationError
        An error above its limit; the message has the numbers.
    """
    limits = {"phi_q": JACOBIAN_LIMIT, "open": math.inf, **LIMITS[twin.model_info()["precision"]]}
    # with a tolerance both stop early, each at its own small rest
    limits["q"] += 1e-2 * twin.TOLERANCE
    # dense linear algebra: fewer steps for hundreds of coordinates
    steps = max(2, min(STEPS, 3 * 10**8 // len(twin.Q_0) ** 3))
    try:
        found = {"phi_q": jacobian_error(twin)} | twin_error(kernel, twin, steps)
    except StepError as error:
        raise StepError(error.step, error.status, _remedy(twin, finer, steps)) from None
    # a formulation that leaves rows open says no more about positions than that, while linear rows
    # hold exactly in the kernel
    limits["q"] += 10.0 * found["open"]
    found["work"] = work_error(stepper(kernel), twin, _motion(twin, steps))
    wrong = [f"{k}: {v:.3g} above {limits[k]:.3g}" for k, v in found.items() if not v <= limits[k]]
    if wrong and not found["work"] <= limits["work"] and finer is not None:
        # a step too coarse for a stiff spring is not a mistake: with a small one the sum must come out
        wrong = [line for line in wrong if not line.startswith("work")]
        wrong += _work_left(twin, finer, found["work"], limits["work"])
    if wrong:
        name = twin.model_info()["name"]
        raise VerificationError(f"kernel of {name} fails its checks: {'; '.join(wrong)}")
    return found


def _remedy(twin: ModuleType, finer: Callable[[float], ModuleType] | None, steps: int) -> str:
    """The largest step with which the same motion is possible, for the end of a message."""
    if finer is None:
        return ""
    long_s = twin.model_info()["step_s"]
    for parts in SHORTER:
        module = finer(long_s / parts)
        if _is_followed(module, steps * parts):
            return (
                f"; step_s = {long_s:g} is too long for its motion, step_s = {long_s / parts:g} does, "
                f"or substeps = {parts} times as many as now"
            )
    return f"; no step down to {long_s / SHORTER[-1]:g} s does: see the file's masses, stiffnesses and pose"


def _is_followed(twin: ModuleType, steps: int) -> bool:
    stepper, motion = twin.Kernel(), _motion(twin, steps)
    try:
        with np.errstate(all="ignore"):
            stepper.reset(*motion[0], parts=1)
            for guide in motion[1:]:
                stepper.step(*guide)
                if not stepper.residual <= FOLLOWED_M:
                    return False
    except np.linalg.LinAlgError:
        return False
    return True


def _work_left(
    twin: ModuleType, finer: Callable[[float], ModuleType], coarse: float, limit: float
) -> list[str]:
    """The mistake that the work of forces misses the energy at every step size; nothing if it falls
    below the limit, or at least with the first power of the step.
    """
    errors = [coarse]
    for level in range(1, REFINEMENTS + 1):
        module = finer(twin.model_info()["step_s"] / 4.0**level)
        errors.append(work_error(module.Kernel(), module, _motion(module, STEPS)))
        if errors[-1] <= limit or (level > 1 and errors[-1] < errors[-2] / 3.5 < errors[-3] / 12):
            return []
    told = ", ".join(f"{e:.3g}" for e in errors)
    remedy = (
        "if the options make the motion unstable: a larger kappa, projection 'A', a smaller step"
    )
    return [
        f"work: the energy misses the work of the forces by {told} at h, h/4, h/16, …; {remedy}"
    ]


def stepper(kernel: ModuleType) -> Any:
    """A kernel to step by hand, whatever its wrapper is."""
    return kernel.Kernel() if hasattr(kernel, "Kernel") else Procedural(kernel)


class Procedural:
    """A kernel of functions on a state, seen as an object."""

    def __init__(self, module: ModuleType) -> None:
        self._module, self._state = module, module.new_state()

    def reset(self, *guide: float) -> int:
        return self._module.reset(self._state, guide)

    def step(self, *guide: float) -> int:
        return self._module.step(self._state, guide)

    q = property(lambda self: self._module.coordinates(self._state)[0])
    qd = property(lambda self: self._module.coordinates(self._state)[1])
    internal = property(lambda self: self._module.internal(self._state))
    reaction = property(lambda self: self._module.reaction(self._state))
    outputs = property(lambda self: self._module.outputs(self._state))
    singular = property(lambda self: self._module.health(self._state)["singular"])
    residual = property(lambda self: self._module.health(self._state)["residual"])


def jacobian_error(twin: ModuleType, seed: int = 0) -> float:
    """Largest difference of phi_q and a complex-step derivative of phi, near the built pose."""
    rng = np.random.default_rng(seed)
    n_q = len(twin.Q_0)
    q = np.array(twin.Q_0, dtype=float) + rng.uniform(-0.3, 0.3, n_q)
    guide = np.zeros(3 * len(twin.GUIDES))
    exact = twin.phi_q(q)
    directions = np.eye(n_q) if n_q <= ALL_COLUMNS else rng.uniform(-1.0, 1.0, (16, n_q))
    error = 0.0
    for along in directions:
        moved = q.astype(complex) + 1e-30j * along
        slope = twin.phi(moved, guide).imag / 1e-30
        if twin.RATE_ROWS:
            # rows of rates alone, over rates
            slope[twin.RATE_ROWS] = twin.sliding(q, 1e-30j * along).imag / 1e-30
        error = max(error, float(np.max(np.abs(slope - exact @ along), initial=0.0)))
    return error / max(1.0, float(np.max(np.abs(exact), initial=0.0)))


def twin_error(kernel: ModuleType, twin: ModuleType, steps: int = STEPS) -> dict[str, float]:
    """Largest differences of a short, smooth motion; guides swing 0.05 rad or 5 mm about the built
    pose.
    """
    fast, slow = stepper(kernel), twin.Kernel()
    guide, *rest = _motion(twin, steps)
    status = fast.reset(*guide)
    if status != 0:
        raise VerificationError(
            f"kernel of {twin.model_info()['name']}: cannot be assembled at the built pose "
            f"(status {status}, largest violation {fast.residual:.3g})"
        )
    slow.reset(*guide, parts=1)
    has_outputs = _is_determined(twin, slow.q)
    error_q = float(np.max(np.abs(np.array(fast.q) - slow.q)))
    error_reaction, size, error_out, left_open = 0.0, 1.0, 0.0, 0.0
    for k, guide in enumerate(rest, 1):
        status = fast.step(*guide)
        slow.step(*guide)
        if status != 0:
            raise StepError(k, status)
        if getattr(fast, "singular", 0) > 0:
            break  # near a singular pose the kernel settles more sharply than the twin
        error_q = max(error_q, float(np.max(np.abs(np.array(fast.q) - slow.q))))
        left_open = max(left_open, float(slow.residual))
        if len(slow.reaction):
            size = max(size, float(np.max(np.abs(slow.reaction))))
            gap = np.abs(np.array(fast.reaction) - slow.reaction)
            error_reaction = max(error_reaction, float(np.max(gap)))
        if has_outputs:
            shown = slow.outputs
            gaps = [
                abs(value - shown[port]) / max(1.0, size, abs(shown[port]))
                for port, value in fast.outputs.items()
                if port in shown
            ]
            error_out = max([error_out, *gaps])
    return {
        "q": error_q, "reaction": error_reaction / size, "outputs": error_out, "open": left_open
    }  # fmt: skip


def _is_determined(twin: ModuleType, q: np.ndarray) -> bool:
    """Return whether no multiplier is shared between rows: then any output can be compared."""
    if len(q) > COMPARED:
        return False
    if hasattr(twin, "natural"):
        return True  # in joint coordinates outputs show no multipliers
    jac = twin.phi_q(q)
    return len(jac) == 0 or np.linalg.svd(jac, compute_uv=False)[-1] > 1e-3


def _motion(twin: Any, steps: int) -> list[list[float]]:
    """Guide inputs of a start and of some steps."""
    rate = 2.0 * math.pi * 2.0
    info = twin.model_info()
    units = [unit for _, unit in info["coordinates"]]
    rows = []
    for k in range(steps + 1):
        s, c = math.sin(rate * k * info["step_s"]), math.cos(rate * k * info["step_s"])
        rows.append([
            value
            for _, index in twin.GUIDES
            for size in [0.05 if units[index] == "rad" else 0.005]
            for value in (twin.Q_0[index] + size * s, size * rate * c, -size * rate * rate * s)
        ])  # fmt: skip
    return rows

"""Modes that are too fast for a step: explicit rules diverge, and any rule needs steps to follow a mode."""

from __future__ import annotations

import math

import numpy as np

from codegen.description.mechanism import Mechanism
from codegen.expressions.dag import evaluate
from codegen.options.options import KernelOptions
from codegen.pose.built import built_pose

# angular frequency times step up to which a rule is stable without damping, or its fixed-point iteration closes
STABLE = {
    "forward_euler": 0.0,
    "semi_implicit_euler": 2.0,
    "rk4": 2.0 * math.sqrt(2.0),
    "trapezoidal": 2.0,
}
KEPT = 0.9  # of it, for what is stiffer elsewhere than at the pose of the file
FOLLOWED = 10  # steps a period below which a mode is hardly more than noise


def fastest_rad_s(mechanism: Mechanism) -> float:
    """Return the highest angular frequency of a mechanism with flexible bodies, undamped, at the pose of its file."""
    system = mechanism.system
    jac, mass = built_pose(system)
    at = {c.q.name: c.initial for c in system.coordinates}
    at |= {c.qd.name: 0.0 for c in system.coordinates}
    at |= {p.var.name: p.default for p in [*system.parameters, *system.signals, *system.internals]}
    at |= {held.var.name: 0.0 for held in system.held} | {system.since_s.name: 0.0}
    stiffness = np.zeros_like(mass)
    for i, force in system.force.items():
        inside = set(system.graph.variables(force))
        for c in (c for c in system.coordinates if c.q in inside):
            slope = evaluate(system.graph.diff(force, c.q), at)
            stiffness[i, c.index] -= slope / 2.0
            stiffness[c.index, i] -= slope / 2.0
    _, sizes, right = np.linalg.svd(jac)
    free = right[int(np.sum(sizes > 1e-9 * max(1.0, sizes.max(initial=0.0)))) :].T
    if not free.size:
        return 0.0
    root = np.linalg.cholesky(free.T @ mass @ free)
    half = np.linalg.solve(root, free.T)
    return float(np.sqrt(max(0.0, np.linalg.eigvalsh(half @ stiffness @ half.T)[-1])))


def too_fast(mechanism: Mechanism, options: KernelOptions) -> list[tuple[str, str, str]]:
    """Key, problem and remedy of modes of flexible bodies that the integrator makes grow at that step."""
    system = mechanism.system
    if not system.flexible or options.formulation in ("ali3p", "semi_recursive"):
        return []
    omega = fastest_rad_s(mechanism)
    limit = KEPT * STABLE[str(options.integrator)]
    if omega * options.inner_step_s <= limit:
        return []
    names = ", ".join(system.flexible)
    hz = omega / (2.0 * math.pi)
    problem = (
        f"the fastest mode, {hz:.4g} Hz, grows without bound with {options.integrator} and "
        f"{options.inner_step_s * 1e3:.3g} ms"
    )
    remedy = "formulation = 'ali3p', which is implicit; or fewer modes"
    if limit > 0.0:
        substeps = math.ceil(omega * options.step_s / limit)
        remedy += f"; or step_s = {limit / omega:.2g} or less, or substeps = {substeps}"
    return [(f"flexible_body.{names}.modes", problem, remedy)]

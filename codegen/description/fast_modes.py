"""Modes that are too fast for a step: explicit rules diverge, and any rule needs steps to follow a mode."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache

import numpy as np

from codegen.description.mechanism import Mechanism
from codegen.expressions.dag import evaluate
from codegen.options.options import KernelOptions
from codegen.pose.built import built_pose

# angular frequency times step up to which a rule is stable without damping
STABLE = {
    "forward_euler": 0.0,
    "semi_implicit_euler": 2.0,
    "rk4": 2.0 * math.sqrt(2.0),
}
CLOSES = 2.0  # the same of the trapezoidal rule, whose fixed-point iteration does not close beyond
GROWTH = 1e-5  # of an amplitude in a step that counts as none
ITERATED = 6  # iterations up to which a remedy names one
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


@cache
def stable(options: KernelOptions) -> float:
    """Return the angular frequency times step up to which the rule of some options is stable without damping.

    A fixed number of iterations leaves the trapezoidal rule as it is or makes it grow, by turns; rates are those that
    are new already, but of momenta.
    """
    if options.integrator != "trapezoidal":
        return STABLE[str(options.integrator)]
    takes_new = options.formulation != "hamiltonian"
    for size in np.arange(0.01, CLOSES, 0.01):
        made = np.eye(2)  # columns: place and rate, from one of either
        slopes = np.array([[0.0, 1.0], [-(size**2), 0.0]])
        begin = made + 0.5 * slopes @ made
        for _ in range(options.iterations):
            made = begin + 0.5 * slopes @ made
            if takes_new:
                made[0] = begin[0] + 0.5 * made[1]
        if np.max(np.abs(np.linalg.eigvals(made))) > 1.0 + GROWTH:
            return float(size) - 0.01
    return CLOSES


def too_fast(mechanism: Mechanism, options: KernelOptions) -> list[tuple[str, str, str]]:
    """Key, problem and remedy of modes of flexible bodies that the integrator makes grow at that step."""
    system = mechanism.system
    if not system.flexible or options.formulation in ("ali3p", "semi_recursive"):
        return []
    omega = fastest_rad_s(mechanism)
    limit = KEPT * stable(options)
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
        remedy += f"; or step_s = {_below(limit / omega)} or less, or substeps = {substeps}"
    closing = (n for n in range(2, ITERATED) if stable(replace(options, iterations=n)) == CLOSES)
    if options.integrator == "trapezoidal" and limit < KEPT * CLOSES:
        remedy += f"; or iterations = {next(closing)}, which do not grow as {options.iterations} do"
    return [(f"flexible_body.{names}.modes", problem, remedy)]


def _below(step_s: float) -> str:
    """Two digits of a step, never more than it."""
    size = 10.0 ** (math.floor(math.log10(step_s)) - 1)
    return f"{math.floor(step_s / size * (1.0 + 1e-9)) * size:.2g}"

"""Accelerations of a tree against the file's own equations of motion, which know nothing of a tree."""

import numpy as np

from codegen.expressions.dag import evaluate
from codegen.formulations import articulated
from codegen.options.options import KernelOptions
from codegen.targets import numpy_module
from codegen.tree.closed import closed_tree
from codegen.tree.mechanism import in_joint_coordinates
from codegen.tree.recursion import accelerations

OPTIONS = KernelOptions(formulation="articulated")


def somewhere(tree, seed, bent_m=0.0):
    """Joint coordinates and rates, and amplitudes up to a size."""
    rng = np.random.default_rng(seed)
    z = tree.motion.somewhere(seed)
    zd = rng.normal(size=len(z))
    for link in tree.motion.tree.links:
        for i in link.amplitudes:
            z[i], zd[i] = bent_m * rng.uniform(-1.0, 1.0), bent_m * rng.normal()
    return z, zd


def exact_accelerations(twin, z, zd):
    """Return the accelerations of the file's coordinates at a state of the tree.

    They solve mass qdd + phi_q^T lam = force, phi_q qdd + gamma = 0.
    """
    q, slope = twin["natural_slopes"](z)
    assert np.max(np.abs(twin["natural_phi"](q, np.zeros(0))), initial=0.0) < 1e-12
    par = np.array([value for _, value in twin["PARAMETERS"]])
    rows, mass = twin["natural_phi_q"](q), twin["mass"](par)
    signal = (
        np.array([value for _, value in twin["SIGNALS"]])
        if "SIGNALS" in twin
        else np.array(twin["SIGNALS_0"])
    )
    applied = twin["natural_force"](q, slope @ zd, np.zeros(1), par, signal)
    block = np.block([[mass, rows.T], [rows, np.zeros((len(rows), len(rows)))]])
    right = np.concatenate([applied, -twin["gamma"](q, slope @ zd, np.zeros(0))])
    # redundant rows are allowed
    return np.linalg.lstsq(block, right, rcond=1e-13)[0][: len(q)]


def twin_of(mechanism):
    twin = {}
    exec(numpy_module.text(articulated.build(mechanism, OPTIONS)), twin)
    return twin


def difference(mechanism, seed, bent_m=0.0):
    """Largest gap between accelerations of the file's coordinates, relative to the largest one."""
    tree, twin = in_joint_coordinates(mechanism), twin_of(mechanism)
    z, zd = somewhere(tree, seed, bent_m)
    for ball in twin["BALLS"]:
        zd[ball] -= z[ball] * (z[ball] @ zd[ball])
    at = values(tree.made.system, z, zd)
    found = accelerations(tree.chain, tree.loads)
    zdd = np.array([evaluate(found[i], at) for i in range(len(z))])
    ours = twin["natural_slopes"](z)[1] @ zdd + twin["bend"](z, zd)
    exact = exact_accelerations(twin, z, zd)
    return np.max(np.abs(ours - exact)) / max(1.0, np.max(np.abs(exact)))


def composite_difference(mechanism, seed, bent_m=0.0):
    """Largest force that the mass matrix leaves at accelerations of the sweeps, relative to the largest one."""
    tree, closed = in_joint_coordinates(mechanism), closed_tree(mechanism)
    z, zd = somewhere(tree, seed, bent_m)
    at = values(tree.made.system, z, zd)
    found = accelerations(tree.chain, tree.loads)
    zdd = np.array([evaluate(found[i], at) for i in range(len(z))])
    mass = np.zeros((len(z), len(z)))
    for (i, j), e in closed.made.system.mass.items():
        mass[i, j] = mass[j, i] = evaluate(e, at)
    force = np.array([evaluate(closed.made.system.force[i], at) for i in range(len(z))])
    left = mass @ zdd - force
    for link in tree.motion.tree.links:
        if link.kind in ("ball", "free"):  # nothing resists that a quaternion grows
            e = list(link.coordinates[-4:])
            left[e] -= z[e] * (z[e] @ left[e]) / (z[e] @ z[e])
    return np.max(np.abs(left)) / np.max(np.abs(force))


def values(system, z, zd):
    """What expressions are evaluated at: parameters, signals and a state."""
    at = {p.var.name: p.default for p in (*system.parameters, *system.signals)}
    for c, value, rate in zip(system.coordinates, z, zd, strict=True):
        at |= {c.q.name: float(value), c.qd.name: float(rate)}
    return at

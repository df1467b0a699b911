"""Odd trees, written by hand, in each formulation against plain Newton-Euler equations of their bodies."""

import numpy as np
import pytest
from mechanisms.file_equations import Equations, moved
from mechanisms.odd_trees import LOOPS, TREES

from codegen.closed_trees.closed import closed_tree
from codegen.expressions.dag import evaluate
from codegen.tree.mechanism import in_joint_coordinates
from codegen.tree.places import Coordinates, Places
from codegen.tree.recursion import accelerations


def gap(plan, q, qd, ours):
    """Largest difference of accelerations from those of plain bodies, beside the largest one."""
    exact, opened = plan.accelerations(q, qd)
    assert opened < 1e-9
    size = max(1.0, *map(abs, exact.values()))
    return max(abs(ours[name] - value) for name, value in exact.items()) / size


@pytest.mark.parametrize("made", TREES, ids=lambda made: made.__name__)
@pytest.mark.slow
def test_an_odd_tree_accelerates_as_plain_bodies_do(made):
    plan = made()
    mechanism = plan.made.build()
    tree = in_joint_coordinates(mechanism)
    motion = tree.motion
    rng = np.random.default_rng(7)
    z = motion.somewhere(7)
    zd = rng.normal(size=len(z))
    for link in motion.tree.links:
        if link.kind in ("ball", "free"):
            last = list(link.coordinates[-4:])
            zd[last] -= z[last] * (z[last] @ zd[last])
    slopes = motion.jacobian(z)
    q = {c.name: float(motion.natural(z)[c.q]) for c in mechanism.system.coordinates}
    qd = {c.name: float(slopes[c.q] @ zd) for c in mechanism.system.coordinates}
    system = tree.made.system
    at = {p.var.name: p.default for p in (*system.parameters, *system.signals)}
    for c, value, rate in zip(system.coordinates, z, zd, strict=True):
        at |= {c.q.name: float(value), c.qd.name: float(rate)}
    by_bodies = accelerations(tree.chain, tree.loads)
    zdd = np.array([evaluate(by_bodies[i], at) for i in range(len(z))])
    over = Coordinates(motion, tree.chain, Places(tree.chain))
    at |= {f"qdd {i}": float(a) for i, a in enumerate(zdd)}
    ours = {c.name: evaluate(over.of(c.q, 2), at) for c in mechanism.system.coordinates}
    assert gap(plan, q, qd, ours) < 1e-9
    # mass matrix of composite bodies; and the file's own equations, of which large ones take long
    closed = closed_tree(mechanism).made.system
    zdd = Equations(closed).accelerations(z, zd)
    at |= {f"qdd {i}": float(a) for i, a in enumerate(zdd)}
    ours = {c.name: evaluate(over.of(c.q, 2), at) for c in mechanism.system.coordinates}
    assert gap(plan, q, qd, ours) < 1e-8
    if len(plan.bodies) > 3:
        return
    names = [c.name for c in mechanism.system.coordinates]
    values = ([x[n] for n in names] for x in (q, qd))
    natural = Equations(mechanism.system).accelerations(*map(np.array, values))
    assert gap(plan, q, qd, dict(zip(names, natural, strict=True))) < 1e-8


@pytest.mark.parametrize("made", LOOPS, ids=lambda made: made.__name__)
@pytest.mark.slow
def test_an_odd_loop_accelerates_as_plain_bodies_do(made):
    plan = made()
    mechanism = plan.made.build()
    tree = closed_tree(mechanism)
    equations = Equations(tree.made.system)
    z, zd = moved(equations, 3)
    zdd = equations.accelerations(z, zd)
    first = len(tree.motion.tree.coordinates)
    own = {c.q: tree.made.system.coordinates[first + k] for k, c in enumerate(tree.motion.loose)}
    over = Coordinates(tree.motion, tree.chain, Places(tree.chain), own)
    at = equations.at(z, zd) | {f"qdd {i}": float(a) for i, a in enumerate(zdd)}
    q, qd, ours = (
        {c.name: evaluate(over.of(c.q, part), at) for c in mechanism.system.coordinates}
        for part in range(3)
    )
    assert gap(plan, q, qd, ours) < 1e-8

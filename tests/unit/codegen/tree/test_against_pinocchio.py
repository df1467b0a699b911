"""Random trees accelerate as MuJoCo and Pinocchio say, at equal states."""

import sys
from pathlib import Path

import numpy as np
import pytest

from codegen.expressions.dag import evaluate
from codegen.importers.natural import write
from codegen.tree.mechanism import in_joint_coordinates
from codegen.tree.recursion import accelerations

sys.path.insert(0, str(Path(__file__).parents[4] / "benchmarks"))
from peers.tree_cases import DAMPING, chain, random_tree
from peers.tree_models import mujoco_model, mujoco_us, pinocchio_model, pinocchio_us


@pytest.mark.parametrize("tree", [chain(5), random_tree(6)], ids=["chain", "tree"])
@pytest.mark.parametrize("peer", ["mujoco", "pinocchio"])
def test_pins_anywhere_accelerate_as_a_peer_says(tree, peer):
    pytest.importorskip(peer)
    made = in_joint_coordinates(write(tree, "tree", "").build())
    state = np.random.default_rng(4).uniform(-1.0, 1.0, (2, len(tree.links)))
    if peer == "mujoco":
        _, exact = mujoco_us(mujoco_model(tree.links, tree.gravity), 1, state)
    else:
        model = pinocchio_model(tree.links, tree.gravity)
        _, exact = pinocchio_us(model, 1, state, DAMPING)
    system = made.made.system
    at = {p.var.name: p.default for p in (*system.parameters, *system.signals)}
    joints = [int(c.name.removeprefix("j")) for c in system.coordinates]
    for c, k in zip(system.coordinates, joints, strict=True):
        at |= {c.q.name: float(state[0, k]), c.qd.name: float(state[1, k])}
    found = accelerations(made.chain, made.loads)
    gaps = [evaluate(found[i], at) - exact[k] for i, k in enumerate(joints)]
    assert np.max(np.abs(gaps)) < 1e-10 * np.max(np.abs(exact))

"""Imported robots accelerate as MuJoCo says, at equal states."""

from pathlib import Path

import numpy as np
import pytest

from codegen.expressions.dag import evaluate
from codegen.importers.robot_file import import_file
from codegen.tree.mechanism import in_joint_coordinates
from codegen.tree.recursion import accelerations

ROBOTS = Path(__file__).parents[3] / "data" / "robots"


@pytest.mark.parametrize("name", ["chain", "pendulum", "quadruped"])
def test_imported_trees_accelerate_as_in_mujoco(name):
    mujoco = pytest.importorskip("mujoco")
    path = ROBOTS / f"{name}.xml"
    tree = in_joint_coordinates(import_file(path).mechanism)
    model = mujoco.MjModel.from_xml_path(str(path))
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_LIMIT)
    data = mujoco.MjData(model)
    rng = np.random.default_rng(0)
    system = tree.made.system
    by_name = {c.name: c for c in system.coordinates}
    at = {p.var.name: p.default for p in (*system.parameters, *system.signals)}
    for c in system.coordinates:
        at |= {c.q.name: c.initial, c.qd.name: 0.0}
    places = {}
    for j in range(model.njnt):
        if model.jnt_type[j] < int(mujoco.mjtJoint.mjJNT_SLIDE):
            continue  # a base or ball stays as built, at rest
        c, value, rate = (
            by_name[model.joint(j).name.replace(" ", "_")],
            rng.uniform(-0.5, 0.5),
            rng.normal(),
        )
        data.qpos[model.jnt_qposadr[j]], data.qvel[model.jnt_dofadr[j]] = value, rate
        at |= {c.q.name: value, c.qd.name: rate}
        places[c.index] = model.jnt_dofadr[j]
    mujoco.mj_forward(model, data)
    found = accelerations(tree.chain, tree.loads)
    gaps = [abs(evaluate(found[i], at) - data.qacc[k]) for i, k in places.items()]
    assert max(gaps) < 1e-11 * np.max(np.abs(data.qacc))

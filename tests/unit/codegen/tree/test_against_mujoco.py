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


TENDON = """<mujoco><compiler angle="radian"/><worldbody>
<body name="a"><joint name="p" axis="0 1 0" ref="0.2"/>
<geom type="capsule" fromto="0 0 0 0.3 0 0.1" size="0.03"/>
<body name="b" pos="0.3 0 0.1"><joint name="q" axis="1 1 0"/>
<geom type="capsule" fromto="0 0 0 0.2 0 0" size="0.02"/>
<body name="c" pos="0.2 0 0"><joint name="s" type="slide" axis="0 0 1"/>
<geom type="sphere" size="0.04"/></body></body></body>
</worldbody><tendon>
<fixed name="cord" stiffness="30" damping="2" springlength="0.1">
<joint joint="p" coef="0.5"/>
<joint joint="q" coef="-0.3"/><joint joint="s" coef="2"/></fixed>
<fixed name="idle"><joint joint="p" coef="1"/></fixed>
</tendon><actuator>
<motor name="pull" tendon="cord" gear="3"/><position name="hold" tendon="cord" kp="20" kv="0.5"/>
</actuator></mujoco>"""


def test_actuators_on_fixed_tendons_pull_as_in_mujoco(tmp_path):
    mujoco = pytest.importorskip("mujoco")
    path = tmp_path / "cord.xml"
    path.write_text(TENDON)
    imported = import_file(path)
    told = {(item.status, item.kind, item.name) for item in imported.items}
    assert ("left out", "tendon", "idle") in told
    tree = in_joint_coordinates(imported.mechanism)
    model = mujoco.MjModel.from_xml_path(str(path))
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    data, system = mujoco.MjData(model), tree.made.system
    data.qpos[:], data.qvel[:], data.ctrl[:] = (0.4, -0.3, 0.07), (0.5, 1.0, -0.2), (1.5, 0.6)
    mujoco.mj_forward(model, data)
    at = {p.var.name: p.default for p in (*system.parameters, *system.signals)}
    for c in system.coordinates:
        joint = model.joint(c.name)
        at |= {c.q.name: data.qpos[joint.qposadr[0]], c.qd.name: data.qvel[joint.dofadr[0]]}
    # gear x gain x control
    for signal, force in zip(system.signals, (3 * 1.5, 20 * 0.6), strict=True):
        at[signal.var.name] = force
    found = accelerations(tree.chain, tree.loads)
    for c in system.coordinates:
        exact = data.qacc[model.joint(c.name).dofadr[0]]
        assert abs(evaluate(found[c.index], at) - exact) < 1e-11 * np.max(np.abs(data.qacc))

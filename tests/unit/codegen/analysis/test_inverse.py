"""Inverse dynamics of trees: against MuJoCo, back from their own accelerations, and in inertial parameters."""

import ctypes
import subprocess
from pathlib import Path

import numpy as np
import pytest
from mechanisms.odd_trees import floating_crane, joints_in_series, on_the_ground
from mechanisms.random_trees import by_articulated_inertias, moving

from codegen.analysis.inverse import c_sources, inverse_dynamics, numpy_source
from codegen.description.mechanism import MechanismError, load
from codegen.importers.robot_file import import_file
from codegen.tree.mechanism import in_joint_coordinates

ARM = Path(__file__).parents[3] / "data" / "robots" / "desk_arm.xml"


def torques_of(made):
    space = {}
    exec(numpy_source(made, "tree"), space)
    return space["torques"]


def test_an_imported_arm_asks_of_its_drives_what_mujoco_says(tmp_path):
    mujoco = pytest.importorskip("mujoco")
    made = inverse_dynamics(import_file(ARM).mechanism)
    model = mujoco.MjModel.from_xml_path(str(ARM))
    data, rng = mujoco.MjData(model), np.random.default_rng(1)
    data.qpos[:], data.qvel[:], data.qacc[:] = rng.normal(size=(3, 7))
    mujoco.mj_inverse(model, data)
    # the servos' springs and dampers are forces of the file, and actuators in MuJoCo
    servo = np.zeros(7)
    for k in range(model.nu):
        j = model.actuator_trnid[k, 0]
        servo[j] = model.actuator_biasprm[k, 1:3] @ [data.qpos[j], data.qvel[j]]
    exact = data.qfrc_inverse - servo
    names = [model.joint(j).name for j in range(7)]
    place = [next(f.coordinate for f in made.forces if f.name == name) for name in names]
    motion = np.zeros((3, 7))
    motion[:, place] = data.qpos, data.qvel, data.qacc
    found = torques_of(made)(*motion)
    assert np.max(np.abs(found[place] - exact)) < 1e-11 * np.max(np.abs(exact))
    # the same numbers in C
    for name, text in c_sources(made, "arm").items():
        (tmp_path / name).write_text(text)
    strict = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared", "-lm"]
    out = tmp_path / "arm.so"
    subprocess.run(["gcc", str(tmp_path / "arm.c"), *strict, "-o", str(out)], check=True)
    tau = np.zeros(7)
    pointers = [np.ascontiguousarray(v) for v in (*motion, made.p, tau)]
    call = ctypes.CDLL(str(out)).arm_torques
    call(*(ctypes.c_void_p(v.ctypes.data) for v in pointers))
    np.testing.assert_allclose(pointers[-1], found, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(made.at(*motion), found, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("plan", [on_the_ground, floating_crane, joints_in_series])
@pytest.mark.slow
def test_a_tree_that_moves_by_itself_asks_for_nothing_and_its_forces_are_linear_in_p(plan):
    mechanism = plan().made.build()
    tree, made = in_joint_coordinates(mechanism), inverse_dynamics(mechanism)
    z, zd = moving(tree, 5)
    zdd = by_articulated_inertias(tree, z, zd)
    torques = torques_of(made)
    size = max(1.0, np.max(np.abs(torques(z, zd, 0.0 * z))))
    assert np.max(np.abs(torques(z, zd, zdd))) < 1e-10 * size
    none, whole = torques(z, zd, zdd + 1.0, 0.0 * made.p), torques(z, zd, zdd + 1.0)
    parts = [torques(z, zd, zdd + 1.0, unit) - none for unit in np.eye(len(made.p))]
    np.testing.assert_allclose(np.array(parts).T @ made.p + none, whole, atol=1e-10 * size)


def test_a_loop_has_no_inverse_dynamics_and_says_so_by_its_cut():
    with pytest.raises(MechanismError, match="closes a loop"):
        inverse_dynamics(load("slider_crank"))

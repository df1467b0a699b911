"""Imported robots move as MuJoCo moves them: open chains exactly, loops as its softness vanishes."""

import csv
import math

import numpy as np
import pytest

from codegen.importers import closures, compiled
from codegen.importers.robot_file import import_file
from codegen.importers.tree import Tree
from codegen.pose.assembly import Rows


def exact_model(mujoco, path):
    """The robot in MuJoCo, with steps whose own error is below 1e-10."""
    model = mujoco.MjModel.from_xml_path(str(path))
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
    model.opt.timestep = 1e-4
    return model


@pytest.mark.parametrize(
    ("robot", "freedoms", "limit"), [("pendulum.xml", 5, 5e-6), ("chain.xml", 14, 3e-5)]
)
@pytest.mark.slow
def test_an_open_chain_moves_as_in_mujoco(
    mujoco, robots, ours, theirs, gap, robot, freedoms, limit
):
    imported = import_file(robots / robot)
    model = exact_model(mujoco, robots / robot)
    assert model.nv == freedoms
    found = theirs(model, 0.25)
    coarse, fine = (gap(ours(imported, h, 0.25), found) for h in (1e-3, 2.5e-4))
    # second order in our step
    assert 12.0 < coarse / fine < 20.0
    assert fine < limit


@pytest.mark.slow
def test_a_spatial_pendulum_agrees_over_a_second(mujoco, robots, ours, theirs, gap):
    imported = import_file(robots / "pendulum.xml")
    model = exact_model(mujoco, robots / "pendulum.xml")
    assert gap(ours(imported, 2.5e-4, 1.0), theirs(model, 1.0)) < 1e-5


@pytest.mark.slow
def test_a_quadruped_falls_as_in_mujoco(mujoco, robots, ours, theirs, gap):
    imported = import_file(robots / "quadruped.xml")
    model = exact_model(mujoco, robots / "quadruped.xml")
    # springs of the knees are stiff for its light shins: 1.3e-5 rad after 0.1 s
    assert gap(ours(imported, 5e-4, 0.1), theirs(model, 0.1)) < 3e-5


@pytest.mark.slow
def test_a_loop_of_connect_is_the_exact_four_bar(mujoco, robots, twin):
    imported = import_file(robots / "four_bar.xml")
    system = imported.mechanism.system
    q = np.array([c.initial for c in system.coordinates])
    jac = Rows(system).phi_q(q)
    # one freedom: the rate of the crank, 1 m/s at its tip to the right, gives all others
    motion = np.linalg.svd(jac)[2][-1]
    qd = motion * (-1.0 / motion[system.scalars["theta"].index])
    reference = robots.parent / "references" / "four_bar_1.csv"
    with reference.open() as file:
        head, *rows = csv.reader(file)
    exact = dict(zip(head, np.array(rows, dtype=float).T, strict=True))
    errors = []
    for step_s in (2e-3, 1e-3):
        stepper = twin(imported, step_s).Kernel()
        stepper.reset(qd=qd)
        error, steps = 0.0, 0
        for k in range(1, np.searchsorted(exact["t"], 2.0) + 1):
            while steps * step_s < exact["t"][k] - step_s / 2:
                stepper.step()
                steps += 1
            error = max(error, abs(stepper.outputs["theta/angle_rad"] - exact["theta"][k]))
        errors.append(error)
    assert 1.9 < math.log2(errors[0] / errors[1]) < 2.7
    assert errors[1] < 4e-4  # of some 9 rad in 2 s


@pytest.mark.parametrize("robot", ["loops.xml", "arm.urdf"])
@pytest.mark.slow
def test_loops_and_couplings_are_the_limit_of_mujocos(mujoco, robots, ours, theirs, gap, robot):
    path = robots / robot
    imported = import_file(path)
    outputs = ours(imported, 2.5e-4, 0.3)
    spec = mujoco.MjSpec.from_file(str(path))
    wanted = closures.carried_equalities(mujoco, spec.copy().compile())
    pose = compiled.Compiled(spec, Tree(), wanted)
    model = pose.model
    gaps = []
    for timestep in (4e-5, 1e-5):
        model.opt.timestep = timestep
        model.opt.integrator = mujoco.mjtIntegrator.mjINT_IMPLICIT
        model.opt.tolerance, model.opt.iterations = 1e-12, 200
        # as stiff as the step allows
        model.eq_solref[:] = [20.0 * timestep, 1.0]
        model.eq_solimp[:] = [0.9999, 0.9999, 1e-3, 0.5, 2.0]
        gaps.append(gap(outputs, theirs(model, 0.3, pose.data.qpos)))
    # its softness and its step are of first order: the rest goes with them
    assert gaps[1] < gaps[0] / 3.0
    assert gaps[1] < 5e-5


@pytest.mark.slow
def test_a_servo_is_spring_damper_and_input(mujoco, robots, ours, theirs, gap, tmp_path):
    text = (robots / "loops.xml").read_text()
    cut = text[: text.index("  <equality>")] + text[text.index("  <actuator>") :]
    path = tmp_path / "servo.xml"
    path.write_text(cut)
    imported = import_file(path)
    # 2 (gear) x 3 (kp) x 0.5 rad
    outputs = ours(imported, 2.5e-4, 0.5, [3.0])
    model = mujoco.MjModel.from_xml_path(str(path))
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
    model.opt.timestep = 1e-4
    assert gap(outputs, theirs(model, 0.5, ctrl=[0.5])) < 1e-5


BALL = """<mujoco><worldbody><body name="arm" pos="0 0 1"><joint name="shoulder" type="hinge" axis="0 1 0"/>
<geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.03" mass="1"/>
<body name="hand" pos="0.3 0 0" euler="0 30 0"><joint name="wrist" type="ball" stiffness="2" damping="0.05"/>
<inertial pos="0.05 0.1 -0.08" mass="0.4" diaginertia="0.004 0.003 0.002"/></body></body></worldbody></mujoco>"""


@pytest.mark.slow
def test_a_ball_has_its_spring_and_its_damper(mujoco, ours, theirs, gap, tmp_path):
    path = tmp_path / "ball.xml"
    path.write_text(BALL)
    found = theirs(exact_model(mujoco, path), 0.5)
    imported = import_file(path)
    coarse, fine = (gap(ours(imported, h, 0.5), found) for h in (1e-3, 2.5e-4))
    # second order in our step
    assert 12.0 < coarse / fine < 20.0
    assert fine < 1e-5


def test_what_is_lumped_keeps_mass_centre_and_inertia(mujoco, robots):
    imported = import_file(robots / "loops.xml")
    text = imported.builder.text()
    table = text[text.index("[rigid_body.crank_a]") :]
    assert "mass_kg = 0.7" in table.split("\n\n")[0]


def test_a_pose_that_does_not_close_is_closed_and_told(mujoco, robots):
    imported = import_file(robots / "loops.xml")
    moved = {i.name: i.words for i in imported.items if "so that the loops close" in i.words}
    assert set(moved) == {"a", "b", "hinge", "float"}
    assert moved["hinge"].startswith("moved from 0 to 0.05")
    assert not imported.mechanism.system.mistakes


def test_an_imported_mechanism_is_headed_by_its_tree(mujoco, robots):
    head = import_file(robots / "chain.xml").builder.text().splitlines()
    assert head[0] == "# chain: from chain.xml (MJCF)"
    assert "# |   +-- hinge pivot about y --o pole  (0.3 kg)" in head
    assert all(line.startswith("#") and line.isascii() for line in head[: head.index("")])

"""At a singular pose a reaction is marked exactly where the lost constraint reaches it."""

import math

import numpy as np
import pytest

from tests.unit.codegen.formulations.test_near import PEAK_NM, START, parallelogram, torque

OTHER = 0.4  # start of the second crank


def beside(start=START):
    """A guided parallelogram, and apart from it a guided rod of 1 m and 1 kg on a hinge."""
    made = parallelogram(start)
    tip = np.array([math.cos(OTHER), math.sin(OTHER), 0.0])
    made.point("T", position_m=tip, moves="xy").angle("arm", initial_rad=OTHER)
    made.constant_distance("arm", points=[(0, 0, 0), "T"])
    made.uniform_rod("arm", points=[(0, 0, 0), "T"], mass_kg=1.0)
    made.rotation("arm", angle="arm", axis=(0, 0, 1), zero=(1, 0, 0), point="T", centre_m=(0, 0, 0))
    made.guide("arm", coordinate="arm").output("arm_nm", "guide.arm.reaction")
    made.output("crank_open", "guide.crank.reaction.undetermined")
    return made.output("arm_open", "guide.arm.reaction.undetermined")


def arm_torque(angle, acceleration):
    return acceleration / 3 + 9.81 / 2 * math.cos(angle)


def both(t):
    """The crank comes to rest flat within 0.2 s; the arm swings on."""
    left = max(0.0, 1.0 - 5.0 * t)
    crank = (math.pi - 4e-3 * left**3, 0.06 * left**2, -0.6 * left)
    arm = (OTHER + 0.3 * math.sin(9 * t), 2.7 * math.cos(9 * t), -24.3 * math.sin(9 * t))
    return crank, arm


def test_a_torque_beside_a_singular_pose_stays_right(kernel, tmp_path):
    stepper = kernel(beside().save(tmp_path)).Kernel()
    crank, arm = both(0.0)
    assert stepper.reset(*crank, *arm) == 0
    seen = []
    for k in range(1, 401):
        crank, arm = both(k * 1e-3)
        assert stepper.step(*crank, *arm) == 0
        shown = stepper.outputs
        assert shown["arm_nm"] == pytest.approx(arm_torque(arm[0], arm[2]), abs=1e-3 * PEAK_NM)
        assert shown["arm_open"] == 0.0
        assert shown["crank_open"] == stepper.undetermined
        seen.append(stepper.undetermined)
        if seen[-1] == 0:
            assert shown["torque_nm"] == pytest.approx(torque(*crank), abs=1e-3 * PEAK_NM)
        assert math.isnan(shown["torque_nm"]) == (seen[-1] > 2)
    # the crank rests in the flat pose to the end
    assert seen[-1] > 150


def test_joint_forces_are_marked_one_by_one(kernel, tmp_path):
    made = beside()
    # the pull along a rod of the parallelogram, and that along the arm
    made.output("rod_n", "constant_distance.coupler.force_n")
    made.output("hung_n", "constant_distance.arm.force_n")
    made.output("rod_open", "constant_distance.coupler.force_n.undetermined")
    made.output("hung_open", "constant_distance.arm.force_n.undetermined")
    stepper = kernel(made.save(tmp_path)).Kernel()
    crank, arm = both(0.0)
    assert stepper.reset(*crank, *arm) == 0
    for k in range(1, 301):
        crank, arm = both(k * 1e-3)
        assert stepper.step(*crank, *arm) == 0
        shown = stepper.outputs
        # of its mass a third swings with the tip, and half of its weight hangs there
        assert shown["hung_open"] == 0.0
        assert math.isfinite(shown["hung_n"])
    assert shown["rod_open"] > 100
    assert math.isnan(shown["rod_n"])
    exact = arm[1] ** 2 / 3 - 9.81 / 2 * math.sin(arm[0])
    assert abs(shown["hung_n"]) == pytest.approx(abs(exact), abs=1e-3)

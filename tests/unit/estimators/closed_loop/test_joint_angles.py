"""Observers of an imported arm in the coordinates of its joints: motion and a hand's torque, beside the true ones."""

import numpy as np
import pytest

import rigloop
from tests.parts.mechanisms.free_arm import HAND, JOINTS, write_free_arm

pytestmark = pytest.mark.slow

STEPS, STEP_S, STD_RAD = 1500, 1e-3, 1e-5
LIFT = "input/force/lift_servo/torque_nm"


@pytest.fixture(scope="module")
def arm(tmp_path_factory):
    return write_free_arm(tmp_path_factory.mktemp("arm"))


@pytest.fixture(scope="module")
def true(arm):
    """The motion of the arm under a hand and a servo that lifts, stepped four times as finely as it is observed."""
    model = rigloop.mechanism(arm, formulation="articulated", step_s=STEP_S, substeps=4)
    t = STEP_S * np.arange(1, STEPS + 1)
    hand, lift = 1.5 * np.sin(2 * np.pi * 0.8 * t), 40.0 * np.sin(2 * np.pi * 0.5 * t)
    return hand, lift, model.run({f"input/{HAND}": hand, LIFT: lift})


@pytest.mark.parametrize(
    ("method", "transition", "torque_nm"),
    [
        ("errorEKF", "exact", 0.15),
        # forward Euler does not step servos of 20 Hz at 1 ms: the exact step of the slopes
        ("DEKF", "discrete", 0.15),
        ("UKF", "discrete", 0.15),
    ],
)
def test_encoders_tell_the_joints_motion_and_the_hand_s_torque(
    arm, true, method, transition, torque_nm
):
    hand, lift, motion = true
    observer = rigloop.observer(
        arm,
        {name: {"kind": "encoder", "angle": name, "std": STD_RAD} for name in JOINTS},
        independent=JOINTS, unknown=(HAND,), method=method, transition=transition,
        acceleration_noise=[1e-6] * 7, start_std=[1e-4] * 7 + [1e-2] * 7 + [1.0],
        input_noise={HAND: 20.0}, step_s=STEP_S, formulation="articulated",
    )  # fmt: skip
    rng = np.random.default_rng(1)
    samples = {
        name: motion[f"{name}/angle_rad"] + rng.normal(0.0, STD_RAD, STEPS) for name in JOINTS
    }
    found = observer.run({**samples, LIFT: lift})
    assert not found["status"].any()
    settled = slice(200, None)

    def rms(values):
        return float(np.sqrt(np.mean(values[settled] ** 2)))

    # a walk of 20 Nm2/s follows 1.5 Nm at 0.8 Hz within a tenth; without an estimate the error were 1.06
    assert rms(found[HAND] - hand) < torque_nm
    for name in JOINTS:
        # better than a sample, whose noise it averages; rates where differences of samples have 14 mrad/s
        assert rms(found[f"{name}_rad"] - motion[f"{name}/angle_rad"]) < STD_RAD
        assert rms(found[f"{name}_rate_rad_s"] - motion[f"{name}/rate_rad_s"]) < 0.015
    # seven samples a cycle: the filter knows its own error
    assert np.mean(found["nis"][settled]) == pytest.approx(7.0, rel=0.15)

"""Observers of an imported arm in the coordinates of its joints: motion and a hand's torque, beside the true ones."""

import numpy as np
import pytest
from mechanisms.free_arm import HAND, JOINTS, write_free_arm

import rigloop

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
    ("method", "transition", "angle_rad", "rate_rad_s"),
    [
        # better than a sample, whose noise it averages; rates where differences of samples have 14 mrad/s
        ("errorEKF", "exact", STD_RAD, 0.015),
        # servos of 20 Hz want the exact step of the slopes; these filters see inputs of the cycle before: half a step
        # of 125 Nm/s beside 400 Nm/rad
        ("DEKF", "discrete", 2e-4, 0.1),
        ("UKF", "discrete", 2e-4, 0.1),
    ],
)
def test_encoders_tell_the_joints_motion_and_the_hand_s_torque(
    arm, true, method, transition, angle_rad, rate_rad_s
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
    assert rms(found[HAND] - hand) < 0.15
    for name in JOINTS:
        assert rms(found[f"{name}_rad"] - motion[f"{name}/angle_rad"]) < angle_rad
        assert rms(found[f"{name}_rate_rad_s"] - motion[f"{name}/rate_rad_s"]) < rate_rad_s
    if method == "errorEKF":  # seven samples a cycle: the filter knows its own error
        assert np.mean(found["nis"][settled]) == pytest.approx(7.0, rel=0.15)

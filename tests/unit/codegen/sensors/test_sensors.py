import math
from pathlib import Path

import numpy as np
import pytest

from codegen.description.mechanism import MechanismError, load
from codegen.kernels.build import build_kernel
from codegen.observers.build import build_observer
from codegen.observers.spec import ObserverSpec
from codegen.options.options import KernelOptions
from codegen.sensors import read, registry

ROOT = Path(__file__).parents[4]
SENSORS = {
    "angle": {"kind": "encoder", "angle": "crank"},
    "rate": {"kind": "gyroscope", "points": ["A", "B"]},
    "felt": {"kind": "accelerometer", "point": "B", "axis": [0, 1, 0]},
    "tension": {"kind": "force_cell", "of": "constant_distance.coupler.force_n"},
}
STEP_S = 1e-4


@pytest.fixture(scope="module")
def motion():
    """Readings of all sensors along the free motion, and what the kernel itself says."""
    spec = ObserverSpec(SENSORS, ("crank",))
    observer = build_observer("four_bar", spec, KernelOptions(step_s=5e-3))
    options = KernelOptions(step_s=STEP_S, formulation="independent")
    kernel = build_kernel("four_bar", options).module.Kernel()
    kernel.reset()
    q, x = [], []
    for _ in range(3000):
        kernel.step()
        q.append(kernel.q)
        x.append([kernel.q[4], kernel.qd[4]])
    readings = np.array(observer.module.Model().readings(x))
    return np.array(q), readings, kernel


@pytest.mark.slow
def test_an_encoder_shows_the_angle(motion):
    q, readings, _ = motion
    assert readings[:, 0] == pytest.approx(q[:, 4], abs=1e-12)


def test_a_gyroscope_shows_the_turning_rate_of_the_line(motion):
    q, readings, _ = motion
    angle = np.unwrap(np.arctan2(q[:, 3] - q[:, 1], q[:, 2] - q[:, 0]))
    # second-order differences of a motion with third derivatives of some 100 rad/s^3
    assert readings[1:-1, 1] == pytest.approx((angle[2:] - angle[:-2]) / (2 * STEP_S), abs=1e-5)


def test_an_accelerometer_feels_acceleration_less_gravity(motion):
    q, readings, _ = motion
    y = q[:, 3]
    felt = (y[2:] - 2 * y[1:-1] + y[:-2]) / STEP_S**2 + 10.0
    assert readings[1:-1, 2] == pytest.approx(felt, abs=1e-4)


def test_a_force_cell_shows_the_reaction_of_its_joint(motion):
    _, readings, kernel = motion
    assert readings[-1, 3] == pytest.approx(kernel.lam[1], rel=1e-9)


def test_a_relative_encoder_shows_the_difference_of_two_angles():
    mechanism = load("five_bar")
    sensor = read(mechanism, {"rel": {"kind": "encoder", "angle": "right", "relative_to": "left"}})[
        0
    ]
    assert mechanism.system.initial(sensor.reading) == pytest.approx(math.pi)
    assert sensor.unit == "rad"


def test_a_mechanism_stays_free_of_the_mistakes_of_its_sensors():
    mechanism = load("five_bar")
    with pytest.raises(MechanismError):
        read(mechanism, {"x": {"kind": "encoder", "angle": "nowhere"}})
    assert mechanism.system.mistakes == []
    assert read(mechanism, {"x": {"kind": "encoder", "angle": "left"}})


def test_every_sensor_has_a_line_in_the_docs():
    text = (ROOT / "docs" / "models" / "observers.md").read_text()
    for kind in registry():
        assert f"`{kind}`" in text

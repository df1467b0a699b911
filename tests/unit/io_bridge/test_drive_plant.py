"""The plant against an independent integration of the same equations, written down anew here."""

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from io_bridge.drive_config import DrivePlant
from io_bridge.drive_device import DriveDevice
from io_bridge.segment import Segment
from io_bridge.simulated_bus import SimulatedBus


def target(p, t):
    """Hands' trajectory and its first two derivatives, by complex step and by differences of it."""

    def angle(t):
        x = t / p.start_s
        ramp = x**3 * (10 - 15 * x + 6 * x**2) if x.real < 1 else 1.0
        return p.offset_rad + p.amplitude_rad * ramp * np.sin(2 * np.pi * p.frequency_hz * t)

    rate = angle(t + 1e-20j).imag / 1e-20
    h = 1e-4
    acceleration = (angle(t + h + 1e-20j).imag - angle(t - h + 1e-20j).imag) / (2 * h * 1e-20)
    return angle(t), rate, acceleration


def friction(p, rate):
    return p.viscous_nms * rate + p.coulomb_nm * rate / math.hypot(rate, p.coulomb_rad_s)


def reference(p, t_end, motor=lambda t: 0.0):
    def derivative(t, y):
        hands, hands_rate, _ = target(p, t)
        torque = motor(t) - friction(p, y[1])
        if p.hands == "spring":
            torque += p.hands_stiffness_nm_rad * (hands - y[0])
            torque += p.hands_damping_nms * (hands_rate - y[1])
        return [y[1], torque / p.inertia_kg_m2]

    # never step over a corner of the torque
    done = solve_ivp(
        derivative, (0, t_end), [p.offset_rad, 0.0], rtol=1e-10, atol=1e-12, max_step=0.5e-3
    )
    return done.y[:, -1]


def advance(plant, t_end, step_ns=1_000_000):
    device = DriveDevice(plant)
    segment = Segment([device])
    for t_ns in range(step_ns, round(t_end * 1e9) + 1, step_ns):
        segment.advance(t_ns)
    return device


SPRING = DrivePlant(amplitude_rad=0.8, frequency_hz=1.5, offset_rad=0.3, start_s=0.4)


def test_hands_as_a_spring_move_the_wheel_as_the_equations_say():
    device = advance(SPRING, 1.0)
    angle, rate = reference(SPRING, 1.0)
    # second order with 50 us: about h^2 times the third derivatives, 1e-6 here
    assert device.angle_rad == pytest.approx(angle, abs=2e-6)
    assert device.rate_rad_s == pytest.approx(rate, abs=2e-5)
    hands, hands_rate, _ = target(SPRING, 1.0)
    expected = 20.0 * (hands - angle) + 1.0 * (hands_rate - rate)
    assert device.sensor_torque_nm == pytest.approx(expected, abs=1e-4)


def test_halving_the_substep_quarters_the_error():
    exact = reference(SPRING, 0.7)[0]
    coarse, fine = (advance(SPRING, 0.7, step).angle_rad - exact for step in (50_000, 25_000))
    assert coarse / fine == pytest.approx(4.0, rel=0.15)


def test_prescribed_hands_are_followed_exactly_and_feel_the_reaction():
    plant = DrivePlant(hands="prescribed", amplitude_rad=0.5, frequency_hz=0.8, start_s=0.2)
    for t in (0.1, 0.9):
        device = advance(plant, t)
        angle, rate, acceleration = target(plant, t)
        assert device.angle_rad == pytest.approx(angle, abs=1e-12)
        assert device.rate_rad_s == pytest.approx(rate, abs=1e-11)
        # the acceleration of the reference is a finite difference of step 1e-4
        expected = plant.inertia_kg_m2 * acceleration + friction(plant, rate)
        assert device.sensor_torque_nm == pytest.approx(expected, abs=1e-5)


def test_a_wheel_nobody_holds_stays_at_rest():
    device = advance(DrivePlant(hands="free", offset_rad=1.0), 0.5)
    assert device.angle_rad == 1.0
    assert device.sensor_torque_nm == 0.0


@pytest.mark.parametrize("stiffness", [1e3, 1e6])
def test_stiff_hands_stay_bounded(stiffness):
    plant = DrivePlant(hands_stiffness_nm_rad=stiffness, hands_damping_nms=stiffness / 100)
    device = advance(plant, 1.3)
    assert device.angle_rad == pytest.approx(target(plant, 1.3)[0], abs=5.0 / stiffness)


def test_a_long_gap_is_bounded_work_and_a_finite_state():
    device = DriveDevice(DrivePlant())
    Segment([device]).advance(10**15)
    assert abs(device.angle_rad) < 2.0


def test_the_current_loop_lags_and_saturates(cells):
    plant = DrivePlant(hands="free", coulomb_nm=0.0, viscous_nms=0.0, peak_torque_nm=8.0)
    bus = SimulatedBus([plant])
    table = cells(bus.block())
    bus.to_op()
    table["drive/enable"] = 1
    for k in range(10):
        bus.block().step(k * 1_000_000)
    assert table["drive/operational"] == 1
    start = bus.devices[0].rate_rad_s
    table["drive/torque_nm"] = 100.0
    bus.block().step(10 * 1_000_000)
    assert bus.devices[0].motor_torque_nm == 0.0
    bus.block().step(11 * 1_000_000)
    # 8 Nm in whole per mille of the rated torque, one time constant being half a cycle
    wanted = math.floor(8.0 / 6.37 * 1000) * 6.37 / 1000
    assert bus.devices[0].wanted_torque_nm == pytest.approx(wanted, rel=1e-12)
    assert bus.devices[0].motor_torque_nm == pytest.approx(wanted * (1 - math.exp(-2.0)), rel=1e-9)
    # momentum of the lagged torque: T (h - tau (1 - exp(-h / tau))); the midpoint rule's error is
    # (h/tau)^2/12 of a part
    momentum = wanted * (1e-3 - 0.5e-3 * (1 - math.exp(-2.0)))
    assert plant.inertia_kg_m2 * (bus.devices[0].rate_rad_s - start) == pytest.approx(
        momentum, rel=2e-3
    )

"""The plant against an independent integration of the same equations, written down anew here."""

import dataclasses
import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from io_bridge.buses.simulated_bus import SimulatedBus
from io_bridge.emulator.drive.device import DriveDevice
from io_bridge.emulator.segment import Segment
from io_bridge.slaves.drive_config import DrivePlant


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


def torque_on_wheel(p, t, angle, rate):
    """All but the motor's."""
    if p.hands != "spring":
        return -friction(p, rate)
    hands, hands_rate, _ = target(p, t)
    pull = p.hands_stiffness_nm_rad * (hands - angle) + p.hands_damping_nms * (hands_rate - rate)
    return pull - friction(p, rate)


def reference(p, begin, end, state, wanted=0.0):
    """Angle, rate and motor torque at `end`, from those at `begin` and a constant input of the current loop."""

    def derivative(t, y):
        torque = y[2] + torque_on_wheel(p, t, y[0], y[1])
        return [y[1], torque / p.inertia_kg_m2, (wanted - y[2]) / p.torque_lag_s]

    # dry friction turns round within a fraction of a millisecond: no step may pass over it
    done = solve_ivp(
        derivative, (begin, end), state, method="DOP853", rtol=1e-11, atol=1e-13, max_step=0.5e-3
    )
    return done.y[:, -1]


def advance(plant, t_end, step_ns=1_000_000):
    device = DriveDevice(plant)
    segment = Segment([device])
    for t_ns in range(step_ns, round(t_end * 1e9) + 1, step_ns):
        segment.advance(t_ns)
    return device


SPRING = DrivePlant(amplitude_rad=0.8, frequency_hz=1.5, offset_rad=0.3, start_s=0.4)


# half a count of a 20-bit encoder is 3e-6 rad; the plant is to be far below it
ANGLE_RAD, RATE_RAD_S = 2e-7, 5e-6


@pytest.mark.slow
@pytest.mark.parametrize("period_ns", [125_000, 1_000_000, 10_000_000])
@pytest.mark.parametrize("start_s", [0.02, 0.4])
def test_hands_as_a_spring_move_the_wheel_as_the_equations_say(start_s, period_ns):
    plant = dataclasses.replace(SPRING, start_s=start_s)
    device = advance(plant, 1.0, period_ns)
    angle, rate, _ = reference(plant, 0.0, 1.0, [plant.offset_rad, 0.0, 0.0])
    assert device.angle_rad == pytest.approx(angle, abs=ANGLE_RAD)
    assert device.rate_rad_s == pytest.approx(rate, abs=RATE_RAD_S)
    hands, hands_rate, _ = target(plant, 1.0)
    expected = 20.0 * (hands - angle) + 1.0 * (hands_rate - rate)
    assert device.sensor_torque_nm == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("peak_nm", [0.3, 12.0])
@pytest.mark.parametrize("hands", ["spring", "free"])
def test_torque_that_turns_the_wheel_round_moves_it_as_the_equations_say(cells, hands, peak_nm):
    plant = dataclasses.replace(SPRING, hands=hands)
    bus = SimulatedBus([plant])
    table = cells(bus.block())
    bus.to_op()
    device = bus.devices[0]
    table["drive/enable"] = 1
    worst = [0.0, 0.0]
    state = None
    for k in range(300):
        # 80 reversals a second, each with a motor that lags and a wheel that may stand still
        table["drive/torque_nm"] = peak_nm * math.copysign(1.0, math.sin(0.25 * k + 1.0))
        before, wanted = 1e-9 * bus.segment.now_ns, device.wanted_torque_nm
        bus.block().step(k * 1_000_000)
        if state is not None:
            state = reference(plant, before, 1e-9 * bus.segment.now_ns, state, wanted)
            worst[0] = max(worst[0], abs(device.angle_rad - state[0]))
            worst[1] = max(worst[1], abs(device.rate_rad_s - state[1]))
            assert device.motor_torque_nm == pytest.approx(state[2], abs=1e-8)
        else:
            state = [device.angle_rad, device.rate_rad_s, device.motor_torque_nm]
    assert device.wanted_torque_nm != 0.0
    assert worst[0] < ANGLE_RAD
    assert worst[1] < RATE_RAD_S


def test_halving_the_step_takes_fifteen_sixteenths_of_the_error():
    # without dry friction, whose corner is no place for an order
    plant = dataclasses.replace(SPRING, coulomb_nm=0.0, hands_stiffness_nm_rad=500.0)
    exact = reference(plant, 0.0, 0.7, [plant.offset_rad, 0.0, 0.0])[0]
    coarse, fine = (advance(plant, 0.7, step).angle_rad - exact for step in (1_000_000, 500_000))
    assert abs(coarse) > 1e-10
    assert coarse / fine == pytest.approx(16.0, rel=0.2)


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
    # momentum of the lagged torque: T (h - tau (1 - exp(-h / tau)))
    momentum = wanted * (1e-3 - 0.5e-3 * (1 - math.exp(-2.0)))
    assert plant.inertia_kg_m2 * (bus.devices[0].rate_rad_s - start) == pytest.approx(
        momentum, rel=1e-9
    )

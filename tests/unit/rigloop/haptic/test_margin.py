"""The margin beside stability found another way: loops stepped sample by sample, and continuous limits by hand."""

from types import SimpleNamespace

import numpy as np
import pytest

from estimators.encoder.gains import steady_gains
from estimators.encoder.response import lag_s
from rigloop.haptic.loop import HapticLoop, Wheel, exponential, impedance, torque_path, transition
from rigloop.haptic.margin import margin
from rigloop.haptic.path import HapticPath

FREE = Wheel(0.06, 0.05, 0.0005)


def path(every=5, age=1, fast_s=2e-4):
    return HapticPath(
        "bus",
        "wheel",
        "wheel",
        "model",
        "guard",
        "fast",
        "slow",
        fast_s,
        every,
        (0, 1, 2),
        "t",
        age,
        age,
    )


def impedance_model(
    stiffness, damping, inertia, *, every=5, age=1, fast_s=2e-4, delay_s=0.0, lag_s=5e-4
):
    """A model without memory: torque = -(K angle + B rate + M acceleration)."""
    gain = steady_gains(fast_s, 310.4)
    d = np.array([[stiffness, damping, inertia]])
    none = np.zeros((0, 0)), np.zeros((0, 3)), np.zeros((1, 0))
    return HapticLoop(path(every, age, fast_s), gain, *none, d, -1.0, delay_s, lag_s)


def stepped(loop, wheel, gain, seconds=2.0):
    """The same loop by brute force: 20 Euler-Cromer steps a fast cycle, queues for every delay; growth of the swing."""
    te, every = loop.path.fast_s, loop.path.every
    t_f = np.array([[1, te, te**2 / 2], [0, 1, te], [0, 0, 1]])
    angle, rate, motor = 1e-3, 0.0, 0.0
    x, y, visible = np.zeros(3), 0.0, 0.0
    fine = 20
    delay = round(loop.delay_s / te * fine)
    queue = [0.0] * (delay + 1)
    command = 0.0
    seen = []
    for k in range(round(seconds / te)):
        frame = command  # of the guard's last cycle
        old = x.copy()
        x = t_f @ x
        x = x + loop.filter_gain * (angle - x[0])
        if k % every == 0:
            y = float(loop.d[0] @ (old if loop.path.age_in else x))
        if loop.path.age_out == 0 or k % every:
            visible = y
        command = loop.factor * gain * visible
        for _ in range(fine):
            queue.append(frame)
            wanted = queue[-1 - delay]
            h = te / fine
            motor += (wanted - motor) * (1 - np.exp(-h / wheel.torque_lag_s))
            push = (
                motor
                - (wheel.viscous_nms + wheel.damping_nms) * rate
                - wheel.stiffness_nm_rad * angle
            )
            rate += h * push / wheel.inertia_kg_m2
            angle += h * rate
        del queue[: -delay - 1]
        seen.append(rate)
        if abs(rate) > 1e6:
            return np.inf
    seen = np.abs(seen)
    third = len(seen) // 3
    return np.log(seen[2 * third :].max() / seen[third : 2 * third].max())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("loop", "wheel"),
    [
        (impedance_model(60.0, 0.2, 0.0), FREE),
        (impedance_model(5.0, 0.1, 0.045), FREE),
        (impedance_model(60.0, 0.2, 0.0, delay_s=0.00137), FREE),
        (impedance_model(200.0, 1.0, 0.0, age=0), Wheel(0.03, 0.3, 0.001, 10.0, 0.2)),
        (impedance_model(5.0, 0.1, 0.045, every=10, fast_s=1e-4), FREE),
    ],
)  # fmt: skip
def test_the_limit_parts_loops_that_die_out_from_those_that_grow(loop, wheel):
    limit = margin(loop, wheel).gain
    assert 0.01 < limit < 1000
    assert stepped(loop, wheel, 0.9 * limit) < 0.0 < stepped(loop, wheel, 1.1 * limit)


@pytest.mark.slow
def test_a_spring_alone_needs_the_damping_of_the_classical_rule():
    # b > K (Ts/2 + delay), on a wheel so heavy that the limit lies far below all other time constants
    b, k_limit = 0.5, []
    for every in (1, 5, 20):
        loop = impedance_model(10.0, 0.0, 0.0, every=every, age=0, lag_s=1e-9)
        wheel = Wheel(3.0, b, 1e-9)
        found = margin(loop, wheel)
        k_limit.append(found.gain)
        # held over Ts: half a period late on average; a cycle to the frame; the filter's angle leads by some 20 us
        lead = lag_s(loop.filter_gain, 2e-4, np.array([found.frequency_hz]))[0, 0]
        rule = b / (every * 2e-4 / 2 + 2e-4 + lead) / 10.0
        assert k_limit[-1] == pytest.approx(rule, rel=0.03)
    assert k_limit[0] > k_limit[1] > k_limit[2]


def test_the_eigenvalues_agree_with_the_nyquist_curve_at_the_limit():
    loop = impedance_model(5.0, 0.1, 0.045)
    found = margin(loop, FREE)
    hz = np.array([found.frequency_hz])
    s = 2j * np.pi * hz
    # the wheel, its motor and the hold of the fast task, as the frame finds them: by the sampled transfer function
    te = loop.path.fast_s
    moved, pushed = FREE.over(te)
    z = np.exp(s * te)[0]
    plant = np.linalg.solve(z * np.eye(3) - moved, pushed)[0]
    # the guard's torque is a cycle old when the frame takes it
    open_loop = found.gain * impedance(loop, hz)[0] * plant / z
    assert abs(open_loop - 1.0) < 0.02


def test_inertia_that_is_rendered_late_limits_the_gain_below_that_of_the_wheel():
    found = margin(impedance_model(0.0, 0.0, 0.03), FREE)
    assert found.gain * 0.03 < 2.0 * FREE.inertia_kg_m2
    lighter = margin(impedance_model(0.0, 0.0, 0.03), Wheel(0.03, 0.05, 0.0005))
    assert lighter.gain < found.gain


def test_a_wrong_sign_runs_away_without_swinging():
    loop = impedance_model(-5.0, 0.0, 0.0)
    found = margin(loop, FREE)
    assert found.runs_away
    assert not margin(impedance_model(5.0, 0.1, 0.0), FREE).runs_away


def test_further_delay_that_the_loop_bears_is_where_it_begins_to_sing():
    loop = impedance_model(20.0, 0.1, 0.0)
    found = margin(loop, FREE)
    assert 0.0 < found.delay_s < 0.1

    def growth(extra):
        values = np.abs(np.linalg.eigvals(transition(loop, FREE, extra_s=extra)))
        return np.max(values[np.abs(values - 1.0) > 1e-9])

    assert growth(0.95 * found.delay_s) < 1.0 < growth(1.05 * found.delay_s)


@pytest.mark.slow
def test_the_torque_path_is_the_lag_and_two_cycles():
    loop = SimpleNamespace(path=path(), torque_lag_s=5e-4, delay_s=3e-4)
    hz = np.array([1.0, 10.0, 30.0])
    # by hand: a sine of torque, one value a cycle, held a cycle later, through the dead time and the lag
    for f, found in zip(hz, torque_path(loop, hz), strict=True):
        te, fine = 2e-4, 400
        n = round(2.0 / te)
        g = np.sin(2 * np.pi * f * te * np.arange(n))
        sent = np.repeat(np.concatenate([[0.0], g[:-1]]), fine)
        late = np.concatenate([np.zeros(round(3e-4 / te * fine)), sent])[: len(sent)]
        left = np.exp(-te / fine / 5e-4)
        torque, shown = 0.0, np.zeros(n)
        for k in range(n):
            shown[k] = torque
            part = late[k * fine : (k + 1) * fine]
            powers = left ** np.arange(fine - 1, -1, -1)
            torque = torque * left**fine + (1 - left) * float(powers @ part)
        half = slice(n // 2, n)
        turn = np.exp(-2j * np.pi * f * te * np.arange(n))[half]
        assert found == pytest.approx(np.sum(shown[half] * turn) / np.sum(g[half] * turn), rel=1e-3)


def test_the_exponential_of_a_matrix_is_its_limit_of_small_steps():
    rng = np.random.default_rng(2)
    for size in (1e-6, 1.0, 30.0):
        m = rng.normal(size=(4, 4)) * size
        values, vectors = np.linalg.eig(m)
        exact = (vectors @ np.diag(np.exp(values)) @ np.linalg.inv(vectors)).real
        assert np.allclose(exponential(m), exact, rtol=1e-8, atol=1e-10 * np.abs(exact).max())
    assert np.array_equal(exponential(np.zeros((3, 3))), np.eye(3))


@pytest.mark.parametrize(("every", "age"), [(5, 1), (5, 0), (1, 1), (2, 0)])
def test_a_long_dead_time_is_a_state_for_each_period_of_the_model(every, age):
    loop = impedance_model(10.0, 0.1, 0.002, every=every, age=age)
    short, long = (len(transition(loop, FREE, extra_s=extra)) for extra in (0.0, 0.1))
    assert long - short == pytest.approx(0.1 / loop.slow_s, abs=1)

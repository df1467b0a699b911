"""The 26-coordinate steering model against the printed tables of the method (T4, T5, T7, T12) and
inverse dynamics.
"""

import math

import numpy as np
import pytest

STEP_S = 1e-3
PAPER = {
    "integrator": "trapezoidal", "alpha": 1e9, "iterations": 10, "tolerance": 1e-6,
    "reaction": "paper",
}  # fmt: skip

# wheel deg -> pinion deg, rack mm, left and right knuckle deg
KINEMATICS = {
    90: (90.4282, 11.0479, -4.8106, -4.9357),
    180: (180.0, 21.9911, -9.4999, -10.0114),
    450: (450.4282, 55.0302, -23.5554, -27.7001),
    -90: (-89.5718, -10.9433, 4.8882, 4.7655),
    -450: (-449.5718, -54.9256, 27.6339, 23.5106),
}
# t -> wheel rad, torque Nm, rack m, knuckles rad, patch deflections rad
TORQUE = {
    0.25: (0.48540, 2.99290, 0.003504, -0.026824, -0.027042, 0.020199, 0.020319),
    0.50: (0.92329, 4.21864, 0.006606, -0.050407, -0.051182, 0.031130, 0.031402),
    1.00: (1.49392, 4.96249, 0.010527, -0.080035, -0.082016, 0.039440, 0.039830),
    1.50: (1.49392, 3.83817, 0.010527, -0.080035, -0.082016, 0.032754, 0.032821),
    2.00: (0.92329, -0.95205, 0.006606, -0.050407, -0.051182, -0.003641, -0.004663),
    2.50: (0.00000, -4.68430, 0.000000, 0.0, 0.0, -0.032496, -0.033129),
    3.75: (-1.57080, -5.67891, -0.010943, 0.085315, 0.083173, -0.046229, -0.046193),
    5.00: (0.00000, 4.49806, 0.000000, 0.0, 0.0, 0.031734, 0.030984),
}


def swing(t, hz=0.2, size=math.pi / 2):
    rate = 2.0 * math.pi * hz
    s, c = math.sin(rate * t), math.cos(rate * t)
    return size * s, size * rate * c, -size * rate * rate * s


def test_has_26_coordinates_and_25_constraints_beside_the_guide(twin):
    module = twin("steering_26")
    info = module.model_info()
    assert (info["n_q"], info["n_phi"] - len(info["guides"])) == (26, 25)
    q = np.array(module.Q_0) + 0.1
    without_guide = np.delete(module.phi_q(q), module.GUIDES[0][0], axis=0)
    assert np.count_nonzero(without_guide) == 79


def test_rank_is_25_over_the_whole_wheel_range(twin):
    module = twin("steering_26")
    stepper = module.Kernel()
    q = None
    for degrees in [*range(0, 451, 15), *range(435, -451, -15)]:
        stepper.reset(math.radians(degrees), 0.0, 0.0, q=q, parts=4)
        q = stepper.q
        jac = np.delete(module.phi_q(q), module.GUIDES[0][0], axis=0)
        singular = np.linalg.svd(jac, compute_uv=False)
        assert np.linalg.matrix_rank(jac) == 25
        assert singular[-1] > 0.01


@pytest.mark.parametrize("degrees", KINEMATICS)
def test_assembles_at_any_wheel_angle_as_the_kinematic_table_says(kernel, degrees):
    stepper = kernel("steering_26").Kernel()
    assert stepper.reset(math.radians(degrees), 0.0, 0.0) == 0
    out = stepper.outputs
    got = (
        math.degrees(out["pinion/angle_rad"]),
        1e3 * out["rack/travel_m"],
        math.degrees(out["knuckle_left/angle_rad"]),
        math.degrees(out["knuckle_right/angle_rad"]),
    )
    assert got == pytest.approx(KINEMATICS[degrees], abs=1e-4)
    assert stepper.residual < 1e-12


@pytest.mark.slow
def test_guided_torque_matches_the_printed_table(kernel):
    stepper = kernel("steering_26", **PAPER).Kernel()
    assert stepper.reset(*swing(0.0)) == 0
    ports = (
        "wheel/angle_rad", "guide/torque_nm", "rack/travel_m", "knuckle_left/angle_rad",
        "knuckle_right/angle_rad", "tyre_left/deflection_rad", "tyre_right/deflection_rad",
    )  # fmt: skip
    most = 0
    for k in range(1, 5001):
        assert stepper.step(*swing(k * STEP_S)) == 0
        most = max(most, stepper.iterations)
        expected = TORQUE.get(k * STEP_S)
        if expected:
            out = stepper.outputs
            got = [out[port] for port in ports]
            assert got[1] == pytest.approx(expected[1], abs=1e-4)
            # the table prints five or six decimals
            assert got == pytest.approx(expected, abs=1e-4)
            assert got[2:] == pytest.approx(expected[2:], abs=1e-6)
    assert most <= 2


@pytest.mark.slow
def test_paper_reaction_is_the_exact_torque_for_the_trapezoidal_rule(kernel, twin, exact_reaction):
    error = torque_error(
        kernel("steering_26", **PAPER), twin("steering_26"), exact_reaction, hz=0.2
    )
    assert error < 1e-5  # printed: 8e-7 Nm rms


def test_consistent_reaction_is_exact_to_the_penalty(kernel, twin, exact_reaction):
    # kappa 1e6 leaves about 1e-7 of the peak torque, 42.5 Nm at 4 Hz
    error = torque_error(kernel("steering_26"), twin("steering_26"), exact_reaction, hz=4.0)
    assert error < 2e-7 * 42.5


def torque_error(module, reference, exact_reaction, hz, seconds=0.3):
    stepper = module.Kernel()
    assert stepper.reset(*swing(0.0, hz)) == 0
    worst = 0.0
    for k in range(1, round(seconds / STEP_S) + 1):
        guide = swing(k * STEP_S, hz)
        assert stepper.step(*guide) == 0
        if k % 10 == 0:
            exact = exact_reaction(reference, stepper.q, guide, stepper.internal)
            worst = max(worst, abs(stepper.reaction[0] - exact[0]))
    return worst


@pytest.mark.slow
def test_kernel_and_numpy_twin_give_the_same_1000_steps(kernel, twin):
    fast, slow = kernel("steering_26").Kernel(), twin("steering_26").Kernel()
    fast.reset(*swing(0.0, 1.0))
    slow.reset(*swing(0.0, 1.0), parts=1)
    for k in range(1, 1001):
        guide = swing(k * STEP_S, 1.0)
        assert fast.step(*guide) == 0
        slow.step(*guide)
        assert np.max(np.abs(np.array(fast.q) - slow.q)) < 1e-10
        assert np.max(np.abs(np.array(fast.qd) - slow.qd)) < 1e-8
        assert fast.reaction[0] == pytest.approx(slow.reaction[0], abs=1e-5)


def test_bore_torque_winds_up_and_reverses_as_printed(twin):
    module = twin("steering_26")
    rate_index = [name for name, _ in module.model_info()["coordinates"]].index("knuckle_left")
    par = np.array([value for _, value in module.PARAMETERS])
    q, qd, psi = np.array(module.Q_0), np.zeros(26), np.zeros(2)
    printed = {100: -12.144, 500: -37.918, 1500: -56.806, 1600: -33.080, 3000: 53.789}
    for k in range(1, 3001):
        qd[rate_index] = 0.1 if k <= 1500 else -0.1
        psi, held = module.hold(q, qd, psi, par, [])
        torque = module.force(q, qd, held, par, [])[rate_index]
        assert abs(torque) <= 0.05 * 1200.0 + 1e-9
        if k in printed:
            assert torque == pytest.approx(printed[k], abs=1e-3)


@pytest.mark.parametrize(
    ("speed_m_s", "torque_nm"), [(0, -60.0), (1, -7.120), (5, -1.485), (20, -0.374)]
)
def test_bore_torque_decays_with_rolling_speed(twin, speed_m_s, torque_nm):
    module = twin("steering_26")
    index = [name for name, _ in module.model_info()["coordinates"]].index("knuckle_left")
    paths = [path for path, _ in module.PARAMETERS]
    par = np.array([value for _, value in module.PARAMETERS])
    rolling = par[paths.index("bore_torque/left/rolling_radius_m")]
    par[paths.index("bore_torque/left/spin_rad_s")] = speed_m_s / rolling
    q, qd, psi = np.array(module.Q_0), np.zeros(26), np.zeros(2)
    qd[index] = 0.1
    for _ in range(20000):
        psi, held = module.hold(q, qd, psi, par, [])
    assert module.force(q, qd, held, par, [])[index] == pytest.approx(torque_nm, abs=1e-3)

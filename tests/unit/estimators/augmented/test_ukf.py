"""A-UKF against Kalman's equations, its own errors and a plain twin; and the driveline against its physics."""

import numpy as np
import pytest

from estimators.augmented.driveline_model import DrivelineModel
from estimators.augmented.settings import UnscentedSettings
from estimators.augmented.ukf import AugmentedUkf
from estimators.numerics.chi_square import mean_bounds

T = 5e-4
U = np.array([400.0, 0.0])
MOTOR = {
    "stator_ohm": 1.405,
    "rotor_ohm": 1.395,
    "stator_h": 0.178,
    "rotor_h": 0.178,
    "mutual_h": 0.1722,
    "pole_pairs": 2,
    "supply_hz": 50.0,
    "motor_kg_m2": 0.0131,
    "load_kg_m2": 0.02,
    "stiffness_nm_rad": 2940.0,  # first torsional resonance at 97 Hz
    "damping_nms": 0.3,
    "bend_rad": np.radians(20),
}
START = [1.0, 1, 1, 1, 0.01, 1, 0.01, 1, 5]
WALK = [0.3, 0.3, 0.3, 0.3, 1e-5, 0.05, 1e-5, 0.05, 1.5]
SAMPLES = [1.0, 1.0, 4.4e-4, 0.3, 0.05, 0.05]


def make(model, period_s=T, **changes):
    settings = {
        "start": np.zeros(9),
        "start_noise": START,
        "process_noise": WALK,
        "sample_noise": SAMPLES,
    }
    return AugmentedUkf("ukf", model, UnscentedSettings(period_s=period_s, **settings | changes))


def plant(load, seconds, seed=0):
    """States and noisy samples of the driveline, the load given over time."""
    model, rng = DrivelineModel(**MOTOR), np.random.default_rng(seed)
    x, states, samples = np.zeros(9), [], []
    for k in range(round(seconds / T)):
        x[8] = load(k * T)
        states.append(x.copy())
        samples.append(model.measure(x, U))
        x = model.move(x, U, T, 10)
    return np.array(states), np.array(samples) + np.array(SAMPLES) * rng.normal(
        size=(len(samples), 6)
    )


def twin(model, y, cycles):
    """The filter as it stands in the books, with a symmetric square root in place of Cholesky's."""
    n, x, cov = 9, np.zeros(9), np.diag(np.square(START))
    q, r = np.diag(np.square(WALK)), np.diag(np.square(SAMPLES))
    for k in range(1, cycles):
        root = np.linalg.cholesky(n * cov)
        points = np.vstack((x + root.T, x - root.T))
        points = np.array([model.move(np.ascontiguousarray(p), U, T) for p in points])
        x = points.mean(axis=0)
        cov = q + (points - x).T @ (points - x) / (2 * n)
        root = np.linalg.cholesky(n * cov)
        points = np.vstack((x + root.T, x - root.T))
        h = np.array([model.measure(np.ascontiguousarray(p), U) for p in points])
        mean = h.mean(axis=0)
        pyy = r + (h - mean).T @ (h - mean) / (2 * n)
        pxy = (points - x).T @ (h - mean) / (2 * n)
        gain = pxy @ np.linalg.inv(pyy)
        x, cov = x + gain @ (y[k] - mean), cov - gain @ pyy @ gain.T
    return x, cov


def test_filter_agrees_with_a_plain_twin():
    model = DrivelineModel(**MOTOR)
    _, y = plant(lambda t: 20.0, 0.06)
    block = make(model)
    found = block.run(np.tile(U, (len(y), 1)), y)
    x, cov = twin(model, y, len(y))
    scale = np.sqrt(np.diag(cov))
    # 120 steps, two orders of summation, against the scatter of the estimate
    assert np.abs((found[-1, :9] - x) / scale).max() < 1e-5
    assert np.abs((block.covariance - cov) / np.outer(scale, scale)).max() < 1e-5


def test_points_carry_the_covariance_exactly():
    # nothing moves in no time, and nothing is measured: P stays, but for the walk
    block = make(DrivelineModel(**MOTOR), period_s=1e-15)
    block.run(np.tile(U, (2, 1)), np.full((2, 6), np.nan))
    expected = np.diag(np.square(START) + np.square(WALK))
    np.testing.assert_allclose(block.covariance, expected, rtol=1e-10, atol=1e-9)


def test_linear_samples_correct_as_the_kalman_filter_does():
    # nothing moves in no time, and currents, angle and speed are states themselves: Kalman's equations are exact
    block = make(DrivelineModel(**MOTOR), period_s=1e-15)
    y = np.array([0.7, -1.1, 0.004, 0.6, np.nan, np.nan])
    found = block.run(np.tile(U, (2, 1)), np.vstack((np.full(6, np.nan), y)))
    prior = np.diag(np.square(START) + np.square(WALK))
    h = np.eye(9)[[0, 1, 4, 5]]
    innovation = h @ prior @ h.T + np.diag(np.square(SAMPLES[:4]))
    gain = prior @ h.T @ np.linalg.inv(innovation)
    np.testing.assert_allclose(found[-1, :9], gain @ y[:4], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(block.covariance, prior - gain @ h @ prior, rtol=1e-9, atol=1e-9)
    squared = y[:4] @ np.linalg.inv(innovation) @ y[:4]
    assert found[-1, 9] == pytest.approx(squared, rel=1e-9)


def matched(model, cycles, rng, start, walk, noise):
    """States that move as the filter believes, from a start as it believes, and their samples."""
    x, states, samples = start + rng.normal(size=9) * walk, [], []
    for _ in range(cycles):
        states.append(x)
        samples.append(model.measure(x, U) + rng.normal(size=6) * noise)
        x = model.move(x, U, T) + rng.normal(size=9) * walk
    return np.array(states), np.array(samples)


@pytest.mark.slow
def test_filter_knows_its_own_error():
    model, rng, runs, cycles = DrivelineModel(**MOTOR), np.random.default_rng(11), 250, 100
    turning = np.zeros(9)
    turning[8] = 20.0
    for _ in range(1000):
        turning = model.move(turning, U, 2 * T, 20)
    # currents good enough that their product, the motor's torque, is straight within the error
    walk = np.array([0.03, 0.03, 0.03, 0.03, 1e-5, 0.05, 1e-5, 0.05, 1.5])
    noise = np.array([0.1, 0.1, 4.4e-4, 0.3, 5.0, 5.0])
    inputs, squared, nis = np.tile(U, (cycles, 1)), [], []
    for _ in range(runs):
        states, y = matched(model, cycles, rng, turning, walk, noise)
        block = make(model, start=turning, start_noise=walk, process_noise=walk, sample_noise=noise)
        found = block.run(inputs, y)
        error = found[-1, :9] - states[-1]
        squared.append(error @ np.linalg.solve(block.covariance, error))
        nis.append(found[-1, 9])
    low, high = mean_bounds(0.95, 9, runs)
    assert low < np.mean(squared) < high
    low, high = mean_bounds(0.95, 6, runs)
    assert low < np.mean(nis) < high


@pytest.mark.parametrize("hz", [5.0, 40.0, 97.0, 150.0])
def test_load_torque_is_tracked_below_at_and_above_the_resonance(hz):
    states, y = plant(lambda t: 25 + 2.5 * np.sin(2 * np.pi * hz * t) * (t > 0.6), 1.4)
    # the filter's motor is not quite the plant's
    model = DrivelineModel(**(MOTOR | {"rotor_ohm": 1.05 * 1.395, "damping_nms": 0.33}))
    block = make(model)
    found = block.run(np.tile(U, (len(y), 1)), y)
    settled = slice(1600, None)
    error = found[settled, 8] - states[settled, 8]
    # 4 % of the nominal torque: one step of the encoder on the shaft's stiffness is 1.3 N m
    assert np.sqrt(np.mean(error**2)) < 1.1
    t = T * np.arange(len(y))[settled]
    wave = np.exp(-2j * np.pi * hz * t)
    share = np.sum(found[settled, 8] * wave) / np.sum(states[settled, 8] * wave)
    assert abs(share - 1) < 0.15
    assert np.linalg.eigvalsh(block.covariance).min() > 0


def test_missing_samples_are_left_out_one_by_one():
    _, y = plant(lambda t: 20.0, 0.2)
    y[100:140, 4:] = np.nan
    y[200:205] = np.nan
    found = make(DrivelineModel(**MOTOR)).run(np.tile(U, (len(y), 1)), y)
    assert np.isfinite(found).all()
    assert not found[200:205, 9].any()


def test_an_estimate_that_overflowed_starts_over():
    model = DrivelineModel(**MOTOR)
    _, y = plant(lambda t: 5.0, 0.3)
    broken = y.copy()
    broken[300] = 1.7e308
    inputs = np.tile(U, (len(y), 1))
    good, found = (make(model).run(inputs, samples) for samples in (y, broken))
    assert np.isfinite(found[301:]).all()
    # 0.15 s later the load is found again, within three times what it walks in a cycle
    np.testing.assert_allclose(found[-1, 8], good[-1, 8], atol=3 * WALK[8])


def test_cardan_ratio_is_the_derivative_of_the_shaft_angle():
    model = DrivelineModel(**(MOTOR | {"bend_rad": np.radians(30)}))
    assert model.ratio(np.radians(45)) == pytest.approx(0.98974, abs=5e-6)
    for theta in np.linspace(-20, 20, 41):
        h = 1e-6
        slope = (model.shaft_angle(theta + h) - model.shaft_angle(theta - h)) / (2 * h)
        assert model.ratio(theta) == pytest.approx(slope, abs=1e-8)


def test_power_that_goes_in_heats_stores_or_turns():
    model, rng = DrivelineModel(**MOTOR), np.random.default_rng(5)
    for _ in range(20):
        x = rng.normal(size=9) * [10, 10, 10, 10, 3, 100, 3, 100, 20]
        u = 300 * rng.normal(size=2)
        xd = model.derivative(x, u)
        stator, rotor, ds, dr = x[:2], x[2:4], xd[:2], xd[2:4]
        heat = MOTOR["stator_ohm"] * stator @ stator + MOTOR["rotor_ohm"] * rotor @ rotor
        stored = (
            MOTOR["stator_h"] * stator @ ds + MOTOR["rotor_h"] * rotor @ dr
            + MOTOR["mutual_h"] * (stator @ dr + rotor @ ds)
        )  # fmt: skip
        torque = MOTOR["pole_pairs"] * MOTOR["mutual_h"] * (x[0] * x[3] - x[1] * x[2])
        assert u @ stator == pytest.approx(heat + stored + torque * x[5], rel=1e-9)
        # and on the shaft: what leaves the motor is stored in the spring, lost, or drives the load
        ratio = [model.ratio(x[4]), model.ratio(x[6])]
        twist = model.shaft_angle(x[4]) - model.shaft_angle(x[6])
        slip = ratio[0] * x[5] - ratio[1] * x[7]
        motor = (torque - MOTOR["motor_kg_m2"] * xd[5]) * x[5]
        load = (MOTOR["load_kg_m2"] * xd[7] + x[8]) * x[7]
        shaft = MOTOR["stiffness_nm_rad"] * twist * slip + MOTOR["damping_nms"] * slip**2
        assert motor - load == pytest.approx(shaft, rel=1e-7, abs=1e-6)


def test_mistakes_are_told_together():
    with pytest.raises(ValueError, match="start: 9 numbers") as caught:
        make(DrivelineModel(**MOTOR), start=[0.0], process_noise=[0.0] * 9)
    assert "process_noise" in str(caught.value)
    with pytest.raises(ValueError, match="mutual_h"):
        DrivelineModel(**(MOTOR | {"mutual_h": 0.2}))

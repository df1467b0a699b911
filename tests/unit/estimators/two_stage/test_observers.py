"""Kinematic, force and augmented observers against textbook filters in NumPy, on a rotor."""

import numpy as np
import pytest

from estimators.augmented.ekf import AugmentedEkf
from estimators.augmented.settings import AugmentedSettings
from estimators.two_stage.force_observer import ForceObserver
from estimators.two_stage.kinematic_observer import KinematicObserver
from estimators.two_stage.rotor_model import RotorModel
from estimators.two_stage.stages import ForceSettings, KinematicSettings
from rigloop.bench.two_stage.slider_crank import SliderCrank
from rt_core.block import Block

T, N = 1e-3, 400
MOTION = {f"{part}_0": part for part in ("z", "zd", "zdd")}
CRANK = (0.120, 0.250, 0.75, 1.56, 1.2)


def kinematic(model, **changes):
    config = {"period_s": T, "position_noise": 1e-3, "acceleration_noise": 0.5, "held_noise": 2.0}
    return KinematicObserver(
        "k", model, KinematicSettings(**config | changes), reads={"position_0": "a"}
    )


def scalar_update(x, cov, h, innovation, r):
    s = h @ cov @ h + r
    gain = cov @ h / s
    keep = np.eye(len(x)) - np.outer(gain, h)
    return x + gain * innovation, keep @ cov @ keep.T + r * np.outer(gain, gain)


def samples(seed=0):
    rng = np.random.default_rng(seed)
    t = T * np.arange(N)
    return 0.4 * np.sin(9 * t) + 1e-3 * rng.normal(size=N), -32.4 * np.sin(9 * t) + rng.normal(
        size=N
    )


def test_kinematic_observer_of_a_rotor_is_a_linear_kalman_filter():
    position, u = samples()
    found = kinematic(RotorModel(0.03)).run(position[:, None], u[:, None])
    # trapezoidal rule between the last acceleration, which is a state, and the one of this cycle
    f = np.array([[1, T, T * T / 2], [0, 1, T / 2], [0, 0, 0]])
    b = np.array([0, T / 2, 1.0])
    h = np.array([1.0, 0, 0])
    x = np.array([position[0], 0, 0])
    cov = np.diag([1e-6, 2 * (1e-3 / T) ** 2, 6 * (1e-3 / T**2) ** 2])
    for k in range(1, N):
        x, cov = f @ x + b * u[k], f @ cov @ f.T + 0.25 * np.outer(b, b)
        x, cov = scalar_update(x, cov, h, position[k] - x[0], 1e-6)
        np.testing.assert_allclose(found[k, :3], x, rtol=1e-8, atol=1e-8)


def test_jacobian_of_the_slider_crank_is_the_one_of_the_formula():
    # one prediction from a known state, compared with the covariance of the analytic Jacobian
    crank = SliderCrank(*CRANK)
    block = kinematic(crank)
    position, u = samples()
    position = 1.1 + position
    found = block.run(position[:, None], u[:, None])
    x = np.array([position[0], 0.0, 0.0])
    cov = np.diag([1e-6, 2 * (1e-3 / T) ** 2, 6 * (1e-3 / T**2) ** 2])
    for k in range(1, 50):
        far = np.array([[1, T, T * T / 2], [0, 1, T]])
        th, thd = far @ x
        s, sd, *_ = crank.place(th)
        d = 1e-5
        sdd = (crank.place(th + d)[1] - crank.place(th - d)[1]) / (2 * d)
        a = (u[k] - sd * thd**2) / s
        slope = np.array([-sdd * thd**2 / s - a * sd / s, -2 * sd * thd / s]) @ far
        b = np.array([0, T / 2, 1.0])
        f = np.array([[1, T, T * T / 2], [0, 1, T / 2], [0, 0, 0]]) + np.outer(b, slope)
        x = np.array([th, x[1] + T / 2 * (x[2] + a), a])
        cov = f @ cov @ f.T + 0.25 / s**2 * np.outer(b, b)
        x, cov = scalar_update(x, cov, np.array([1.0, 0, 0]), position[k] - x[0], 1e-6)
    # two numerical differentiations
    np.testing.assert_allclose(found[49, :3], x, rtol=1e-5)


@pytest.mark.parametrize("form", ["A", "B"])
def test_force_observer_is_the_linear_filter_of_its_form(form):
    position, _ = samples()
    rng = np.random.default_rng(2)
    motion = np.c_[position, rng.normal(size=N), 10 * rng.normal(size=N)]
    known = rng.normal(size=N)
    j, d = 0.03, 0.1
    block = ForceObserver(
        "f",
        RotorModel(j, viscous_nms=d),
        ForceSettings(form=form, known_noise=0.1, balance_noise=0.05, walk_noise=0.3),
        reads=MOTION,
    )
    found = block.run(motion, known[:, None])
    x, cov = np.zeros(2), np.eye(2) * 1e6 * (0.01 + 0.0025 + 0.09)
    h = np.array([1.0, 0.0])
    for k in range(N):
        tau = j * motion[k, 2] + d * motion[k, 1]
        # the other force walks, then the balance of this cycle gives the first one
        if form == "A":
            f, x = np.array([[0, -1], [0, 1.0]]), np.array([tau - x[1], x[1]])
            walk, balance = np.diag([0, 0.09]), np.diag([0.0025, 0])
        else:
            f, x = np.array([[1.0, 0], [-1, 0]]), np.array([x[0], tau - x[0]])
            walk, balance = np.diag([0.09, 0]), np.diag([0, 0.0025])
        cov = f @ (cov + walk) @ f.T + balance
        x, cov = scalar_update(x, cov, h, known[k] - x[0], 0.01)
        # the wide start: variances of 1e5 beside 1e-3
        np.testing.assert_allclose(found[k, :2], x, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("form", ["A", "B"])
def test_a_force_is_found_in_the_cycle_in_which_it_acts(form):
    # exact motion, forces that walk freely: what is not measured follows from the balance, without a cycle of delay
    t = T * np.arange(N)
    unknown, known = 3 * np.sign(np.sin(40 * t + 0.1)), np.cos(70 * t)
    motion = np.c_[np.zeros((N, 2)), (known + unknown) / 0.03]
    block = ForceObserver(
        "f",
        RotorModel(0.03),
        ForceSettings(form=form, known_noise=1e-4, balance_noise=1e-4, walk_noise=100.0),
        reads=MOTION,
    )
    found = block.run(motion, known[:, None])
    np.testing.assert_allclose(found[1:, 1], unknown[1:], rtol=0, atol=1e-6)


def test_the_motion_is_of_the_cycle_of_its_samples():
    # without noise, a quickly swinging wheel: rate and acceleration lag by less than a hundredth of a cycle
    t = T * np.arange(N)
    w, block = 60.0, kinematic(RotorModel(0.03), acceleration_noise=1e-3)
    found = block.run(0.4 * np.sin(w * t)[:, None], -0.4 * w * w * np.sin(w * t)[:, None])
    for column, true in ((1, w * np.cos(w * t)), (2, -w * w * np.sin(w * t))):
        error = found[200:, column] - 0.4 * true[200:]
        slope = np.gradient(0.4 * true, T)[200:]
        lag_s = -(error @ slope) / (slope @ slope)
        assert abs(lag_s) < 0.01 * T


def test_form_b_walks_at_random_where_the_force_has_no_lever(step_of):
    crank = SliderCrank(*CRANK)
    block = ForceObserver(
        "f",
        crank,
        ForceSettings(
            form="B", known_noise=0.1, balance_noise=0.1, walk_noise=0.1, least_pivot=0.03
        ),
        reads=MOTION,
        writes={"guarded": "g"},
    )
    motion = np.zeros((50, 3))  # at the dead centre, at rest
    found = block.run(motion, np.zeros((50, 1)))
    assert np.isfinite(found).all()
    cell = np.zeros(1)
    cells = np.zeros(3)
    block.bind([cells.ctypes.data + 8 * i for i in range(3)], [cell.ctypes.data])
    step_of(block)()
    assert cell[0] == 51


def test_augmented_ekf_of_a_rotor_is_a_linear_kalman_filter():
    position, u = samples()
    rng = np.random.default_rng(4)
    known = rng.normal(size=N)
    j = 0.03
    block = AugmentedEkf(
        "s",
        RotorModel(j),
        AugmentedSettings(
            period_s=T,
            position_noise=1e-3,
            acceleration_noise=0.8,
            disturbance=0.2,
            walk_noise=0.05,
        ),
        reads={"position_0": "a"},
    )
    found = block.run(position[:, None], u[:, None], known[:, None])
    b = np.array([T * T / 2, T, 0])
    f = np.array([[1, T, 0], [0, 1, 0], [0, 0, 1.0]]) + np.outer(b, [0, 0, 1 / j])
    q = 0.04 * np.outer(b, b) + np.diag([0, 0, 0.0025])
    x = np.array([position[0], 0, 0])
    cov = np.diag([1e-6, 2 * (1e-3 / T) ** 2, 1e4 * 0.0025])
    for k in range(1, N):
        x, cov = f @ x + b * known[k - 1] / j, f @ cov @ f.T + q
        x, cov = scalar_update(x, cov, np.array([1.0, 0, 0]), position[k] - x[0], 1e-6)
        innovation = u[k] - (known[k] + x[2]) / j
        x, cov = scalar_update(x, cov, np.array([0, 0, 1 / j]), innovation, 0.64)
        np.testing.assert_allclose(found[k, [0, 1, 3]], x, rtol=1e-6, atol=1e-6)
        assert found[k, 2] == pytest.approx((known[k] + x[2]) / j, rel=1e-6, abs=1e-5)


def test_missing_samples_are_predicted_over():
    position, u = samples()
    gaps = position.copy()
    gaps[100:130] = np.nan
    u_gap = u.copy()
    u_gap[200] = np.nan
    found = kinematic(RotorModel(0.03)).run(gaps[:, None], u_gap[:, None])
    assert np.isfinite(found).all()
    whole = kinematic(RotorModel(0.03)).run(position[:, None], u[:, None])
    assert np.abs(found[130:, 0] - whole[130:, 0]).max() < 0.01
    assert not found[100:130, 3].any()  # no nis without a sample


@pytest.mark.parametrize("observer", ["kinematic", "augmented", "force"])
def test_an_estimate_that_overflowed_starts_over(observer):
    position, u = samples()
    broken, huge = position.copy(), 1.7e308
    broken[N // 2] = huge
    rotor, none = RotorModel(0.03), np.zeros((N, 1))
    if observer == "kinematic":
        block = kinematic(rotor)
        found, good = (block.run(y[:, None], u[:, None]) for y in (broken, position))
    elif observer == "augmented":
        block = AugmentedEkf(
            "e",
            rotor,
            AugmentedSettings(
                period_s=T,
                position_noise=1e-3,
                acceleration_noise=0.5,
                disturbance=0.5,
                walk_noise=0.3,
            ),
            reads={"position_0": "a"},
        )
        found, good = (block.run(y[:, None], u[:, None], none) for y in (broken, position))
    else:
        block = ForceObserver(
            "f",
            rotor,
            ForceSettings(form="A", known_noise=0.1, balance_noise=0.05, walk_noise=0.3),
            reads=MOTION,
        )
        motion = np.c_[position, np.zeros(N), u]
        overflowing = motion.copy()
        overflowing[N // 2, 2] = huge
        found, good = (block.run(m, none) for m in (overflowing, motion))
    # a hundred cycles after: what was before is forgotten
    assert np.isfinite(found[-1]).all()
    np.testing.assert_allclose(found[-1, 0], good[-1, 0], atol=5e-3)


def test_step_through_the_capsule_does_what_run_does(step_of):
    position, u = samples()
    block = KinematicObserver(
        "k",
        RotorModel(0.03),
        KinematicSettings(period_s=T, position_noise=1e-3, acceleration_noise=0.5, held_noise=2.0),
        reads={"position_0": "a", "acceleration_0": "b"},
        writes={"z_0": "c", "zdd_0": "d"},
    )
    assert isinstance(block, Block)
    cells = np.zeros(4)
    address = [cells.ctypes.data + 8 * i for i in range(4)]
    block.bind(address[:2], address[2:])
    expected = kinematic(RotorModel(0.03)).run(position[:, None], u[:, None])
    for k in range(50):
        cells[:2] = position[k], u[k]
        assert step_of(block)() == 0
        assert cells[2] == expected[k, 0]
        assert cells[3] == expected[k, 2]


def test_all_mistakes_of_settings_are_in_one_message_and_those_with_the_model_in_another():
    noise = {"position_noise": 1.0, "acceleration_noise": 1.0}
    with pytest.raises(ValueError, match="period_s = -1") as caught:
        KinematicSettings(period_s=-1.0, held_noise=0.0, gate_sigma=-1.0, **noise)
    assert "held_noise = 0" in str(caught.value)
    assert "gate_sigma = -1" in str(caught.value)
    with pytest.raises(ValueError, match="form = 'C'"):
        ForceSettings(form="C", known_noise=1.0, balance_noise=1.0, walk_noise=1.0)
    wrong = KinematicSettings(period_s=T, **noise | {"position_noise": 0.0})
    with pytest.raises(ValueError, match="no such read port speed") as caught:
        KinematicObserver("k", RotorModel(1.0), wrong, reads={"speed": "x", "position_0": "y"})
    assert "position_noise = 0" in str(caught.value)
    with pytest.raises(ValueError, match="inertia_kg_m2 = 0"):
        RotorModel(0.0)

"""The history that explains everything best, beside another optimiser and beside a filter."""

import math
import sys

import numpy as np
import pytest
from scipy.optimize import approx_fprime, least_squares

from codegen.observers.build import build_observer
from codegen.observers.spec import ObserverSpec
from codegen.options.options import KernelOptions
from estimators.closed_loop.batch_smoother import Motion, process_covariance, smooth
from estimators.closed_loop.catalogue import observer_class
from estimators.closed_loop.settings import ObserverSettings

pytest.importorskip("gtsam")
STEP_S, DEG = 5e-3, math.pi / 180.0
SPEC = ObserverSpec(
    {
        "angle": {"kind": "encoder", "angle": "crank"},
        "rate": {"kind": "gyroscope", "points": ["A", "B"]},
    },
    ("crank",),
)
SETTINGS = ObserverSettings(
    {"angle": DEG, "rate": DEG},
    acceleration_noise=[0.09],
    start_std=(5 * DEG, 5 * DEG),
    gate_sigma=0.0,
)


@pytest.fixture(scope="module")
def built():
    return build_observer("four_bar", SPEC, KernelOptions(step_s=STEP_S, integrator="newmark"))


def motion_and_samples(built, steps, seed=0):
    """The free motion, and noisy readings: angle every fifth step, rate every third."""
    model = built.module.Model()
    model.kernel_start(model.info["start"])
    states = np.array([model.kernel_step()[1] for _ in range(steps)])
    exact = np.array(built.module.Model().readings(states))
    given = exact + DEG * np.random.default_rng(seed).normal(size=exact.shape)
    for column, every in enumerate((5, 3)):
        missing = np.ones(steps, dtype=bool)
        missing[every - 1 :: every] = False
        given[missing, column] = np.nan
    return states, given


def filtered(built, given):
    observer = observer_class("DEKF")("crank", built.module.Model(), SETTINGS)
    return observer.run(given)[:, :2]


def test_it_is_the_minimum_that_another_optimiser_finds(built):
    steps = 12
    _, given = motion_and_samples(built, steps)
    first = filtered(built, given)
    found = smooth(built.module.Model(), given, SETTINGS, first)
    motion = Motion(built.module.Model())
    numbers = SETTINGS.numbers(built.module.Model().info)
    root = np.linalg.inv(np.linalg.cholesky(process_covariance(numbers, 1, STEP_S)))

    def residuals(flat):
        x = flat.reshape(steps + 1, 2)
        parts = [(x[0] - numbers.start) / np.sqrt(numbers.start_var)]
        for k in range(steps):
            parts.append(root @ motion.step(k, x[k], x[k + 1], STEP_S)[0])
            left = (motion.at(k + 1, x[k + 1])[2] - given[k]) / np.sqrt(numbers.sensor_var)
            parts.append(left[np.isfinite(left)])
        return np.concatenate(parts)

    other = least_squares(residuals, np.vstack((numbers.start, first)).ravel(), xtol=1e-12)
    assert found.cost == pytest.approx(other.cost, rel=1e-6)
    # both stop where the cost no longer falls: its square root of rounding, of numbers near one
    np.testing.assert_allclose(found.states.ravel(), other.x, atol=1e-5)


def test_slopes_of_a_step_are_its_differences(built):
    motion = Motion(built.module.Model())
    before, after = np.array([1.0, -0.7]), np.array([0.99, -0.75])
    _, (slope0, slope1) = motion.step(0, before, after, STEP_S)
    by_before = approx_fprime(before, lambda x: motion.step(0, x, after, STEP_S)[0], 1e-6)
    by_after = approx_fprime(after, lambda x: motion.step(0, before, x, STEP_S)[0], 1e-6)
    # one-sided differences over 1e-6
    np.testing.assert_allclose(slope0, by_before, atol=1e-5)
    np.testing.assert_allclose(slope1, by_after, atol=1e-5)


def test_the_future_tells_as_much_of_the_rate_as_the_past(built):
    states, given = motion_and_samples(built, 300)
    first = filtered(built, given)
    found = smooth(built.module.Model(), given, SETTINGS, first).states[1:]
    error = [np.sqrt(np.mean((x - states)[:, 1] ** 2)) for x in (found, first)]
    # twice the information: 0.71 of the deviation
    assert error[0] < 0.8 * error[1]


def test_wrong_shapes_are_refused(built):
    with pytest.raises(ValueError, match=r"\(4, 2\) and \(4, 2\) needed"):
        smooth(built.module.Model(), np.zeros((4, 2)), SETTINGS, np.zeros((3, 2)))


def test_without_its_library_it_says_how_to_get_it(built, monkeypatch):
    monkeypatch.setitem(sys.modules, "gtsam", None)
    with pytest.raises(ImportError, match=r"pip install rigloop\[smoother\]"):
        smooth(built.module.Model(), np.zeros((4, 2)), SETTINGS, np.zeros((4, 2)))

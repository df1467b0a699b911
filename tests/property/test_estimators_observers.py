"""Properties of the observers' covariances and of their scaling."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from estimators.augmented.ekf import AugmentedEkf
from estimators.augmented.settings import AugmentedSettings
from estimators.two_stage.kinematic_observer import KinematicObserver
from estimators.two_stage.rotor_model import RotorModel
from estimators.two_stage.stages import KinematicSettings
from rigloop.bench.two_stage.slider_crank import SliderCrank

noise = st.floats(1e-4, 1e2)
samples = st.lists(
    st.tuples(st.floats(-3, 3) | st.just(float("nan")), st.floats(-50, 50) | st.just(float("nan"))),
    min_size=2,
    max_size=40,
)


def correlation(cov):
    scale = 1 / np.sqrt(np.diag(cov))
    return cov * np.outer(scale, scale)


NAN = float("nan")
# an innovation whose square overflows, though the estimate before it was small enough
RUNAWAY = [
    *((3.0, 0.0), (0.0, NAN), (2.1810163091281254, NAN), (-0.015625, NAN), (NAN, 0.0), (1.5, 2.0)),
    *((NAN, 0.0), (NAN, 0.0), (NAN, NAN), (0.0, 0.0), (0.0, 0.0), (2.34375, NAN), (NAN, NAN)),
    *((0.0, 0.0), (0.0, 0.0), (NAN, 0.0), (NAN, NAN), (0.0, 0.0)),
]


@settings(deadline=None)
@given(samples, noise, noise, st.booleans())
@example(RUNAWAY, 2.25, 0.125, True)
def test_kinematic_covariance_stays_symmetric_and_positive(rows, position, acceleration, crank):
    model = SliderCrank(0.12, 0.25, 0.75, 1.56, 1.2) if crank else RotorModel(0.03)
    block = KinematicObserver(
        "k",
        model,
        KinematicSettings(
            period_s=1e-3,
            position_noise=position,
            acceleration_noise=acceleration,
            least_sensitivity=0.03,
        ),
        reads={"position_0": "a"},
    )
    z, u = (np.array(column)[:, None] for column in zip(*rows, strict=True))
    found = block.run(z, u)
    assert np.isfinite(found).all()
    cov = block.covariance
    if np.isfinite(z).any():
        assert np.array_equal(cov, cov.T)
        assert np.linalg.eigvalsh(correlation(cov)).min() > -1e-12


@settings(deadline=None)
@given(samples, noise, noise, noise, noise)
def test_augmented_covariance_stays_symmetric_and_positive(rows, position, acceleration, d, walk):
    block = AugmentedEkf(
        "s",
        RotorModel(0.03, 0.1, 0.2),
        AugmentedSettings(
            period_s=1e-3,
            position_noise=position,
            acceleration_noise=acceleration,
            disturbance=d,
            walk_noise=walk,
        ),
        reads={"position_0": "a"},
    )
    z, u = (np.array(column)[:, None] for column in zip(*rows, strict=True))
    found = block.run(z, u, np.zeros_like(z))
    assert np.isfinite(found).all()
    cov = block.covariance
    if np.isfinite(z).any():
        assert np.array_equal(cov, cov.T)
        assert np.linalg.eigvalsh(correlation(cov)).min() > -1e-12


@pytest.mark.slow
@settings(deadline=None)
@given(samples, st.integers(-6, 6))
def test_unit_of_the_coordinate_scales_the_motion_and_nothing_else(rows, power):
    # powers of two, so that scaling itself costs no bit
    factor = 2.0**power
    z, u = (np.array(column)[:, None] for column in zip(*rows, strict=True))

    def run(scale):
        block = KinematicObserver(
            "k",
            RotorModel(0.03),
            KinematicSettings(
                period_s=1e-3,
                position_noise=0.01 * scale,
                acceleration_noise=0.5 * scale,
                held_noise=scale,
            ),
            reads={"position_0": "a"},
        )
        return block.run(scale * z, scale * u)

    one, other = run(1.0), run(factor)
    # atol: numbers below the normal ones have few bits
    np.testing.assert_allclose(other[:, :3], factor * one[:, :3], rtol=1e-12, atol=1e-300)
    np.testing.assert_allclose(other[:, 3], one[:, 3], rtol=1e-9, atol=1e-12)

"""Invariances of the encoder filter."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from estimators.encoder.filter import WRITE_PORTS, EncoderFilter

CPR = 152000
ANGLE, RATE, ACCELERATION = 0, 1, 2


def run(count, span=0.0, valid=None, **changes):
    config = {
        "counts_per_rev": CPR,
        "period_s": 1e-3,
        "bandwidth_rad_s": 300.0,
        "max_acceleration_rad_s2": 1e9,
    }
    block = EncoderFilter("e", {"position_count": "c"}, {}, counter_span=span, **config | changes)
    n = len(count)
    return block.run(np.asarray(count, float), np.ones(n) if valid is None else valid, np.ones(n))


steps = st.lists(st.integers(-20_000, 20_000), min_size=2, max_size=60)


@pytest.mark.slow
@settings(deadline=None)
@given(steps, st.integers(-(10**6), 10**6), st.integers(-1000, 1000))
def test_multiples_of_the_span_never_matter(moves, start, turns):
    count = start + np.cumsum(moves)
    wrapped = run(np.mod(count, CPR), span=CPR)
    shifted = run(np.mod(count, CPR) + turns * CPR, span=CPR)
    np.testing.assert_array_equal(wrapped, shifted)


@pytest.mark.slow
@settings(deadline=None)
@given(steps, st.integers(0, CPR - 1))
def test_place_of_the_wrap_point_changes_no_increment(moves, start):
    count = np.r_[0, np.cumsum(moves)]
    plain = run(count)
    wrapped = run(np.mod(count + start, CPR), span=CPR)
    # absolute angles differ by the start only: up to a turn, so up to its round-off
    np.testing.assert_allclose(
        np.diff(wrapped[:, ANGLE]), np.diff(plain[:, ANGLE]), rtol=0, atol=1e-10
    )
    np.testing.assert_allclose(wrapped[:, RATE], plain[:, RATE], rtol=0, atol=1e-8)
    np.testing.assert_allclose(wrapped[:, ACCELERATION], plain[:, ACCELERATION], rtol=0, atol=1e-5)


@pytest.mark.slow
@settings(deadline=None)
@given(steps, steps, st.lists(st.booleans(), min_size=60, max_size=60))
def test_estimate_is_linear_in_the_counts(one, two, given_samples):
    n = min(len(one), len(two))
    a, b = np.cumsum(one[:n]), np.cumsum(two[:n])
    valid = np.array(given_samples[:n], float)
    valid[0] = 1.0
    parts = run(a, valid=valid) + 3 * run(b, valid=valid)
    whole = run(a + 3 * b, valid=valid)
    scale = np.abs(parts[:, :3]).max(axis=0) + 1.0
    np.testing.assert_allclose(whole[:, :3] / scale, parts[:, :3] / scale, rtol=0, atol=1e-10)


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(
            st.floats(allow_nan=True, allow_infinity=True),
            st.sampled_from([0.0, 1.0, float("nan"), 2.0]),
            st.floats(allow_nan=True, allow_infinity=True),
        ),
        min_size=1,
        max_size=80,
    )
)
def test_no_input_makes_an_output_that_is_not_finite(cycles):
    block = EncoderFilter(
        "e", {"position_count": "c"}, {}, counts_per_rev=CPR, period_s=1e-3, bandwidth_rad_s=300.0,
        counter_span=CPR,
    )  # fmt: skip
    count, valid, elapsed = (np.array(column) for column in zip(*cycles, strict=True))
    out = block.run(count, valid, elapsed)
    assert np.isfinite(out).all()
    assert out.shape == (len(cycles), len(WRITE_PORTS))


@settings(deadline=None)
@given(
    st.sampled_from(["constant_velocity", "constant_acceleration", "constant_jerk"]),
    st.lists(st.floats(0.1, 400.0), min_size=2, max_size=60),
    st.floats(1e-4, 3.0),
)
@pytest.mark.slow
def test_covariance_stays_symmetric_and_positive_definite(model, intervals, epsilon):
    elapsed = np.maximum(np.array(intervals), 1.0)
    block = EncoderFilter(
        "e", {"position_count": "c"}, {}, counts_per_rev=CPR, period_s=1e-3,
        bandwidth_rad_s=1e3 * epsilon, model=model, lost_after_s=1e6,
        max_acceleration_rad_s2=1e9,
    )  # fmt: skip
    n = len(elapsed)
    out = block.run(np.arange(n, dtype=float), np.ones(n), elapsed)
    cov = block.covariance
    # by the filter's own scale: rad, rad w0, rad w0^2 ...
    scale = 1.0 / np.sqrt(np.diag(cov))
    assert np.all(np.isfinite(scale))
    assert np.array_equal(cov, cov.T)
    # positive in its factors; that it is formed here from them costs round-off
    assert np.linalg.eigvalsh(cov * np.outer(scale, scale)).min() > -1e-14
    assert out[-1, WRITE_PORTS.index("covariance_resets")] == 0


@settings(deadline=None)
@given(steps, st.integers(-8, 8))
def test_scale_of_the_encoder_scales_the_estimate_and_nothing_else(moves, power):
    # noise and counts of another unit of angle, a power of two: the same bits, scaled
    count, factor = np.cumsum(moves), 2.0**power
    one = run(count)
    other = run(count, counts_per_rev=CPR / factor, max_acceleration_rad_s2=1e9 * factor)
    np.testing.assert_allclose(other[:, :3], factor * one[:, :3], rtol=1e-9, atol=1e-9 * factor)
    nis = WRITE_PORTS.index("nis")
    np.testing.assert_allclose(other[:, nis], one[:, nis], rtol=1e-6, atol=1e-9)


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.02, 0.2, 1e3]))
def test_hours_of_irregular_samples_leave_a_sound_covariance(seed, lost_after_s):
    # 20 000 samples at intervals from a period to seven minutes, of any age, some missing, some wild
    rng = np.random.default_rng(seed)
    n = 20_000
    elapsed = np.where(rng.random(n) < 0.7, 1.0, np.floor(np.exp(rng.uniform(0.0, 13.0, n))))
    valid = (rng.random(n) < 0.9).astype(float)
    age = np.where(rng.random(n) < 0.5, 0.0, rng.uniform(0.0, 5e-3, n))
    count = np.rint(0.1 * CPR * np.sin(np.cumsum(elapsed) * 2e-3)) + (rng.random(n) < 0.01) * 5e4
    block = EncoderFilter(
        "e", {"position_count": "c"}, {}, counts_per_rev=CPR, period_s=1e-3, bandwidth_rad_s=300.0,
        lost_after_s=lost_after_s,
    )  # fmt: skip
    out = block.run(count, valid, elapsed, age)
    assert np.isfinite(out).all()
    cov = block.covariance
    assert np.array_equal(cov, cov.T)
    scale = 1.0 / np.sqrt(np.diag(cov))
    assert np.linalg.eigvalsh(cov * np.outer(scale, scale)).min() > -1e-14
    assert out[-1, WRITE_PORTS.index("covariance_resets")] == 0
    # and on time again the covariance comes to rest where it always does
    block.run(count[-1:].repeat(3000), np.ones(3000), np.ones(3000))
    fresh = EncoderFilter(
        "e", {"position_count": "c"}, {}, counts_per_rev=CPR, period_s=1e-3, bandwidth_rad_s=300.0
    )
    fresh.run(np.zeros(3000), np.ones(3000), np.ones(3000))
    np.testing.assert_allclose(block.covariance, fresh.covariance, rtol=1e-9)

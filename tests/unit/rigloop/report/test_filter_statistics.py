"""What the report says of a filter's innovations."""

import re

import numpy as np
import pytest

from estimators.encoder.filter import WRITE_PORTS, EncoderFilter
from estimators.encoder.gains import process_noise, transition_matrix
from rigloop.report.filter_statistics import filter_facts

PERIOD_S, W0, NOISE, CPR = 1e-3, 100.0, 1e-4, 2**26


def record(angle, bandwidth=W0, noise_rad=NOISE):
    """Run a filter over angles, and return its outputs as a record of a task has them."""
    block = EncoderFilter(
        "wheel", {"position_count": "c"}, {}, counts_per_rev=CPR, period_s=PERIOD_S,
        bandwidth_rad_s=bandwidth, noise_rad=noise_rad, max_acceleration_rad_s2=1e6,
    )  # fmt: skip
    n = len(angle)
    out = block.run(np.rint(angle * CPR / (2 * np.pi)), np.ones(n), np.ones(n))
    names = ["t_ns", *(f"wheel/{port}" for port in WRITE_PORTS)]
    found = np.zeros(n, dtype=[(name, "f8") for name in names])
    found["t_ns"] = 1e9 * PERIOD_S * np.arange(n)
    for i, port in enumerate(WRITE_PORTS):
        found[f"wheel/{port}"] = out[:, i]
    return {"estimation": found}


@pytest.fixture(scope="module")
def matched():
    """Angles of the filter's own model."""
    # one seed in twenty lies outside a 95 % interval, and this is not one of them
    rng = np.random.default_rng(11)
    f = transition_matrix(PERIOD_S)
    root = np.linalg.cholesky(W0**6 * NOISE**2 * PERIOD_S * process_noise(PERIOD_S))
    x, angle = np.zeros(3), []
    for _ in range(6000):
        angle.append(x[0] + NOISE * rng.normal())
        x = f @ x + root @ rng.normal(size=3)
    return np.array(angle)


def test_right_filter_is_called_consistent(matched):
    (facts,) = filter_facts(record(matched))
    assert facts.nis_low < facts.nis_mean < facts.nis_high
    assert facts.beyond_percent == pytest.approx(5.0, abs=1.2)
    assert facts.words.startswith("Consistent")
    assert facts.samples == len(facts.t_s) > 5500


def test_noise_that_is_said_too_small_is_named(matched):
    (facts,) = filter_facts(record(matched, noise_rad=NOISE / 3))
    assert facts.nis_mean == pytest.approx(9.0, rel=0.1)
    assert re.search(r"(2\.9|3|3\.1) times as large", facts.words)


def test_filter_that_is_too_slow_is_named(matched):
    (facts,) = filter_facts(record(matched, bandwidth=W0 / 4))
    assert facts.correlation > 0.1
    assert "motion is faster than the filter" in facts.words


def test_filter_that_is_too_fast_is_named():
    rng = np.random.default_rng(9)
    (facts,) = filter_facts(record(NOISE * rng.normal(size=3000), bandwidth=800.0))
    assert facts.correlation < -0.1
    assert "filter is faster than the motion" in facts.words


def test_record_without_a_filter_has_no_facts():
    empty = np.zeros(10, dtype=[("t_ns", "f8"), ("loop/a/late_ns", "f8")])
    assert filter_facts({"a": empty}) == []

"""The model of the latency, and the figures of a distribution."""

import math

import numpy as np
import pytest

from estimators.encoder.filter import EncoderFilter
from rigloop.bench.latency.model import (
    allowed_distance,
    distance,
    figures,
    filter_delay_ns,
    frequency_hz,
    path_delay_ns,
)
from rt_core.loop.offline import Offline
from rt_core.plan import Task, plan_table

MS = 1e6


def measured_filter_delay_ns(period_ns, bandwidth_rad_s, frequency):
    """Delay of the phase of the real filter block on a sine, by a fit of its last whole turns."""
    reads = {"position_count": "in/count", "valid": "in/valid", "elapsed": "in/elapsed"}
    block = EncoderFilter(
        "wheel", reads, {port: f"wheel/{port}" for port in WRITES},
        counts_per_rev=float(2**31), period_s=period_ns * 1e-9, bandwidth_rad_s=bandwidth_rad_s,
    )  # fmt: skip
    task = Task("fast", [block], period_ns, inputs=tuple(reads.values()))
    offline = Offline(plan_table([task]))
    per_turn = 2500
    assert per_turn * frequency * period_ns * 1e-9 == pytest.approx(1.0)
    n = 4 * per_turn
    turn = 2 * np.pi * np.arange(n) / per_turn
    count = np.floor(np.sin(turn) * 0.3 / (2 * np.pi) * 2**31)
    images = offline.run(
        "fast", np.arange(n) * period_ns,
        forced={"in/count": count, "in/valid": np.ones(n), "in/elapsed": np.ones(n)},
    )  # fmt: skip
    angle = images["fast"][-per_turn:, offline.paths("fast").index("wheel/angle_rad")]
    s, c = np.sin(turn[-per_turn:]), np.cos(turn[-per_turn:])
    phase = math.atan2(angle @ c, angle @ s)
    return -phase / (2 * np.pi * frequency) * 1e9


WRITES = (
    "angle_rad", "rate_rad_s", "acceleration_rad_s2", "innovation_rad", "unwrapped_count",
    "offset_rad", "missed", "rejected", "jumps", "ready", "trusted",
)  # fmt: skip


def test_filter_delay_is_the_published_lead_at_4_hz():
    # method: a tiny lead of 0.020 ms on the position at 4 Hz, 100 us, 310.4 rad/s
    assert filter_delay_ns(100_000, 310.4, 4.0) == pytest.approx(-20_000, abs=1_000)


@pytest.mark.parametrize(("period_ns", "bandwidth"), [(100_000, 310.4), (200_000, 150.0)])
def test_filter_delay_is_that_of_the_real_filter(period_ns, bandwidth):
    frequency = 1e9 / (2500 * period_ns)
    expected = measured_filter_delay_ns(period_ns, bandwidth, frequency)
    # two turns settle a filter of 3 to 7 ms to a millionth; the count is 3 nrad
    assert filter_delay_ns(period_ns, bandwidth, frequency) == pytest.approx(expected, abs=20)


def test_path_is_three_cycles_and_the_filter():
    assert path_delay_ns(100_000, -20_000) == 280_000


def test_figures_are_values_that_were_seen():
    x = np.arange(1.0, 2001.0)
    f = figures([*x, np.nan])
    assert (f.n, f.mean, f.min, f.max) == (2000, 1000.5, 1.0, 2000.0)
    assert f.p50 in x
    assert (f.p99, f.p99_9) == (1981.0, 1999.0)


def test_with_few_values_the_tail_is_the_maximum():
    assert figures(np.arange(500.0)).p99_9 == 499.0


def test_figures_of_nothing_are_none():
    assert figures([]) is None
    assert figures([np.nan, np.inf]) is None


def test_frequency_is_half_the_rate_of_sign_changes():
    assert frequency_hz(np.arange(9) * 125 * MS) == pytest.approx(4.0)


def test_distance_of_the_model_from_itself_is_half_a_value():
    # values in the middle of equal shares
    x = 0.3 * MS + (np.arange(100) + 0.5) / 100 * 5 * MS
    assert distance(x, 0.3 * MS, 5 * MS) == pytest.approx(0.005)


def test_distance_of_a_shifted_model_is_its_shift():
    x = 0.3 * MS + (np.arange(1000) + 0.5) / 1000 * 5 * MS
    assert distance(x + 1 * MS, 0.3 * MS, 5 * MS) == pytest.approx(0.2, abs=0.001)
    assert distance(x - 1 * MS, 0.3 * MS, 5 * MS) == pytest.approx(0.2, abs=0.001)


def test_distance_tells_another_shape_from_the_model():
    # all at the mean: half of the model lies on each side
    assert distance(np.full(50, 0.5 * MS), 0.0, 1 * MS) == pytest.approx(0.5)


def test_random_values_of_the_model_are_allowed_and_values_of_half_a_period_are_not():
    rng = np.random.default_rng(3)
    allowed = allowed_distance(1000, 5 * MS)
    inside = [distance(rng.uniform(0, 5 * MS, 1000), 0, 5 * MS) <= allowed for _ in range(50)]
    assert all(inside)
    assert distance(rng.uniform(0, 2.5 * MS, 1000), 0, 5 * MS) > allowed

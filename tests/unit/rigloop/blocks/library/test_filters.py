"""Low-pass, second-order filter, notch: against closed forms and SciPy's own design and filtering."""

import math

import numpy as np
import pytest
from scipy import signal

from rig_configs.mistakes import ConfigError

NAN = math.nan
T = 1e-3


def same(a, b):
    return np.array_equal(np.asarray(a), np.asarray(b), equal_nan=True)


def noise(n=400):
    return np.random.default_rng(3).normal(size=n) + 5.0


@pytest.mark.parametrize("cutoff_hz", [0.01, 10.0, 400.0, 1e6])
def test_low_pass_is_the_exponential_towards_its_input(run, cutoff_hz):
    u = noise()
    share = 1.0 - math.exp(-2.0 * math.pi * cutoff_hz * T)
    # scipy starts at rest with the first input, as the block does
    b, a = [share], [1.0, share - 1.0]
    wanted, _ = signal.lfilter(b, a, u, zi=(1.0 - share) * u[:1])
    assert np.allclose(run("low_pass", u=u, cutoff_hz=cutoff_hz)["y"], wanted, rtol=1e-12, atol=0)


def test_low_pass_over_a_hole_is_the_low_pass_with_each_cycle(run):
    every = run("low_pass", u=[1.0, 1.0, *[4.0] * 8], cutoff_hz=20.0)["y"]
    skipping = run("low_pass", u=[1.0, 1.0, 4.0, 4.0], cutoff_hz=20.0, cycles=[0, 1, 6, 9])["y"]
    assert np.allclose(skipping, every[[0, 1, 6, 9]], rtol=1e-14)


def prewarped(numerator, denominator, hz):
    """Tustin's rule with one frequency kept in its place."""
    w = 2.0 * math.pi * hz
    return signal.bilinear(numerator, denominator, fs=w / (2.0 * math.tan(w * T / 2.0)))


@pytest.mark.parametrize(("hz", "damping"), [(30.0, 0.7), (200.0, 0.05), (499.0, 1.0), (0.1, 2.0)])
def test_second_order_is_tustins_rule_from_rest(run, hz, damping):
    u, w = noise(), 2.0 * math.pi * hz
    b, a = prewarped([w * w], [1.0, 2.0 * damping * w, w * w], hz)
    wanted, _ = signal.lfilter(b, a, u, zi=signal.lfilter_zi(b, a) * u[0])
    got = run("second_order", u=u, frequency_hz=hz, damping=damping)["y"]
    # 0.1 Hz at 1 kHz: poles within 1e-3 of 1 magnify rounding of the design
    assert np.allclose(got, wanted, rtol=1e-9, atol=0)
    assert got[0] == pytest.approx(u[0], rel=1e-12)


def test_second_order_has_its_phase_of_90_degrees_at_its_frequency(run):
    t = np.arange(6000) * T
    got = run("second_order", u=np.sin(2 * np.pi * 50.0 * t), frequency_hz=50.0, damping=0.5)["y"]
    # gain 1 / (2 damping), a quarter of a turn behind
    assert np.allclose(got[3000:], -np.cos(2 * np.pi * 50.0 * t)[3000:], atol=1e-9)


@pytest.mark.parametrize(("hz", "width_hz"), [(50.0, 5.0), (120.0, 100.0), (499.0, 1.0)])
def test_notch_is_scipys(run, hz, width_hz):
    u = noise()
    b, a = signal.iirnotch(hz, hz / width_hz, fs=1.0 / T)
    wanted, _ = signal.lfilter(b, a, u, zi=signal.lfilter_zi(b, a) * u[0])
    got = run("notch", u=u, frequency_hz=hz, width_hz=width_hz)["y"]
    assert np.allclose(got, wanted, rtol=1e-10, atol=1e-12)


def test_notch_takes_its_frequency_out_and_leaves_what_rests(run):
    t = np.arange(4000) * T
    got = run("notch", u=3.0 + np.sin(2 * np.pi * 50.0 * t), frequency_hz=50.0, width_hz=10.0)["y"]
    assert np.allclose(got[2000:], 3.0, atol=1e-9)


FILTERS = {
    "low_pass": {"cutoff_hz": 10.0},
    "second_order": {"frequency_hz": 10.0},
    "notch": {"frequency_hz": 10.0, "width_hz": 5.0},
}


@pytest.mark.parametrize("kind", FILTERS)
def test_a_filter_starts_at_its_first_number_and_forgets_what_is_none(run, kind):
    bad = run(kind, u=[NAN, math.inf, 7.0, NAN, 8.0, -math.inf, 9.0], **FILTERS[kind])["y"]
    good = run(kind, u=[7.0, 8.0, 9.0], **FILTERS[kind])["y"]
    assert same(bad, [NAN, NAN, good[0], NAN, good[1], NAN, good[2]]) or kind == "low_pass"
    assert same(np.isnan(bad), [1, 1, 0, 1, 0, 1, 0])
    assert good[0] == pytest.approx(7.0, rel=1e-12)


@pytest.mark.parametrize("kind", FILTERS)
def test_a_filter_at_rest_stays_there_over_a_very_long_hole(run, kind):
    got = run(kind, u=[7.0, 7.0, 7.0], cycles=[0, 1, 10_000_000_000], **FILTERS[kind])["y"]
    assert np.allclose(got, 7.0, rtol=1e-9)


@pytest.mark.parametrize(
    ("kind", "given"),
    [
        ("second_order", {"frequency_hz": 500.0}),
        ("notch", {"frequency_hz": 500.0, "width_hz": 1.0}),
        ("notch", {"frequency_hz": 50.0, "width_hz": 500.0}),
    ],
)
def test_a_frequency_that_the_task_cannot_see_is_refused(run, kind, given):
    with pytest.raises(ConfigError, match="half the rate of its task"):
        run(kind, u=[0.0], **given)

"""The sum of sines that `bench frf` adds to a torque, and what is made of the answer."""

import math

import numpy as np
import pytest

from rigloop.blocks.kinds.excitation_step import Excitation
from rigloop.blocks.multisine import harmonics_up_to, lines_of, ratio, through
from rt_core.loop.offline import Offline
from rt_core.plan import Task, plan_table

READS = {"request_nm": "in/request_nm", "ramp": "in/ramp"}
HARMONICS = (1, 2, 3, 7, 30)
PERIOD_NS = 200_000


def run(request, ramp, times=None, **settings):
    """Step an excitation; return torque, excitation and elapsed time of each cycle."""
    given = {"amplitude_nm": 0.8, "base_hz": 2.0, "harmonics": HARMONICS, "ramp_s": 0.25} | settings
    block = Excitation("sines", READS, **given)
    task = Task("fast", [block], PERIOD_NS, inputs=("in/request_nm", "in/ramp"))
    offline = Offline(plan_table([task]))
    times = np.arange(len(request)) * PERIOD_NS if times is None else times
    forced = {"in/request_nm": np.asarray(request, float), "in/ramp": np.asarray(ramp, float)}
    image = offline.run("fast", times, forced=forced)["fast"]
    paths = offline.paths("fast")
    return tuple(
        image[:, paths.index(f"sines/{p}")] for p in ("torque_nm", "excitation_nm", "elapsed_s")
    )


def test_it_waits_for_the_guard_rises_and_reaches_its_peak_only():
    n = 20_000
    ramp = np.minimum(np.arange(n) / 1000, 1.0)
    torque, excitation, elapsed = run(np.full(n, 1.5), ramp)
    assert not excitation[:1001].any()
    assert np.all(np.abs(excitation) <= np.minimum(1.0, elapsed / 0.25) * 0.8 * 1.005 + 1e-12)
    assert np.max(np.abs(excitation)) > 0.79
    assert np.array_equal(torque, 1.5 + excitation)
    whole = excitation[elapsed >= 0.25]
    assert np.allclose(whole[2500:5000], whole[:2500], atol=1e-9)
    # its lines are those asked for, all of one size, and no others
    size = 2 * np.abs(np.fft.rfft(whole[:2500])) / 2500
    assert np.allclose(size[list(HARMONICS)], size[1], rtol=1e-6)
    assert np.sum(size > 1e-9) == len(HARMONICS)


def test_it_is_over_as_soon_as_the_guard_lets_go_and_begins_softly_again():
    n = 9000
    ramp = np.ones(n)
    ramp[5000:6000] = 0.5
    _, excitation, elapsed = run(np.zeros(n), ramp)
    assert not excitation[5000:6001].any()
    assert np.max(np.abs(excitation[6001:6100])) < 0.8 * 0.1
    assert elapsed[-1] == pytest.approx((n - 6001) * 2e-4)


def test_lost_cycles_shift_no_phase():
    times = np.delete(np.arange(8000), slice(3000, 3500)) * PERIOD_NS
    n = len(times)
    whole = run(np.zeros(8000), np.ones(8000))[1]
    assert np.allclose(run(np.zeros(n), np.ones(n), times)[1][3000:], whole[3500:], atol=1e-12)


def test_a_request_that_is_no_number_stays_one():
    torque, *_ = run([0.0, math.nan, math.inf, 1.0], [1.0] * 4)
    assert np.isnan(torque[1])
    assert torque[2] == math.inf


@pytest.mark.parametrize(
    ("settings", "words"),
    [({"amplitude_nm": 0.0}, "amplitude_nm"), ({"base_hz": math.nan}, "base_hz"), ({"harmonics": [1, 1]}, "harmonics"),
     ({"harmonics": []}, "harmonics")],
)  # fmt: skip
def test_what_is_wrong_is_said(settings, words):
    with pytest.raises(ValueError, match=words):
        run([0.0], [1.0], **settings)


def test_lines_are_found_through_gaps_noise_and_drift():
    rng = np.random.default_rng(5)
    t = np.sort(rng.choice(np.arange(20_000), 19_000, replace=False)) * 2e-4
    t[0] = 0.0
    hz = 2.0 * np.array(HARMONICS)
    wanted = np.array([1.0, 0.5j, -0.2, 0.1 + 0.1j, 0.05])
    x = sum(np.cos(2 * np.pi * f * t + 0.3 * i) for i, f in enumerate(hz))
    drive = np.array([np.exp(0.3j * i) for i in range(5)])
    y = sum(
        (w * d * np.exp(2j * np.pi * f * t)).real for w, d, f in zip(wanted, drive, hz, strict=True)
    )
    y += 0.3 + 0.05 * t + rng.normal(size=len(t)) * 0.02
    found, coherence = ratio(lines_of(t, {"x": x, "y": y}, 2.0, HARMONICS), "y", "x")
    assert np.allclose(found, wanted, atol=5e-3)
    assert np.all(coherence > 0.98)


def test_noise_that_goes_round_a_loop_does_not_bias_what_is_referred_to_its_driver():
    # y = G x + n, x = r - y: y / x alone is biased by n
    rng = np.random.default_rng(7)
    t = np.arange(100_000) * 2e-4
    r = sum(np.cos(2 * np.pi * 2.0 * h * t + h) for h in HARMONICS)
    n = rng.normal(size=len(t))
    g = 0.8
    y = (g * r + n) / (1 + g)
    found, coherence = through(
        lines_of(t, {"r": r, "x": r - y, "y": y}, 2.0, HARMONICS), "y", "x", "r"
    )
    assert np.allclose(found, g, atol=0.03)
    assert np.all(coherence < 1.0)


def test_lines_are_spread_over_the_logarithm_and_different():
    found = harmonics_up_to(60)
    assert found[0] == 1
    assert found[-1] == 60
    assert len(set(found)) == len(found) <= 30

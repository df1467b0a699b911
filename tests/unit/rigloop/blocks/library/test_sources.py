"""Step, sine, sweep, noise: functions of the nominal time, whatever cycles are skipped."""

import math

import numpy as np
import pytest
from scipy import signal, stats

from rig_configs.mistakes import ConfigError

T = 1e-3


def test_step(run):
    assert np.array_equal(
        run("step", 6, at_s=0.003, before=-1.0, after=2.0)["y"], [-1, -1, -1, 2, 2, 2]
    )


def test_sine(run):
    got = run("sine", 500, amplitude=3.0, frequency_hz=7.3, phase_rad=0.4, offset=1.0, start_s=0.1)[
        "y"
    ]
    t = np.arange(500) * T - 0.1
    wanted = np.where(np.arange(500) < 100, 1.0, 1.0 + 3.0 * np.sin(2 * np.pi * 7.3 * t + 0.4))
    assert np.allclose(got, wanted, rtol=0, atol=1e-12)


def test_sine_is_as_exact_after_a_year(run):
    year = 365 * 86_400_000
    got = run("sine", 1000, frequency_hz=10.0, cycles=year + np.arange(1000))["y"]
    wanted = np.sin(2 * np.pi * 10.0 * np.arange(1000) * T)  # a year is a whole number of turns
    # t_ns in seconds has 7e-9 s of rounding there
    assert np.allclose(got, wanted, rtol=0, atol=5e-7)


@pytest.mark.parametrize(("form", "method"), [("linear", "linear"), ("logarithmic", "logarithmic")])
@pytest.mark.parametrize(("low", "high"), [(1.0, 40.0), (40.0, 1.0), (5.0, 5.0)])
def test_sweep_is_scipys_chirp(run, form, method, low, high):
    got = run(
        "sweep",
        2200,
        amplitude=2.0,
        from_hz=low,
        to_hz=high,
        duration_s=2.0,
        start_s=0.1,
        form=form,
    )
    t = np.arange(2200) * T - 0.1
    inside = (t > 1e-9) & (t < 2.0 - 1e-9)
    wanted = 2.0 * signal.chirp(t, low, 2.0, high, method=method, phi=-90.0)
    assert np.allclose(got["y"][inside], wanted[inside], rtol=0, atol=1e-9)
    assert not got["y"][:100].any()
    assert not got["y"][2102:].any()
    assert got["frequency_hz"][101] == pytest.approx(low, rel=0.05)
    assert got["frequency_hz"][2099] == pytest.approx(high, rel=0.05)


def test_a_sweep_beyond_what_the_task_can_show_is_refused(run):
    with pytest.raises(ConfigError, match="half the rate of its task"):
        run("sweep", 1, from_hz=1.0, to_hz=500.0, duration_s=1.0)


def splitmix64(seed, k):
    mask = 2**64 - 1
    z = (seed + (k + 1) * 0x9E3779B97F4A7C15) & mask
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
    return z ^ (z >> 31)


def uniform(bits):
    return ((bits >> 12) + 0.5) * 2.0**-52


def test_the_generator_of_this_test_gives_the_published_numbers():
    # the first five of seed 1234567, as Vigna's splitmix64.c prints them
    wanted = [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431,
              16408922859458223821]  # fmt: skip
    assert [splitmix64(1234567, k) for k in range(5)] == wanted


@pytest.mark.parametrize("seed", [0, 1, 2**53])
def test_noise_has_the_bits_of_its_seed(run, seed):
    key = splitmix64(seed, 0)
    pairs = [
        (uniform(splitmix64(key, 2 * k)), uniform(splitmix64(key, 2 * k + 1))) for k in range(100)
    ]
    normal = [1.5 * (math.sqrt(-2.0 * math.log(a)) * math.cos(2.0 * math.pi * b)) for a, b in pairs]
    assert np.array_equal(run("noise", 100, seed=seed, std=1.5)["y"], normal)
    flat = [1.5 * (math.sqrt(12.0) * (a - 0.5)) for a, _ in pairs]
    assert np.array_equal(run("noise", 100, seed=seed, std=1.5, form="uniform")["y"], flat)


def test_noise_of_a_cycle_does_not_depend_on_the_cycles_before(run):
    every = run("noise", 50)["y"]
    assert np.array_equal(run("noise", 3, cycles=[4, 20, 49])["y"], every[[4, 20, 49]])


@pytest.mark.parametrize("period_us", [50, 125, 1000, 333])
def test_noise_is_new_in_every_period(run, period_us):
    assert len(set(run("noise", 5000, period_us=period_us)["y"])) == 5000


@pytest.mark.parametrize("form", ["normal", "uniform"])
def test_noise_is_white_with_its_distribution(run, form):
    # a fixed seed: this cannot fail by chance
    y = run("noise", 20_000, std=2.0, form=form)["y"]
    law = (
        stats.norm(scale=2.0)
        if form == "normal"
        else stats.uniform(-math.sqrt(12.0), 2 * math.sqrt(12.0))
    )
    assert stats.kstest(y, law.cdf).pvalue > 0.01
    spectrum = np.abs(np.fft.rfft(y - y.mean()))[1:-1] ** 2 / (len(y) * 4.0)
    assert stats.kstest(spectrum, stats.expon.cdf).pvalue > 0.01
    other = run("noise", 20_000, std=2.0, form=form, seed=2)["y"]
    assert abs(np.corrcoef(y, other)[0, 1]) < 4.0 / math.sqrt(20_000)

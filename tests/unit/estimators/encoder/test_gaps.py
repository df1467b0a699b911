"""The encoder filter where samples do not come every period, against the exact covariance.

The reference is a Kalman filter in extended precision with full covariances (Joseph's form), written
down here again: the same noises, the same start, each prediction over the true interval.
"""

from pathlib import Path

import numpy as np
import pytest

from estimators.encoder.filter import WRITE_PORTS, EncoderFilter

W0 = 310.4
ACCELERATION = 1000.0  # default of the filter: what its start allows for
RATE, READY = WRITE_PORTS.index("rate_rad_s"), WRITE_PORTS.index("ready")
REAL_GAPS = Path(__file__).parents[3] / "data" / "gaps"

# the shipped rigs, and others
ENCODERS = {
    "steering_wheel": (2**20, 200e-6),
    "17 bit at 100 us": (2**17, 100e-6),
    "17 bit at 1 ms": (2**17, 1e-3),
    "4096 counts at 200 us": (4096, 200e-6),
    "600 counts at 1 ms": (600, 1e-3),
}


def motion(t_s):
    """Angle and rate of a hand on a wheel."""
    angle, rate = 0.0, 0.0
    for amplitude, hz, phase in ((0.8, 0.3, 0.4), (0.2, 1.3, 1.0), (0.005, 7.0, 2.0)):
        omega = 2 * np.pi * hz
        angle = angle + amplitude * np.sin(omega * t_s + phase)
        rate = rate + amplitude * omega * np.cos(omega * t_s + phase)
    return angle, rate


def exact_rates(measured, interval_s, period_s, noise_rad, ages_s=None):
    """Rate after each sample, shape (n_cases, n): full covariance, extended precision."""
    real = np.longdouble
    measured, interval_s = np.asarray(measured, real), np.asarray(interval_s, real)
    n_cases, n = measured.shape
    r = real(noise_rad) ** 2
    density = real(W0) ** 6 * r * real(period_s)
    x = np.zeros((n_cases, 3), real)
    x[:, 0] = measured[:, 0]
    start = np.diag(np.array([r, (ACCELERATION / W0) ** 2, ACCELERATION**2], real))
    cov = np.broadcast_to(start, (n_cases, 3, 3)).copy()
    rates = np.zeros((n_cases, n), real)
    f = np.zeros((n_cases, 3, 3), real)
    q = np.zeros((n_cases, 3, 3), real)
    eye = np.eye(3, dtype=real)
    for k in range(1, n):
        dt = interval_s[:, k]
        f[:] = eye
        f[:, 0, 1] = f[:, 1, 2] = dt
        f[:, 0, 2] = dt**2 / 2
        q[:, 0, 0], q[:, 1, 1], q[:, 2, 2] = dt**5 / 20, dt**3 / 3, dt
        q[:, 0, 1] = q[:, 1, 0] = dt**4 / 8
        q[:, 0, 2] = q[:, 2, 0] = dt**3 / 6
        q[:, 1, 2] = q[:, 2, 1] = dt**2 / 2
        x = np.einsum("cij,cj->ci", f, x)
        cov = np.einsum("cij,cjk,clk->cil", f, cov, f) + density * q
        gain = cov[:, :, 0] / (cov[:, 0, 0] + r)[:, None]
        x = x + gain * (measured[:, k] - x[:, 0])[:, None]
        keep = np.broadcast_to(eye, f.shape).copy()
        keep[:, :, 0] -= gain
        cov = np.einsum("cij,cjk,clk->cil", keep, cov, keep) + r * gain[:, :, None] * gain[:, None]
        rates[:, k] = x[:, 1]
    return rates


def compare(elapsed, encoder, **changes):
    """Errors of the rate, of the filter and of the exact covariance, each of shape (n_cases, n)."""
    counts_per_rev, period_s = ENCODERS[encoder]
    elapsed = np.atleast_2d(np.asarray(elapsed, float))
    t_s = period_s * np.cumsum(elapsed, axis=1)
    angle, rate = motion(t_s)
    count = np.rint(angle * counts_per_rev / (2 * np.pi))
    ones = np.ones(elapsed.shape[1])
    out = []
    for case in range(len(elapsed)):
        block = EncoderFilter(
            "e", {"position_count": "c"}, {}, counts_per_rev=counts_per_rev, period_s=period_s,
            bandwidth_rad_s=W0, counter_span=2.0**32, **changes,
        )  # fmt: skip
        out.append(block.run(np.mod(count[case], 2.0**32), ones, elapsed[case]))
    rad_per_count = 2 * np.pi / counts_per_rev
    exact = exact_rates(
        count * rad_per_count, period_s * elapsed, period_s, rad_per_count / np.sqrt(12)
    )
    out = np.array(out)
    assert np.isfinite(out).all()
    assert not out[:, -1, WRITE_PORTS.index("covariance_resets")].any()
    return out[:, :, RATE] - rate, np.asarray(exact, float) - rate, out


def assert_as_good(wrong, exact, elapsed, repeats=True):
    """RMS within 1.05, worst within 1.2: over all and over 50 samples after each gap; never growing."""
    for case in range(len(wrong)):
        a, b = np.abs(wrong[case, 1:]), np.abs(exact[case, 1:])
        assert rms(a) <= 1.05 * rms(b)
        assert a.max() <= 1.2 * b.max()
        gaps = np.flatnonzero(np.atleast_2d(elapsed)[case, 1:] > 1)
        for gap in gaps[:: max(1, len(gaps) // 50)]:
            after = slice(gap, gap + 50)
            # what rounding adds to an error that may happen to be nothing
            assert rms(a[after]) <= 1.05 * rms(b[after]) + 1e-9
            assert a[after].max() <= 1.2 * b[after].max() + 1e-9
        if repeats:
            part = len(a) // 3
            assert rms(a[-part:]) <= 2.0 * rms(a[:part])


def rms(x):
    return float(np.sqrt(np.mean(x**2)))


@pytest.mark.parametrize("encoder", ENCODERS)
def test_samples_n_periods_apart(encoder):
    elapsed = np.repeat(np.arange(1.0, 101.0)[:, None], 300, axis=1)
    wrong, exact, _ = compare(elapsed, encoder)
    # each sample is one after a gap: one stretch of fifty is as good as another
    assert_as_good(wrong, exact, np.where(np.arange(300) % 50 == 1, elapsed, 1))


@pytest.mark.parametrize("encoder", ENCODERS)
def test_gaps_at_random(encoder):
    rng = np.random.default_rng(11)
    shares = np.array([0.01, 0.02, 0.05, 0.1, 0.2, 0.4])
    period_s = ENCODERS[encoder][1]
    late = rng.random((6, 3000)) < shares[:, None]
    longest = max(3, round(8e-3 / period_s))  # gaps up to 8 ms
    elapsed = np.where(late, rng.integers(2, longest, (6, 3000)), 1.0)
    wrong, exact, _ = compare(elapsed, encoder)
    assert_as_good(wrong, exact, elapsed)


def in_turn(period_s):
    return np.tile([round(10e-3 / period_s), round(200e-3 / period_s)], 200)


def eight_and_one(period_s):
    return np.tile([*8 * [5], round(200e-3 / period_s)], 60)


def one_long_gap(period_s):
    elapsed = np.ones(1500)
    elapsed[700] = round(200e-3 / period_s)
    return elapsed


def growing_gaps(period_s):
    elapsed = np.ones(3000)
    elapsed[200::200] = np.geomspace(2, 0.9 / period_s, 14)[: len(elapsed[200::200])].round()
    return elapsed


@pytest.mark.slow
@pytest.mark.parametrize("pattern", [in_turn, eight_and_one, one_long_gap, growing_gaps])
@pytest.mark.parametrize("encoder", ENCODERS)
@pytest.mark.parametrize("lost_after_s", [None, 0.2])
def test_gaps_in_turn(pattern, encoder, lost_after_s):
    elapsed = pattern(ENCODERS[encoder][1])
    wrong, exact, _ = compare(elapsed, encoder, lost_after_s=lost_after_s)
    assert_as_good(wrong, exact, elapsed, repeats=pattern in (in_turn, eight_and_one))


@pytest.mark.parametrize("encoder", ENCODERS)
def test_missing_and_rejected_samples_are_part_of_the_interval(encoder):
    # executed cycles without a sample, and wild ones, say as little as cycles that were lost
    rng = np.random.default_rng(12)
    counts_per_rev, period_s = ENCODERS[encoder]
    n = 2000
    elapsed = rng.choice([1.0, 1.0, 1.0, 4.0], n)
    fate = rng.choice(["good", "none", "wild"], n, p=[0.5, 0.45, 0.05])
    fate[:400] = "good"  # settled before the first wild one
    t_s = period_s * np.cumsum(elapsed)
    count = np.rint(motion(t_s)[0] * counts_per_rev / (2 * np.pi))
    wild = np.where(fate == "wild", rng.choice([-1, 1], n) * (0.2 + 0.2 * rng.random(n)), 0.0)
    block = EncoderFilter(
        "e", {"position_count": "c"}, {}, counts_per_rev=counts_per_rev, period_s=period_s,
        bandwidth_rad_s=W0, jump_samples=50,
    )  # fmt: skip
    out = block.run(count + np.rint(wild * counts_per_rev), (fate != "none").astype(float), elapsed)
    good = fate == "good"
    assert out[-1, WRITE_PORTS.index("rejected")] == np.sum(fate == "wild")
    rad_per_count = 2 * np.pi / counts_per_rev
    exact = exact_rates(
        rad_per_count * count[None, good], np.diff(t_s[good], prepend=0.0)[None], period_s,
        rad_per_count / np.sqrt(12),
    )  # fmt: skip
    np.testing.assert_allclose(out[good, RATE], np.asarray(exact[0], float), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("encoder", ENCODERS)
def test_aged_samples_after_gaps(encoder):
    rng = np.random.default_rng(13)
    counts_per_rev, period_s = ENCODERS[encoder]
    elapsed = np.where(rng.random(2000) < 0.1, rng.integers(2, 40, 2000), 1.0)
    now_s = period_s * np.cumsum(elapsed)
    age_s = rng.uniform(0.0, 0.9 * period_s, 2000)
    count = np.rint(motion(now_s - age_s)[0] * counts_per_rev / (2 * np.pi))
    block = EncoderFilter(
        "e", {"position_count": "c"}, {}, counts_per_rev=counts_per_rev, period_s=period_s,
        bandwidth_rad_s=W0,
    )  # fmt: skip
    out = block.run(count, np.ones(2000), elapsed, age_s)
    rad_per_count = 2 * np.pi / counts_per_rev
    exact = exact_rates(
        rad_per_count * count[None], np.diff(now_s - age_s, prepend=0.0)[None], period_s,
        rad_per_count / np.sqrt(12),
    )  # fmt: skip
    # the output is moved on from the time of the sample
    at_sample = out[:, RATE] - age_s * out[:, WRITE_PORTS.index("acceleration_rad_s2")]
    np.testing.assert_allclose(at_sample, np.asarray(exact[0], float), rtol=1e-6, atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("path", sorted(REAL_GAPS.glob("*.csv")), ids=lambda path: path.stem)
@pytest.mark.parametrize("encoder", ["steering_wheel", "4096 counts at 200 us"])
def test_gaps_of_real_runs(path, encoder):
    elapsed, before = [], -1
    for row, periods in np.loadtxt(path, delimiter=",", dtype=int):
        # a filter that has settled has nothing more to show
        elapsed += [1] * min(row - before - 1, 150) + [periods]
        before = row
    elapsed += [1] * 150
    wrong, exact, _ = compare(elapsed, encoder)
    assert_as_good(wrong, exact, elapsed, repeats=False)


@pytest.mark.parametrize("gap", [1e3, 1e4, 1e6, 1e9, 1e300, np.nan, np.inf])
@pytest.mark.parametrize("lost_after_s", [None, 1e6])
def test_after_a_gap_of_any_length_the_filter_finds_the_wheel_again(gap, lost_after_s):
    counts_per_rev, period_s = ENCODERS["steering_wheel"]
    elapsed = np.ones(3000)
    elapsed[1500] = gap
    # where the wheel is after such a time is anyone's guess; here it goes on as if none had passed
    angle, rate = motion(period_s * np.arange(3000))
    block = EncoderFilter(
        "e", {"position_count": "c"}, {}, counts_per_rev=counts_per_rev, period_s=period_s,
        bandwidth_rad_s=W0, counter_span=float(counts_per_rev), lost_after_s=lost_after_s,
    )  # fmt: skip
    count = np.mod(np.rint(angle * counts_per_rev / (2 * np.pi)), counts_per_rev)
    out = block.run(count, np.ones(3000), elapsed)
    assert np.isfinite(out).all()
    assert np.isfinite(block.covariance).all()
    assert np.abs(out[1500 + 400 :, RATE] - rate[1500 + 400 :]).max() < 0.05
    assert out[-1, READY] == 1.0
    if lost_after_s is None:
        assert np.abs(out[1500:, RATE]).max() < 40.0


def test_sample_after_a_gap_with_a_wild_one_in_between_is_no_jump():
    # the wheel turned back in a gap of 40 ms, in which one wrong sample came
    counts_per_rev, period_s = ENCODERS["steering_wheel"]
    n, omega = 4000, 2 * np.pi * 3.0
    elapsed = np.ones(n)
    elapsed[2000:2002] = 100.0
    t_s = period_s * np.cumsum(elapsed)
    count = np.rint(0.8 * np.sin(omega * t_s) * counts_per_rev / (2 * np.pi))
    count[2000] += 0.4 * counts_per_rev
    # with the noise of rounding no gate would let a motion of 3 Hz pass, gap or none
    for gate_nis, noise_rad in ((0.0, None), (25.0, 3e-4)):
        block = EncoderFilter(
            "e", {"position_count": "c"}, {}, counts_per_rev=counts_per_rev, period_s=period_s,
            bandwidth_rad_s=W0, lost_after_s=0.2, gate_nis=gate_nis, noise_rad=noise_rad,
        )  # fmt: skip
        out = block.run(count, np.ones(n), elapsed)
        assert out[2001, WRITE_PORTS.index("rejected")] == 1
        assert out[-1, WRITE_PORTS.index("jumps")] == 0
        wrong = np.abs(out[:, RATE] - 0.8 * omega * np.cos(omega * t_s))
        assert wrong[2300:].max() < 0.2
        trusted = out[:, WRITE_PORTS.index("trusted")] == 1.0
        assert not trusted[2001:2050].any()
        assert wrong[2000:][trusted[2000:]].max() < 0.2


def test_counter_that_wraps_in_a_gap_keeps_its_turns():
    counts_per_rev, period_s = ENCODERS["steering_wheel"]
    elapsed = np.ones(4000)
    elapsed[50::50] = 100.0
    t_s = period_s * np.cumsum(elapsed)
    count = np.rint(12.0 * t_s * counts_per_rev / (2 * np.pi))  # a fifth of a turn in a gap
    runs = [
        EncoderFilter(
            "e", {"position_count": "c"}, {}, counts_per_rev=counts_per_rev, period_s=period_s,
            bandwidth_rad_s=W0, counter_span=span,
        ).run(np.mod(count, span) if span else count, np.ones(4000), elapsed)
        for span in (0.0, float(counts_per_rev))
    ]  # fmt: skip
    np.testing.assert_array_equal(runs[0], runs[1])
    assert runs[0][-1, 0] > 15.0


def test_fixed_gains_are_refused_with_key_value_and_remedy():
    with pytest.raises(ValueError, match=r"gains = 'steady': fixed gains .* leave the key out"):
        EncoderFilter(
            "e", {"position_count": "c"}, {}, counts_per_rev=4096, period_s=1e-3,
            bandwidth_rad_s=W0, gains="steady",
        )  # fmt: skip

import math

import numpy as np
import pytest

from estimators.encoder.filter import READ_PORTS, WRITE_PORTS, EncoderFilter
from estimators.encoder.gains import transition_matrix
from estimators.encoder.settings import MOST_COUNT
from rt_core.block import Block

PERIOD_S = 100e-6
BANDWIDTH = 310.4
CPR = 2**20


def make(reads=("position_count", "valid", "elapsed"), writes=(), **changes):
    config = {"counts_per_rev": CPR, "period_s": PERIOD_S, "bandwidth_rad_s": BANDWIDTH} | changes
    return EncoderFilter(
        "wheel",
        {port: f"in/{port}" for port in reads},
        {port: f"out/{port}" for port in writes},
        **config,
    )


def run(block, count, valid=None, elapsed=None):
    count = np.asarray(count, float)
    valid = np.ones(len(count)) if valid is None else np.asarray(valid, float)
    elapsed = np.ones(len(count)) if elapsed is None else np.asarray(elapsed, float)
    out = block.run(count, valid, elapsed)
    return {port: out[:, i] for i, port in enumerate(WRITE_PORTS)}


def counts(angle_rad, counts_per_rev=CPR):
    return np.rint(angle_rad * counts_per_rev / (2 * np.pi))


def phasor(t, value, omega):
    basis = np.c_[np.sin(omega * t), np.cos(omega * t), np.ones_like(t)]
    s, c, _ = np.linalg.lstsq(basis, value, rcond=None)[0]
    return s + 1j * c


def lags_ms(period_s, bandwidth):
    omega, amplitude = 2 * np.pi * 4.0, 0.5
    t = np.arange(int(3.0 / period_s)) * period_s
    out = run(
        make(period_s=period_s, bandwidth_rad_s=bandwidth), counts(amplitude * np.sin(omega * t))
    )
    settled = t > 0.5
    truth = {"angle_rad": 1.0, "rate_rad_s": 1j * omega, "acceleration_rad_s2": -(omega**2)}
    gains = [
        phasor(t[settled], out[port][settled], omega) / (amplitude * factor)
        for port, factor in truth.items()
    ]
    return [-np.angle(g) / omega * 1e3 for g in gains], [abs(g) for g in gains]


def test_lags_of_a_4_hz_sine_at_100_us_are_the_published_ones():
    (angle, rate, acceleration), ratios = lags_ms(PERIOD_S, BANDWIDTH)
    assert acceleration == pytest.approx(6.4, abs=0.1)
    assert abs(angle) <= 0.1
    assert angle < rate < acceleration
    # closed forms of the same filter
    assert angle == pytest.approx(-0.020, abs=2e-3)
    assert rate == pytest.approx(0.061, abs=2e-3)
    np.testing.assert_allclose(ratios, [1.0001, 1.0128, 1.0000], atol=2e-4)


@pytest.mark.parametrize(("period_s", "lag_ms"), [(200e-6, 7.14), (500e-6, 8.20), (1e-3, 9.01)])
def test_acceleration_lag_grows_with_the_period_at_the_same_noise_density(period_s, lag_ms):
    bandwidth = BANDWIDTH * (PERIOD_S / period_s) ** (1 / 6)
    (_, _, acceleration), _ = lags_ms(period_s, bandwidth)
    assert acceleration == pytest.approx(lag_ms, abs=0.01)


@pytest.mark.parametrize(("counts_per_rev", "noise"), [(2**17, 0.136), (2**20, 0.017)])
def test_quantisation_noise_on_the_acceleration(counts_per_rev, noise):
    # a slow swing crosses many counts, so that the rounding errors spread evenly
    t = np.arange(60_000) * PERIOD_S
    omega = 2 * np.pi * 0.2
    angle = 0.5 * np.sin(omega * t)
    out = run(make(counts_per_rev=counts_per_rev), counts(angle, counts_per_rev))
    settled = t > 0.5
    smooth = np.abs(phasor(t[settled], out["acceleration_rad_s2"][settled], omega))
    assert smooth == pytest.approx(0.5 * omega**2, rel=0.02)
    basis = np.c_[np.sin(omega * t), np.cos(omega * t), np.ones_like(t)][settled]
    acceleration = out["acceleration_rad_s2"][settled]
    residual = acceleration - basis @ np.linalg.lstsq(basis, acceleration, rcond=None)[0]
    # the figure is for ideally white rounding; one trajectory of six seconds comes within 15 %
    assert residual.std() == pytest.approx(noise, rel=0.15)


def test_samples_on_time_end_in_the_steady_gains():
    rng = np.random.default_rng(20)
    count = np.rint(np.cumsum(np.cumsum(rng.normal(0, 0.5, 3000))))
    block = make(max_acceleration_rad_s2=1e9)
    out = run(block, count)
    settled = 1000
    x = np.array([out[port][settled - 1] for port in WRITE_PORTS[:3]])
    for k in range(settled, 3000):
        x = transition_matrix(PERIOD_S) @ x
        x = x + block.gain * (count[k] * 2 * np.pi / CPR - x[0])
        estimate = [out[port][k] for port in WRITE_PORTS[:3]]
        # round-off of two orders of summation, and gains that rest within 1e-12 of the steady ones
        np.testing.assert_allclose(estimate, x, rtol=1e-8, atol=1e-8)


def test_after_a_gap_the_estimate_follows_the_wheel_at_once_and_is_not_ready_meanwhile():
    # the wheel turns back within a gap of 60 ms: prediction goes on in the old direction
    omega, period_s = 2 * np.pi * 3.0, 200e-6
    t = np.arange(10_000) * period_s
    angle = 0.8 * np.sin(omega * t)
    gap = (t > 0.535) & (t < 0.595)
    out = run(make(period_s=period_s, lost_after_s=0.2), counts(angle), valid=~gap)
    after = t >= 0.595
    wrong = np.abs(out["angle_rad"] - angle)
    first = int(np.argmax(after))
    assert wrong[first - 1] > 0.05  # a gap that matters
    assert out["rejected"][-1] == 0
    assert out["jumps"][-1] == 0
    assert np.max(wrong[after & (t > 0.595 + 0.05)]) < 2e-3
    # whoever trusts it only when it is ready never sees the difference
    assert np.max(wrong[after & (out["ready"] == 1.0)]) < 2e-3


def test_step_through_the_capsule_does_what_run_does(step_of):
    block = make(reads=READ_PORTS, writes=WRITE_PORTS)
    n = len(READ_PORTS)
    assert isinstance(block, Block)
    cells = np.zeros(len(READ_PORTS) + len(WRITE_PORTS))
    address = [cells.ctypes.data + 8 * i for i in range(len(cells))]
    block.bind(address[:n], address[n:])
    step = step_of(block)
    t = np.arange(500) * PERIOD_S
    count, expected = counts(0.2 * np.sin(30 * t)), None
    expected = make().run(count, np.ones(500), np.ones(500))
    for k in range(500):
        cells[:n] = count[k], 1.0, 1.0, 0.0
        assert step(k * 100_000) == 0
        np.testing.assert_array_equal(cells[n:], expected[k])


def test_ports_that_are_not_connected_take_their_defaults():
    block = make(reads=("position_count",), writes=("angle_rad",))
    cells = np.array([1000.0, -1.0])
    block.bind([cells.ctypes.data], [cells.ctypes.data + 8])
    assert block.capsule() is not None


def test_first_valid_sample_sets_the_angle_and_leaves_the_rates_at_zero():
    out = run(make(zero_count=100.0), [5000, 5100, 5100], valid=[0, 1, 0])
    assert out["angle_rad"].tolist() == pytest.approx([0.0, *2 * [5000 * 2 * math.pi / CPR]])
    assert not out["rate_rad_s"].any()
    assert not out["acceleration_rad_s2"].any()
    assert out["missed"].tolist() == [1, 0, 1]


def test_ready_comes_when_a_wrong_start_has_died_out():
    # the wheel already turns at the first sample
    t = np.arange(2000) * PERIOD_S
    out = run(make(), counts(3.0 * t))
    first = int(np.argmax(out["ready"]))
    assert 0 < first < 600
    assert out["ready"][first:].all()
    assert np.abs(out["rate_rad_s"][first:] - 3.0).max() < 0.03


def test_wheel_that_spins_fast_at_the_start_is_no_jump():
    t = np.arange(2000) * PERIOD_S
    out = run(make(), counts(40.0 * t))
    assert out["rejected"][-1] == out["jumps"][-1] == 0
    assert out["offset_rad"].max() == 0
    first = int(np.argmax(out["ready"]))
    assert np.abs(out["rate_rad_s"][first:] - 40.0).max() < 0.1


def test_sign_turns_angle_rate_and_acceleration():
    t = np.arange(3000) * PERIOD_S
    count = counts(0.3 * np.sin(20 * t))
    plus, minus = run(make(), count), run(make(sign=-1), count)
    for port in ("angle_rad", "rate_rad_s", "acceleration_rad_s2", "innovation_rad"):
        np.testing.assert_array_equal(plus[port], -minus[port])


def test_wheel_counts_several_turns_over_a_counter_of_one_turn():
    t = np.arange(40_000) * PERIOD_S
    angle = 6 * np.pi * np.sin(0.5 * np.pi * t)
    wrapped = run(make(counter_span=CPR), counts(angle) % CPR)
    plain = run(make(), counts(angle))
    np.testing.assert_allclose(wrapped["angle_rad"], plain["angle_rad"], rtol=0, atol=1e-12)
    assert wrapped["angle_rad"].max() > 18.8
    np.testing.assert_array_equal(wrapped["unwrapped_count"], counts(angle))


def test_counter_just_below_its_span_starts_as_a_small_negative_angle():
    out = run(make(counter_span=152000, counts_per_rev=152000), [151929] * 3)
    assert out["unwrapped_count"][-1] == -71
    assert out["angle_rad"][-1] == pytest.approx(-71 * 2 * math.pi / 152000)


def test_gap_is_predicted_over_the_elapsed_periods():
    t = np.arange(3000) * PERIOD_S
    count = counts(2.0 * t + 5.0 * t**2)
    with_all = run(make(), count)
    keep = np.r_[np.arange(2000), np.arange(2050, 3000)]
    elapsed = np.diff(keep, prepend=keep[0] - 1)
    skipped = run(make(), count[keep], elapsed=elapsed)
    # across 5 ms of constant acceleration the prediction is as good as the filter
    np.testing.assert_allclose(
        skipped["angle_rad"][2000], with_all["angle_rad"][2050], rtol=0, atol=5e-6
    )
    assert skipped["rejected"][-1] == 0


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, 1e300])
def test_count_that_is_no_count_is_no_sample(bad):
    count = np.full(1000, 777.0)
    count[500:520] = bad
    out = run(make(), count)
    assert np.isfinite(np.array(list(out.values()))).all()
    assert out["missed"][519] == 20
    assert out["angle_rad"][-1] == pytest.approx(777 * 2 * math.pi / CPR)


@pytest.mark.parametrize("elapsed", [math.nan, math.inf, 0.0, -3.0])
def test_elapsed_that_makes_no_sense_is_one_period(elapsed):
    t = np.arange(600) * PERIOD_S
    plain = run(make(), counts(3 * t))
    odd = run(make(), counts(3 * t), elapsed=np.full(600, elapsed))
    np.testing.assert_array_equal(plain["angle_rad"], odd["angle_rad"])


def test_estimate_is_given_up_after_a_long_silence_and_starts_anew():
    t = np.arange(3000) * PERIOD_S
    valid = np.ones(3000)
    valid[1000:1300] = 0
    out = run(make(lost_after_s=0.02), counts(4.0 * t), valid)
    assert out["ready"][999] == 1
    assert out["ready"][1200:1300].max() == 0
    assert not out["rate_rad_s"][1201:1300].any()
    np.testing.assert_array_equal(out["angle_rad"][1201:1300], out["angle_rad"][1201])
    assert out["angle_rad"][1300] == pytest.approx(4.0 * t[1300], abs=1e-5)
    assert out["ready"][-1] == 1


def test_single_wild_sample_is_rejected_without_a_trace():
    t = np.arange(4000) * PERIOD_S
    clean = counts(0.5 * np.sin(15 * t))
    wild = clean.copy()
    wild[[2000, 2500]] += CPR / 10
    out, reference = run(make(), wild), run(make(), clean)
    assert out["rejected"][-1] == 2
    assert out["jumps"][-1] == 0
    assert np.abs(out["acceleration_rad_s2"] - reference["acceleration_rad_s2"]).max() < 1.0


def test_lasting_jump_gives_no_kick_and_is_given_back_slowly():
    t = np.arange(80_000) * PERIOD_S
    clean = counts(0.5 * np.sin(3 * t))
    jumped = clean.copy()
    step = -0.018
    jumped[20_000:] += counts(step)
    out, reference = run(make(), jumped), run(make(), clean)
    kick = out["acceleration_rad_s2"] - reference["acceleration_rad_s2"]
    # w^2 step of the critically damped return is 0.07; five predicted samples add little
    assert np.abs(kick).max() < 0.2
    assert (
        np.abs(np.diff(out["angle_rad"])).max()
        < 1.1 * np.abs(np.diff(reference["angle_rad"])).max()
    )
    assert out["jumps"][19_999] == 0
    assert out["jumps"][-1] == 1
    assert out["rejected"][-1] == 5
    assert out["ready"][20_000:].all()
    # after six seconds of w = 2 rad/s: (1 + 12) exp(-12) of the step is left
    assert out["angle_rad"][-1] - reference["angle_rad"][-1] == pytest.approx(step, abs=1e-5)


def test_jump_is_kept_for_ever_when_it_may_not_be_given_back():
    count = np.r_[np.zeros(1000), np.full(4000, 0.05 * CPR)]
    out = run(make(bleed_rad_s=0.0), count)
    assert out["jumps"][-1] == 1
    assert np.abs(out["angle_rad"]).max() < 1e-9


def test_rejected_samples_that_disagree_are_never_believed():
    rng = np.random.default_rng(5)
    count = np.zeros(1150)
    count[1000:] = rng.choice([-1.0, 1.0], 150) * rng.uniform(0.05, 0.4, 150) * CPR
    out = run(make(jump_samples=5), count)
    assert out["jumps"].max() == 0
    assert np.abs(out["angle_rad"]).max() < 1e-9


def test_all_mistakes_of_settings_are_in_one_message():
    with pytest.raises(ValueError, match="encoder filter wheel: ") as caught:
        EncoderFilter(
            "wheel", {"position_count": "a"}, {}, counts_per_rev=-1.0, period_s=math.nan,
            bandwidth_rad_s=300.0, sign=2, counter_span=0.5, jump_samples=0,
        )  # fmt: skip
    for part in ("counts_per_rev = -1.0", "period_s = nan", "sign = 2", "counter_span = 0.5",
                 "jump_samples = 0"):  # fmt: skip
        assert part in str(caught.value)


def test_all_wrong_ports_are_in_one_message():
    with pytest.raises(
        ValueError, match=r"filter wheel: .*position_count is not connected"
    ) as caught:
        EncoderFilter(
            "wheel", {"valid": "a"}, {"speed": "b"}, counts_per_rev=1.0, period_s=1.0,
            bandwidth_rad_s=1.0,
        )  # fmt: skip
    assert "speed" in str(caught.value)


def test_bind_refuses_a_wrong_number_of_addresses():
    with pytest.raises(ValueError, match="2 and 0 addresses"):
        make().bind([8, 8], [])
    with pytest.raises(ValueError, match="address 0"):
        make().bind([8, 0, 8], [])


def test_the_witness_counts_cycles_and_corrections(step_of, work_of):
    reads = {"position_count": "a/count", "valid": "a/valid"}
    block = EncoderFilter(
        "wheel", reads, {}, counts_per_rev=4096.0, period_s=1e-3, bandwidth_rad_s=300.0
    )
    cells = np.array([100.0, 1.0])
    block.bind([cells.ctypes.data + 8 * i for i in range(2)], [])
    step, work = step_of(block), work_of(block)
    for _ in range(10):
        step()
    assert work() == 20
    cells[1] = 0.0
    for _ in range(5):
        step()
    assert work() == 25


@pytest.mark.parametrize(
    ("count", "missed"), [(MOST_COUNT, 0), (np.nextafter(MOST_COUNT, math.inf), 20)]
)
def test_the_largest_count_of_the_settings_is_that_of_the_cycle(count, missed):
    assert run(make(), np.full(20, count))["missed"][-1] == missed

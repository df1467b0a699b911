"""The guard's times are those of the clock: what a skipped period does to ages, holds, buckets and ramps."""

from dataclasses import replace

import numpy as np
import pytest

from rt_core.safety.trips import State, Trip, Tripped, explain_trip

GAP = 30  # periods of 200 us: 6 ms
BAD = 100


def with_gaps(inputs, first, every=1, gap=GAP):
    """Return the period of each cycle where every so many cycles from one on come after a gap."""
    n = len(inputs["arm"])
    elapsed = np.ones(n)
    elapsed[first::every] = gap
    inputs["elapsed"] = elapsed
    return np.cumsum(elapsed).astype(np.int64)


def test_bad_samples_are_bridged_for_a_time_and_not_for_a_number_of_cycles(inputs, run, config):
    # 500 cycles of 200 us are 100 ms; of 6 ms they would be 3 s without an encoder
    wide = replace(config, sensor_hold_ms=100, sensor_bucket_ms=1e6, skip_bucket_ms=1e6, max_gap_ms=7,
                   max_request_age_ms=1e4, heartbeat_timeout_ms=1e4)  # fmt: skip
    periods = with_gaps(inputs, BAD)
    inputs["sensor_valid"][BAD:] = 0
    out = run(inputs, wide, periods)
    tripped = int(np.flatnonzero(out["trip"])[0])
    assert out["trip"][tripped] == Trip.SENSOR_LOST
    held_ms = (periods[tripped] - periods[BAD]) * 0.2
    assert 100 - 6 <= held_ms <= 100 + 6
    assert out["trip_value"][-1] == pytest.approx(0.2 + held_ms)
    assert out["trip_limit"][-1] == 100


def test_a_gap_before_the_first_bad_sample_is_not_counted_as_bad(inputs, run, config):
    # the gap has a limit of its own
    periods = with_gaps(inputs, BAD, every=1000, gap=20)
    inputs["sensor_valid"][BAD : BAD + 4] = 0
    out = run(inputs, replace(config, skip_bucket_ms=20, max_request_age_ms=20), periods)
    assert np.all(out["state"][BAD : BAD + 4] == State.HOLD)
    assert not np.any(out["trip"])


@pytest.mark.parametrize("told_by", ["the clock", "elapsed"])
def test_a_request_ages_with_the_clock_or_with_elapsed_whichever_says_more(
    inputs, run, config, told_by
):
    wide = replace(config, max_gap_ms=100, skip_bucket_ms=1e6, max_request_age_ms=20)
    periods = with_gaps(inputs, BAD)
    if told_by == "the clock":
        inputs["elapsed"][:] = 1
    else:
        periods = np.arange(len(periods))
    inputs["request_cycle"][BAD:] = inputs["request_cycle"][BAD - 1]
    out = run(inputs, wide, periods)
    assert out["trip"][-1] == Trip.REQUEST_STALE
    # 6 ms each: 24 ms after four of them
    assert int(np.flatnonzero(out["trip"])[0]) == BAD + 3
    assert out["trip_value"][-1] >= 24


def test_requests_that_are_no_number_are_bridged_for_a_time(inputs, run, config):
    wide = replace(
        config, max_gap_ms=100, skip_bucket_ms=1e6, max_request_age_ms=1e4, request_hold_ms=12
    )
    periods = with_gaps(inputs, BAD)
    inputs["torque_request_nm"][BAD:] = np.nan
    out = run(inputs, wide, periods)
    assert out["trip"][-1] == Trip.REQUEST_NOT_FINITE
    # 0.2, 6.2, 12.2 ms
    assert int(np.flatnonzero(out["trip"])[0]) == BAD + 2


@pytest.mark.parametrize("limit_ms", [2.0, 2.1, 2.4, 4.0])
def test_the_bucket_of_bad_samples_is_full_when_twice_the_bad_time_is_the_limit(
    inputs, run, config, limit_ms
):
    inputs["sensor_valid"][BAD:] = 0
    out = run(inputs, replace(config, sensor_hold_ms=1e3, sensor_bucket_ms=limit_ms))
    assert out["trip"][-1] == Trip.SENSOR_FLICKERS
    # the n-th bad cycle makes it 2 n periods
    bad_cycles = int(np.flatnonzero(out["trip"])[0]) - BAD + 1
    assert bad_cycles == int(np.ceil(round(limit_ms / 0.4, 9)))


def test_a_good_cycle_takes_one_period_away_and_a_bad_one_adds_two(inputs, run, config):
    # two good ones after each bad one: never full; one good one: +1 each two cycles
    inputs["sensor_valid"][BAD::3] = 0
    assert not np.any(run(inputs)["trip"])
    inputs["sensor_valid"][:] = 1
    inputs["sensor_valid"][BAD::2] = 0
    out = run(inputs)
    # bad ones make 2, 3, 4 … periods: the tenth is the ninth bad one
    assert int(np.flatnonzero(out["trip"])[0]) == BAD + 2 * 8
    assert out["trip"][-1] == Trip.SENSOR_FLICKERS


@pytest.mark.parametrize("gap", [2, 3, 6])
def test_the_bucket_of_skipped_time_counts_time(inputs, run, config, gap):
    wide = replace(config, skip_bucket_ms=4, max_request_age_ms=100)
    periods = with_gaps(inputs, BAD, gap=gap)
    out = run(inputs, wide, periods)
    assert out["trip"][-1] == Trip.OVERRUNS_MANY
    # 20 periods, 2 for each of those skipped
    assert int(np.flatnonzero(out["trip"])[0]) - BAD + 1 == int(np.ceil(20 / (2 * (gap - 1))))


def test_one_gap_within_its_limit_does_not_fill_a_bucket_of_twice_the_limit(inputs, run, config):
    periods = with_gaps(inputs, BAD, every=1000, gap=25)
    out = run(inputs, replace(config, skip_bucket_ms=10, max_request_age_ms=100), periods)
    assert not np.any(out["trip"])
    periods = with_gaps(inputs, BAD, every=1000, gap=26)
    out = run(inputs, replace(config, skip_bucket_ms=11, max_request_age_ms=100), periods)
    assert out["trip"][-1] == Trip.TIME_GAP
    assert out["trip_value"][-1] == pytest.approx(5.2)


def test_the_first_output_after_a_gap_steps_no_further_than_any(inputs, run, config):
    periods = with_gaps(inputs, BAD, every=1000, gap=20)
    inputs["torque_request_nm"][BAD:] = -5
    out = run(inputs, replace(config, skip_bucket_ms=20, rate_nm_s=1000), periods)
    assert out["torque_nm"][BAD - 1] == 5
    assert out["torque_nm"][BAD] == pytest.approx(4.8, abs=1e-12)


def test_a_gap_shortens_the_ramp_out_and_not_the_ramp_in(inputs, run, config):
    periods = with_gaps(inputs, BAD + 2, gap=4)
    inputs["arm"][BAD:] = 0
    wide = replace(config, skip_bucket_ms=1e6)
    out = run(inputs, wide, periods)
    # a tenth a period: two by one, then by four
    assert np.allclose(out["ramp"][BAD - 1 : BAD + 4], [1, 0.9, 0.8, 0.4, 0], atol=1e-12)
    assert out["torque_nm"][BAD + 3] == 0
    assert out["state"][BAD + 3] == State.INIT
    # the gap before the stop is none of its ramp
    periods = with_gaps(inputs, BAD, every=1000, gap=20)
    out = run(inputs, wide, periods)
    assert out["ramp"][BAD] == pytest.approx(0.9)
    inputs["arm"][:] = np.arange(len(periods)) > 10
    periods = with_gaps(inputs, 14, every=1000, gap=20)
    out = run(inputs, wide, periods)
    assert np.allclose(out["ramp"][11:16], [0.1, 0.2, 0.3, 0.4, 0.5], atol=1e-12)


def test_a_held_output_does_not_follow_the_request(inputs, run, config):
    """In HOLD it is the last good request, whatever the mirrors bring meanwhile."""
    inputs["torque_request_nm"][BAD:] = 5 - 0.3 * np.arange(len(inputs["arm"]) - BAD)
    inputs["sensor_valid"][BAD + 10 : BAD + 15] = 0
    out = run(inputs, replace(config, sensor_bucket_ms=100))
    assert np.all(out["state"][BAD + 10 : BAD + 15] == State.HOLD)
    asked = np.clip(inputs["torque_request_nm"], -10, 10)
    assert np.array_equal(out["torque_nm"][BAD : BAD + 10], asked[BAD : BAD + 10])
    assert np.all(out["torque_nm"][BAD + 10 : BAD + 15] == asked[BAD + 9])
    assert np.array_equal(out["torque_nm"][BAD + 20 : BAD + 30], asked[BAD + 20 : BAD + 30])
    assert not np.any(out["trip"])


def test_a_trip_is_one_sentence_with_value_limit_time_and_remedy(inputs, run, config):
    inputs["rate_rad_s"][BAD:] = 41.5
    out = run(inputs)
    numbers = (out[p][-1] for p in ("trip_value", "trip_limit", "trip_cycle"))
    tripped = Tripped(Trip(int(out["trip"][-1])), *numbers, at_s=0.02)
    words = explain_trip(tripped, {"rate_rad_s": "wheel/rate_rad_s"})
    assert words == (
        "guard: wheel/rate_rad_s: too fast: 41.5 rad/s, limit blocks.guard.max_rate_rad_s = 40, "
        "at cycle 101 (0.020 s) (RAMP); turn more slowly, or raise the limit"
    )


def test_the_fault_of_the_task_is_kept_with_the_trip(inputs, run):
    inputs["own_fault"][BAD] = 6
    inputs["own_block"][BAD] = 1
    inputs["actuator_ready"][BAD] = 0
    inputs["delivered"][BAD] = 0.5
    out = run(inputs)
    kept = [out[port][-1] for port in ("trip", "trip_fault", "trip_block", "trip_delivered")]
    assert kept == [Trip.ACTUATOR_LOST, 6, 1, 0]
    inputs["actuator_ready"][:] = inputs["delivered"][:] = 1
    inputs["own_fault"][:] = inputs["own_block"][:] = 0
    inputs["request_fault"][BAD], inputs["request_block"][BAD] = 3, 2
    out = run(inputs)
    kept = [out[port][-1] for port in ("trip", "trip_fault", "trip_block", "trip_delivered")]
    assert kept == [Trip.REQUEST_FAULT, 3, 2, 1]


def test_the_time_before_the_first_cycle_is_no_gap(inputs, run):
    out = run(inputs, periods=np.arange(300) + 50_000)
    assert out["state"][0] == State.READY
    assert out["state"][-1] == State.RUNNING


def test_a_full_bucket_is_empty_again_soon_however_long_it_was_filled(inputs, run):
    # never more than two periods over its limit
    inputs["sensor_valid"][BAD : BAD + 100] = 0
    out = run(inputs)
    waits = out["waits_for"][BAD + 99 : BAD + 104]
    assert list(waits) == [Trip.SENSOR_LOST, *2 * [Trip.SENSOR_FLICKERS], 0, 0]


@pytest.mark.parametrize(
    ("limit", "port", "bad", "trip", "cycles"),
    [
        ("max_request_age_ms", "request_cycle", 7.0, Trip.REQUEST_STALE, 2),
        ("sensor_bucket_ms", "sensor_valid", 0.0, Trip.SENSOR_FLICKERS, 1),
        ("skip_bucket_ms", "elapsed", 2.0, Trip.OVERRUNS_MANY, 1),
    ],
)
def test_a_limit_below_what_one_period_brings_is_that(
    inputs, run, config, limit, port, bad, trip, cycles
):
    inputs["request_cycle"] = inputs["own_cycle"].copy()
    limit_ms = 0.0 if limit.endswith("bucket_ms") else 1e-3
    config = replace(config, **{limit: limit_ms, "sensor_hold_ms": 1e3})
    assert not np.any(run(inputs, config)["trip"])
    inputs[port][BAD:] = bad
    out = run(inputs, config)
    tripped = int(np.flatnonzero(out["trip"])[0])
    assert out["trip"][tripped] == trip
    # a counter changes once more when it stops at another value
    assert tripped - BAD == cycles + (port == "request_cycle") - 1


def test_a_largest_gap_below_a_period_is_a_period(inputs, run, config):
    assert not np.any(run(inputs, replace(config, max_gap_ms=1e-3))["trip"])


def test_ramps_of_no_time_are_one_step_and_shorter_ones_than_a_period_too(inputs, run, config):
    inputs["arm"][BAD:] = 0
    for time_s in (0.0, 1e-6):
        out = run(inputs, replace(config, ramp_in_s=time_s, ramp_out_s=time_s, rate_nm_s=1e6))
        assert list(out["ramp"][9:12]) == [0, 1, 1]
        assert list(out["torque_nm"][9:12]) == [0, 5, 5]
        assert list(out["ramp"][BAD - 1 : BAD + 1]) == [1, 0]
        assert list(out["torque_nm"][BAD - 1 : BAD + 1]) == [5, 0]
        assert out["state"][BAD] == State.INIT

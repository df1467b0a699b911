"""The guard's trips, one by one: what trips, when, with which words, and how to arm again."""

import math
from dataclasses import replace

import numpy as np
import pytest

from rt_core.guard import READS, Guard
from rt_core.safety import TRIPS, GuardConfig, Reaction, State, Trip, explain_trip

PERIOD_NS = 200_000
DT = PERIOD_NS * 1e-9
PATHS = {port: f"in/{port}" for port in READS}
BAD = 100  # first bad cycle


def test_an_armed_guard_ramps_in_and_follows_the_request(inputs, run):
    out = run(inputs)
    assert out["state"][9] == State.READY
    assert np.allclose(np.diff(out["torque_nm"][9:20]), 0.5, atol=1e-12)
    assert np.all(out["torque_nm"][20:] == 5)
    assert np.all(out["state"][10:] == State.RUNNING)
    assert not np.any(out["trip"])


def test_the_request_is_clamped_and_its_slope_limited(inputs, run):
    inputs["torque_request_nm"][BAD:] = -1e6
    torque = run(inputs)["torque_nm"]
    assert np.allclose(np.diff(torque[BAD - 1 : BAD + 7]), -2, atol=1e-12)
    assert torque[-1] == -10


def test_the_gain_comes_before_the_clamp_and_counts_as_saturated(inputs, run, config):
    inputs["torque_request_nm"][:] = 5
    out = run(inputs, replace(config, request_gain=0.5))
    assert out["torque_nm"][BAD - 1] == 2.5 * config.request_sign
    assert out["saturated_ms"][-1] == 0
    inputs["torque_request_nm"][BAD:] = 3 * config.limit_nm
    out = run(inputs, replace(config, request_gain=0.5))
    assert abs(out["torque_nm"][-1]) == config.limit_nm
    assert out["saturated_ms"][-1] > 0
    assert replace(config, request_gain=0.0).mistakes()


def test_an_arm_that_was_high_from_the_start_is_no_edge(inputs, run):
    inputs["arm"][:] = 1
    out = run(inputs)
    assert np.all(out["torque_nm"] == 0)
    assert out["state"][-1] == State.READY


@pytest.mark.parametrize(("port", "value"), [("arm", 0), ("stop", 1), ("own_stop", 1)])
def test_disarming_and_stopping_ramp_out_without_a_trip(inputs, run, port, value):
    inputs[port][BAD:] = value
    out = run(inputs)
    assert out["state"][BAD] == State.STOPPING
    assert np.allclose(np.diff(out["torque_nm"][BAD - 1 : BAD + 10]), -0.5, atol=1e-12)
    assert out["torque_nm"][BAD + 10] == 0
    assert out["safe"][-1] == 1
    assert not np.any(out["trip"])


# port, its bad value, the trip, cycles from the first bad one to the reaction
# (a counter that stands still changed once more in its first bad cycle)
TRIPPING = [
    ("actuator_ready", 0, Trip.ACTUATOR_LOST, 0),
    ("own_fault", 7, Trip.OWN_FAULT, 0),
    ("request_fault", -3, Trip.REQUEST_FAULT, 0),
    ("request_cycle", 5, Trip.REQUEST_STALE, 16),
    ("torque_request_nm", math.nan, Trip.REQUEST_NOT_FINITE, 3),
    ("sensor_valid", 0, Trip.SENSOR_LOST, 5),
    ("angle_rad", -8.1, Trip.ANGLE_LIMIT, 0),
    ("rate_rad_s", 41.2, Trip.RATE_LIMIT, 0),
    ("elapsed", 26, Trip.TIME_GAP, 0),
    ("elapsed", 2, Trip.OVERRUNS_MANY, 4),
    ("heartbeat", 50, Trip.HEARTBEAT_LOST, 21),
]


@pytest.mark.parametrize(("port", "value", "trip", "delay"), TRIPPING)
def test_each_trip_is_found_named_and_ends_at_zero(inputs, run, config, port, value, trip, delay):
    # a flag that goes bad for good; for SENSOR_LOST the bucket (limit 10) must not come first
    if trip == Trip.SENSOR_LOST:
        config = replace(config, sensor_bucket_ms=20)
    inputs[port][BAD:] = value
    out = run(inputs, config)
    first = int(np.flatnonzero(out["trip"])[0])
    assert out["trip"][first] == trip
    assert first - BAD == delay
    assert out["trip_cycle"][-1] == first + 1
    zero = first if TRIPS[trip].reaction == Reaction.SAFE else first + config.cycles_to_zero(DT)
    assert np.all(out["torque_nm"][zero:] == 0)
    assert out["state"][-1] == State.FAULT
    words = explain_trip(
        *(out[p][-1] for p in ("trip", "trip_value", "trip_limit", "trip_cycle")), PATHS
    )
    assert f"in/{port}" in words
    assert f"at cycle {first + 1}" in words
    assert TRIPS[trip].limit in words


def test_flickering_samples_trip_though_each_gap_is_bridged(inputs, run):
    inputs["sensor_valid"][BAD::2] = 0
    out = run(inputs)
    assert out["trip"][-1] == Trip.SENSOR_FLICKERS
    assert State.HOLD in out["state"]


def test_a_short_gap_is_held_with_the_last_good_request(inputs, run):
    inputs["torque_request_nm"][BAD:] = 7
    inputs["torque_request_nm"][BAD : BAD + 3] = math.nan
    out = run(inputs)
    assert np.all(out["state"][BAD : BAD + 3] == State.HOLD)
    assert np.all(out["torque_nm"][BAD : BAD + 3] == 5)
    assert out["torque_nm"][BAD + 3] == 7
    assert not np.any(out["trip"])


def test_a_single_skip_is_only_counted(inputs, run):
    inputs["elapsed"][BAD] = 3
    assert np.all(run(inputs)["state"][10:] == State.RUNNING)


def test_the_first_cause_is_kept_when_others_follow(inputs, run):
    inputs["rate_rad_s"][BAD:] = 41
    inputs["own_fault"][BAD + 2 :] = 9
    out = run(inputs)
    assert out["trip"][-1] == Trip.RATE_LIMIT
    assert out["trip_value"][-1] == 41


def test_a_fault_is_latched_until_arm_went_low_and_rose_with_everything_good(inputs, run):
    inputs["rate_rad_s"][BAD : BAD + 5] = 99
    out = run(inputs)
    assert np.all(out["state"][BAD + 30 :] == State.FAULT)
    inputs["arm"][150:200] = 0
    out = run(inputs)
    assert out["state"][149] == State.FAULT
    assert out["state"][150] == State.READY
    assert out["trip"][199] == Trip.RATE_LIMIT
    assert out["state"][200] == State.RUNNING
    assert out["trip"][200] == Trip.NO_TRIP
    assert out["torque_nm"][-1] == 5
    # not while anything is wrong
    inputs["actuator_ready"][150:] = 0
    out = run(inputs)
    assert out["state"][-1] == State.FAULT
    assert out["waits_for"][-1] == Trip.ACTUATOR_LOST
    assert np.all(out["torque_nm"][BAD + 30 :] == 0)


def test_an_unfit_guard_says_what_it_waits_for(inputs, run):
    inputs["actuator_ready"][:] = 0
    out = run(inputs)
    assert out["state"][-1] == State.INIT
    assert out["waits_for"][-1] == Trip.ACTUATOR_LOST


def test_every_trip_has_words():
    assert set(TRIPS) == set(Trip) - {Trip.NO_TRIP}
    for kind in TRIPS.values():
        assert kind.port in READS


def test_all_bad_limits_and_ports_are_told_at_once():
    config = GuardConfig(
        limit_nm=math.nan, rate_nm_s=0, max_angle_rad=-1, max_rate_rad_s="x", sensor_hold_ms=-2.5
    )
    reads = {port: path for port, path in PATHS.items() if port != "arm"} | {"amr": "a/b"}
    with pytest.raises(ValueError, match="limit_nm = nan") as caught:
        Guard(config, period_ns=PERIOD_NS, reads=reads)
    for word in (
        "rate_nm_s",
        "max_angle_rad",
        "max_rate_rad_s = 'x'",
        "sensor_hold_ms = -2.5",
        "lacks",
        "arm",
        "amr",
    ):
        assert word in str(caught.value)


def test_request_sign_turns_the_output_and_nothing_else(inputs, run, config):
    as_asked = run(inputs)
    turned = run(inputs, replace(config, request_sign=-1))
    assert turned["torque_nm"][-1] == -5
    np.testing.assert_array_equal(turned["torque_nm"], -as_asked["torque_nm"])
    np.testing.assert_array_equal(turned["state"], as_asked["state"])


@pytest.mark.parametrize("sign", [0, 2, -0.5, math.nan])
def test_request_sign_is_plus_or_minus_one(config, sign):
    assert any("request_sign" in line for line in replace(config, request_sign=sign).mistakes())

"""The guard's trips, one by one: what trips, when, with which words, and how to arm again."""

import math
from dataclasses import replace

import numpy as np
import pytest

from rt_core.loop.offline import Offline
from rt_core.plan import Task, plan_table
from rt_core.safety.guard import READS, WRITES, Guard
from rt_core.safety.trips import TRIPS, GuardConfig, Reaction, State, Trip, Tripped, explain_trip
from rt_core.settings import SettingsError

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


@pytest.mark.parametrize(("request_nm", "end_nm"), [(-1e6, -10), (-5, -5)])
def test_the_request_is_clamped_and_its_slope_limited(inputs, run, request_nm, end_nm):
    inputs["torque_request_nm"][BAD:] = request_nm
    torque = run(inputs)["torque_nm"]
    expected = np.maximum(5 - 2 * np.arange(9.0), end_nm)
    assert np.allclose(torque[BAD - 1 : BAD + 8], expected, atol=1e-12)
    assert torque[-1] == end_nm


def test_the_gain_comes_before_the_clamp_and_counts_as_saturated(inputs, run, config):
    inputs["torque_request_nm"][:] = 5
    out = run(inputs, replace(config, request_gain=0.5))
    assert out["torque_nm"][BAD - 1] == 2.5 * config.request_sign
    assert out["saturated_ms"][-1] == 0
    inputs["torque_request_nm"][BAD:] = 3 * config.limit_nm
    out = run(inputs, replace(config, request_gain=0.5))
    assert abs(out["torque_nm"][-1]) == config.limit_nm
    assert out["saturated_ms"][-1] > 0
    with pytest.raises(SettingsError, match=r"request_gain = 0\.0: input should be"):
        replace(config, request_gain=0.0)


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


# port, its bad value, the trip, cycles from the first bad one to the reaction, the value and the limit that it names
# (a counter that stands still changed once more in its first bad cycle)
TRIPPING = [
    ("actuator_ready", 0, Trip.ACTUATOR_LOST, 0, 0, 1),
    ("own_fault", 7, Trip.OWN_FAULT, 0, 7, 0),
    ("request_fault", -3, Trip.REQUEST_FAULT, 0, -3, 0),
    ("request_cycle", 5, Trip.REQUEST_STALE, 16, 3.2, 3),
    ("torque_request_nm", math.nan, Trip.REQUEST_NOT_FINITE, 3, 0.8, 0.6),
    ("sensor_valid", 0, Trip.SENSOR_LOST, 5, 1.2, 1),
    ("angle_rad", -8.1, Trip.ANGLE_LIMIT, 0, -8.1, 8),
    ("rate_rad_s", 41.2, Trip.RATE_LIMIT, 0, 41.2, 40),
    ("elapsed", 26, Trip.TIME_GAP, 0, 5.2, 5),
    ("elapsed", math.nan, Trip.TIME_GAP, 0, 1e9, 5),
    ("elapsed", math.inf, Trip.TIME_GAP, 0, 1e9, 5),
    ("elapsed", 1e19, Trip.TIME_GAP, 0, 1e9, 5),
    ("elapsed", 2, Trip.OVERRUNS_MANY, 4, 2, 2),
    ("heartbeat", 50, Trip.HEARTBEAT_LOST, 21, 4.2, 4),
]


@pytest.mark.parametrize(("port", "bad", "trip", "delay", "value", "limit"), TRIPPING)
def test_each_trip_is_found_named_and_ends_at_zero(
    inputs, run, config, port, bad, trip, delay, value, limit
):
    # a flag that goes bad for good; for SENSOR_LOST the bucket (limit 10) must not come first
    if trip == Trip.SENSOR_LOST:
        config = replace(config, sensor_bucket_ms=20)
    inputs[port][BAD:] = bad
    out = run(inputs, config)
    first = int(np.flatnonzero(out["trip"])[0])
    assert out["trip"][first] == trip
    assert first - BAD == delay
    assert out["trip_cycle"][-1] == first + 1
    assert out["trip_value"][-1] == pytest.approx(value)
    assert out["trip_limit"][-1] == pytest.approx(limit)
    zero = first if TRIPS[trip].reaction == Reaction.SAFE else first + config.cycles_to_zero(DT)
    assert np.all(out["torque_nm"][zero:] == 0)
    assert out["state"][-1] == State.FAULT
    numbers = (out[p][-1] for p in ("trip_value", "trip_limit", "trip_cycle"))
    words = explain_trip(Tripped(trip, *numbers), PATHS)
    assert f"in/{port}" in words
    assert f"at cycle {first + 1}" in words
    assert TRIPS[trip].limit in words


@pytest.mark.parametrize(("port", "limit"), [("angle_rad", 8), ("rate_rad_s", -40)])
def test_a_sample_at_its_limit_is_within_it(inputs, run, port, limit):
    inputs[port][BAD:] = limit
    out = run(inputs)
    assert not np.any(out["trip"])
    inputs[port][BAD:] = np.nextafter(limit, 2 * limit)
    assert np.all(run(inputs)["trip"][BAD:] > 0)


@pytest.mark.parametrize(
    ("port", "state"),
    [
        ("sensor_valid", State.HOLD),
        ("actuator_ready", State.FAULT),
        ("arm", State.STOPPING),
        ("stop", State.STOPPING),
        ("own_stop", State.STOPPING),
    ],
)
def test_a_flag_halfway_counts_as_the_worse_of_the_two(inputs, run, port, state):
    inputs[port][BAD] = 0.5
    out = run(inputs)
    assert (out["state"][BAD - 1], out["state"][BAD]) == (State.RUNNING, state)


def test_the_output_is_said_to_be_safe_where_it_rests_and_nowhere_else(inputs, run):
    inputs["actuator_ready"][:5] = 0
    inputs["sensor_valid"][BAD] = 0
    inputs["arm"][120:150] = 0
    inputs["rate_rad_s"][200:] = 99
    out = run(inputs)
    assert set(out["state"]) == set(State)
    at_rest = np.isin(out["state"], [State.INIT, State.READY, State.FAULT])
    assert np.array_equal(out["safe"], at_rest)
    # an armed guard waits for nothing, nor does one that is ready, and a latched one says why
    waiting = np.isin(out["state"], [State.INIT, State.FAULT])
    assert np.all(out["waits_for"][~waiting] == 0)
    assert np.all(out["waits_for"][:5] == Trip.ACTUATOR_LOST)
    assert np.all(out["waits_for"][out["state"] == State.FAULT] == Trip.RATE_LIMIT)


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


@pytest.mark.parametrize("port", ["sensor_valid", "torque_request_nm"])
@pytest.mark.parametrize("request_nm", [5, -9])
def test_without_a_good_sample_the_torque_does_not_grow(inputs, run, config, port, request_nm):
    """Neither by the ramp in, which is under way, nor by the slope towards a request of before."""
    bad = 14 if request_nm > 0 else BAD + 2
    inputs["torque_request_nm"][BAD:] = request_nm
    inputs[port][bad : bad + 3] = 0 if port == "sensor_valid" else math.nan
    out = run(inputs, replace(config, rate_nm_s=config.rate_nm_s if request_nm > 0 else 5e3))
    torque = out["torque_nm"]
    assert np.all(out["state"][bad : bad + 3] == State.HOLD)
    assert torque[bad - 1] != 0
    assert np.all(np.abs(torque[bad : bad + 3]) <= abs(torque[bad - 1]))
    # a slope that leads down goes on
    if request_nm < 0:
        assert torque[bad] < torque[bad - 1]
    assert torque[-1] == request_nm


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
    assert [out[port][200] for port in ("trip", "trip_value", "trip_limit")] == [0, 0, 0]
    assert out["torque_nm"][-1] == 5
    # not while anything is wrong
    inputs["actuator_ready"][150:] = 0
    out = run(inputs)
    assert out["state"][-1] == State.FAULT
    assert out["waits_for"][-1] == Trip.ACTUATOR_LOST
    assert np.all(out["torque_nm"][BAD + 30 :] == 0)


# dropped at once, and ramped out
@pytest.mark.parametrize(("port", "bad_cycles"), [("actuator_ready", 5), ("sensor_valid", 20)])
def test_a_guard_that_is_armed_again_ramps_in_from_zero_to_the_request_of_now(
    inputs, run, port, bad_cycles
):
    inputs[port][BAD : BAD + bad_cycles] = 0
    inputs["arm"][150:200] = 0
    inputs["torque_request_nm"][180:] = -5
    out = run(inputs)
    assert out["trip"][150] > 0
    assert np.all(out["ramp"][150:200] == 0)
    assert np.allclose(out["ramp"][200:203], [0.1, 0.2, 0.3], atol=1e-12)
    assert np.allclose(out["torque_nm"][199:203], [0, -0.5, -1, -1.5], atol=1e-12)


def test_an_unfit_guard_says_what_it_waits_for(inputs, run):
    inputs["actuator_ready"][:] = 0
    out = run(inputs)
    assert out["state"][-1] == State.INIT
    assert out["waits_for"][-1] == Trip.ACTUATOR_LOST


@pytest.mark.parametrize(
    ("port", "trip"),
    [("request_cycle", Trip.REQUEST_STALE), ("heartbeat", Trip.HEARTBEAT_LOST)],
)
def test_a_side_that_never_showed_life_is_not_waited_for_in_vain(inputs, run, port, trip):
    inputs[port][:] = 0
    out = run(inputs)
    assert np.all(out["state"] == State.INIT)
    assert np.all(out["waits_for"] == trip)


def test_every_trip_has_words():
    assert set(TRIPS) == set(Trip) - {Trip.NO_TRIP}
    for kind in TRIPS.values():
        assert kind.port in (*READS, "")  # the ports of other guards have their names


def test_all_bad_limits_are_told_at_once():
    with pytest.raises(SettingsError, match="limit_nm = nan") as caught:
        GuardConfig(
            limit_nm=math.nan,
            rate_nm_s=0,
            max_angle_rad=-1,
            max_rate_rad_s="x",
            sensor_hold_ms=-2.5,
        )
    for word in ("rate_nm_s = 0", "max_angle_rad", "max_rate_rad_s = 'x'", "sensor_hold_ms = -2.5"):
        assert word in str(caught.value)


def test_all_wrong_ports_are_told_at_once(config):
    reads = {port: path for port, path in PATHS.items() if port != "arm"} | {"amr": "a/b"}
    with pytest.raises(ValueError, match=r"lacks the port.s. arm\n.* amr$"):
        Guard(config, period_ns=0, reads=reads)


def test_request_sign_turns_the_output_and_nothing_else(inputs, run, config):
    as_asked = run(inputs)
    turned = run(inputs, replace(config, request_sign=-1))
    assert turned["torque_nm"][-1] == -5
    np.testing.assert_array_equal(turned["torque_nm"], -as_asked["torque_nm"])
    np.testing.assert_array_equal(turned["state"], as_asked["state"])


@pytest.mark.parametrize("sign", [0, 2, -0.5, math.nan])
def test_request_sign_is_plus_or_minus_one(config, sign):
    with pytest.raises(SettingsError, match="request_sign"):
        replace(config, request_sign=sign)


@pytest.mark.parametrize("period_ns", [0, -1])
def test_a_period_is_above_zero(config, period_ns):
    with pytest.raises(ValueError, match=f"period_ns = {period_ns} must be above 0"):
        Guard(config, period_ns=period_ns, reads=PATHS)
    assert Guard(config, period_ns=1, reads=PATHS).name == "guard"


def test_signals_are_wired_as_given_and_named_after_the_block(config):
    guard = Guard(config, period_ns=PERIOD_NS, reads=PATHS, writes={"safe": "a/b"}, name="brake")
    assert guard.reads == PATHS
    assert guard.writes["safe"] == "a/b"
    assert guard.writes["trip"] == "brake/trip"
    assert list(guard.writes) == list(WRITES)
    assert guard.config is config
    for fewer_reads, fewer_writes in ((1, 0), (0, 1)):
        with pytest.raises(ValueError, match="zip"):
            guard.bind([0] * (len(PATHS) - fewer_reads), [0] * (len(WRITES) - fewer_writes))
    with pytest.raises(ValueError, match=r"brake: writes has unknown port\(s\) saef$"):
        Guard(config, period_ns=PERIOD_NS, reads=PATHS, writes={"saef": "a/b"}, name="brake")


def test_no_step_of_the_guard_is_a_fault_of_its_task(config, step_of):
    guard = Guard(config, period_ns=PERIOD_NS, reads=PATHS)
    task = Task("fast", [guard], PERIOD_NS, inputs=tuple(PATHS.values()))
    offline = Offline(plan_table([task]))
    zeros = {path: np.zeros(1) for path in PATHS.values()}
    offline.run("fast", np.zeros(1, np.int64), forced=zeros)
    assert step_of(guard)(PERIOD_NS) == 0

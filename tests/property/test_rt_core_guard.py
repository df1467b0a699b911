"""The guard's laws, for any input at all: the real block, stepped offline over random histories."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rt_core.loop.offline import Offline
from rt_core.plan import Task, plan_table
from rt_core.safety.guard import READS, Guard
from rt_core.safety.trips import TRIPS, GuardConfig, Reaction, State, Trip

PERIOD_NS = 200_000
DT = PERIOD_NS * 1e-9
PATHS = {port: f"in/{port}" for port in READS}

ANYTHING = st.one_of(
    st.sampled_from([math.nan, math.inf, -math.inf, 0.0, 1.0, -1.0, 1e308, 5e-324]),
    st.floats(-50, 50),
)

CONFIGS = st.builds(
    GuardConfig,
    limit_nm=st.floats(0.1, 30),
    rate_nm_s=st.floats(50, 1e5),
    max_angle_rad=st.just(10.0),
    max_rate_rad_s=st.just(40.0),
    ramp_in_s=st.sampled_from([0.0, 0.001, 0.01]),
    ramp_out_s=st.sampled_from([0.0, 0.001, 0.02]),
    max_request_age_ms=st.floats(0.2, 4),
    request_hold_ms=st.floats(0, 1),
    sensor_hold_ms=st.floats(0, 1),
    max_gap_ms=st.sampled_from([1.0, 5.0, 1e6]),
    sensor_bucket_ms=st.floats(0, 3),
    skip_bucket_ms=st.sampled_from([0.5, 2.0, 1e6]),
    heartbeat_timeout_ms=st.sampled_from([1.0, 10.0, 1e6]),
)


def good_inputs(n):
    """Inputs of a healthy rig that is armed in cycle 3 and asks for 5 Nm."""
    cycle = np.arange(1.0, n + 1)
    zeros, ones = np.zeros(n), np.ones(n)
    return {
        "torque_request_nm": 5 * ones,
        "request_cycle": np.floor(cycle / 5) + 1,
        "request_fault": zeros,
        "own_fault": zeros,
        "own_cycle": cycle,
        "elapsed": ones,
        "sensor_valid": ones,
        "angle_rad": zeros,
        "rate_rad_s": zeros,
        "actuator_ready": ones,
        "heartbeat": cycle,
        "arm": (cycle > 3).astype(float),
        "stop": zeros,
        "own_stop": zeros,
        "own_block": zeros,
        "request_block": zeros,
        "delivered": ones,
    }


def run(config, inputs, periods=None):
    n = len(inputs["arm"])
    periods = np.arange(n) if periods is None else periods
    guard = Guard(config, period_ns=PERIOD_NS, reads=PATHS)
    task = Task("fast", [guard], PERIOD_NS, inputs=tuple(PATHS.values()))
    offline = Offline(plan_table([task]))
    forced = {PATHS[port]: column for port, column in inputs.items()}
    image = offline.run("fast", PERIOD_NS * periods, forced=forced)["fast"]
    paths = offline.paths("fast")
    return {port: image[:, paths.index(path)] for port, path in guard.writes.items()}


@st.composite
def histories(draw):
    """A healthy history with stretches of anything written over any of its inputs."""
    n = draw(st.integers(30, 200))
    inputs = {port: np.array(column) for port, column in good_inputs(n).items()}
    for _ in range(draw(st.integers(0, 6))):
        port = draw(st.sampled_from(READS))
        begin = draw(st.integers(0, n - 1))
        values = draw(st.lists(ANYTHING, min_size=1, max_size=40))[: n - begin]
        inputs[port][begin : begin + len(values)] = values
    return inputs


@st.composite
def clocks(draw, n):
    """Number of the period of each cycle: mostly the next one, with gaps of any length."""
    gaps = draw(st.lists(st.tuples(st.integers(1, n - 1), st.integers(2, 10**9)), max_size=8))
    steps = np.ones(n, np.int64)
    for at, gap in gaps:
        steps[at] = gap
    return np.cumsum(steps) - 1


@settings(deadline=None, max_examples=150)
@given(CONFIGS, histories(), st.data())
@pytest.mark.slow
def test_output_laws_hold_for_any_input(config, inputs, data):
    out = run(config, inputs, data.draw(clocks(len(inputs["arm"]))))
    torque, state = out["torque_nm"], out["state"]
    assert np.all(np.isfinite(torque))
    assert np.all(np.abs(torque) <= config.limit_nm)
    # zero where nothing is driven, and nowhere is the output not safe while it says so
    at_rest = np.isin(state, [State.INIT, State.READY, State.FAULT])
    assert np.all(torque[at_rest] == 0)
    assert np.array_equal(out["safe"] == 1, at_rest)
    # rate limit, to one ulp of the limit; the drop to zero of a SAFE trip is the one exception
    step = np.abs(np.diff(torque, prepend=0.0))
    lost = ~(inputs["actuator_ready"] > 0.5)
    allowed = config.rate_nm_s * DT + np.spacing(config.limit_nm)
    assert np.all((step <= allowed) | (lost & (torque == 0)))


@settings(deadline=None, max_examples=150)
@given(CONFIGS, histories(), st.data())
@pytest.mark.slow
def test_every_ramp_out_ends_at_zero_in_the_stated_cycles(config, inputs, data):
    periods = data.draw(clocks(len(inputs["arm"])))
    out = run(config, inputs, periods)
    longest = current = 0
    for state in out["state"]:
        current = current + 1 if state == State.STOPPING else 0
        longest = max(longest, current)
    assert longest <= config.cycles_to_zero(DT)
    # in time: what is stated, and what was skipped meanwhile
    stops = np.flatnonzero(np.diff(out["state"] == State.STOPPING, prepend=False, append=False))
    for begin, end in stops.reshape(-1, 2):
        last = min(end, len(periods) - 1)
        skipped = (periods[last] - periods[begin]) - (last - begin)
        assert periods[last] - periods[begin] <= config.cycles_to_zero(DT) + skipped


@settings(deadline=None, max_examples=150)
@given(CONFIGS, histories())
@pytest.mark.slow
def test_nothing_is_driven_without_a_rising_edge_of_arm(config, inputs):
    out = run(config, inputs)
    active = np.isin(out["state"], [State.RUNNING, State.HOLD, State.STOPPING])
    begins = np.flatnonzero(active & ~np.concatenate(([False], active[:-1])))
    arm = inputs["arm"] > 0.5
    for i in begins:
        assert arm[i]
        assert i > 0
        assert not arm[i - 1]


@pytest.mark.slow
@settings(deadline=None)
@given(CONFIGS, histories())
def test_a_fault_always_names_its_trip(config, inputs):
    out = run(config, inputs)
    for i in np.flatnonzero(out["state"] == State.FAULT):
        kind = TRIPS[Trip(int(out["trip"][i]))]
        assert kind.reaction in (Reaction.RAMP, Reaction.SAFE)


@pytest.mark.slow
@settings(deadline=None)
@given(st.sampled_from(READS), st.sampled_from([math.nan, math.inf, -math.inf]))
def test_a_lasting_nonsense_on_any_watched_port_ends_at_zero(port, nonsense):
    config = GuardConfig(10, 1e4, 10, 40, ramp_in_s=0, ramp_out_s=0.002, heartbeat_timeout_ms=2)
    n, bad = 200, 60
    inputs = {name: np.array(column) for name, column in good_inputs(n).items()}
    inputs[port][bad:] = nonsense
    torque = run(config, inputs)["torque_nm"]
    assert torque[bad - 1] == 5
    # own_cycle only numbers the trip; an infinite `arm` or `sensor_valid` is above 0.5, so true
    harmless = port in ("own_cycle", "own_block", "request_block", "delivered") or (
        nonsense == math.inf and port in ("arm", "sensor_valid", "actuator_ready")
    )
    harmless |= nonsense == -math.inf and port in ("stop", "own_stop", "elapsed")
    assert torque[-1] == (5 if harmless else 0)


WIDE = GuardConfig(
    10, 1e4, 10, 40, ramp_in_s=0, ramp_out_s=0.002, max_gap_ms=1e8, skip_bucket_ms=1e8,
    max_request_age_ms=1e8, heartbeat_timeout_ms=1e8, sensor_hold_ms=1e8, sensor_bucket_ms=1e8,
    request_hold_ms=1e8,
)  # fmt: skip


@pytest.mark.slow
@settings(deadline=None)
@given(
    st.sampled_from(
        ["sensor_hold_ms", "request_hold_ms", "max_request_age_ms", "sensor_bucket_ms"]
    ),
    st.floats(0.001, 50.0),
    st.lists(st.integers(1, 40), min_size=120, max_size=120),
)
def test_a_limit_is_passed_when_its_time_is_whatever_the_gaps(limit, limit_ms, gaps):
    """Against the definition, from the times of the cycles alone."""
    bad, n = 40, 120
    config = replace(WIDE, **{limit: limit_ms})
    port, value = {
        "sensor_hold_ms": ("sensor_valid", 0.0), "sensor_bucket_ms": ("sensor_valid", 0.0),
        "request_hold_ms": ("torque_request_nm", math.nan), "max_request_age_ms": ("request_cycle", 8.0),
    }[limit]  # fmt: skip
    inputs = {name: np.array(column) for name, column in good_inputs(n).items()}
    steps = np.ones(n, np.int64)
    steps[bad:] = gaps[: n - bad]
    inputs["elapsed"] = steps.astype(float)
    periods = np.cumsum(steps) - 1
    inputs["request_cycle"] = np.arange(1.0, n + 1)
    inputs[port][bad:] = value
    # exact in integers: a first bad cycle counts as a period, an old request is as old as it is
    since = periods - periods[bad] + 1
    if limit == "max_request_age_ms":
        since = periods - periods[bad]
        over = since * PERIOD_NS > max(round(limit_ms * 1e6), PERIOD_NS)
    elif limit == "sensor_bucket_ms":
        over = 2 * since * PERIOD_NS >= max(round(limit_ms * 1e6), 2 * PERIOD_NS)
    else:
        over = since * PERIOD_NS > round(limit_ms * 1e6)
    over[:bad] = False
    out = run(config, inputs, periods)
    expected = int(np.argmax(over)) if over.any() else None
    tripped = np.flatnonzero(out["trip"])
    assert (int(tripped[0]) if len(tripped) else None) == expected


@settings(deadline=None)
@given(st.one_of(ANYTHING, st.floats(allow_nan=True, allow_infinity=True)))
def test_any_elapsed_is_counted_in_full_or_trips(elapsed):
    n, bad = 100, 60
    config = GuardConfig(10, 1e4, 10, 40, ramp_in_s=0, skip_bucket_ms=1e8, max_gap_ms=5)
    inputs = {name: np.array(column) for name, column in good_inputs(n).items()}
    inputs["elapsed"][bad] = elapsed
    out = run(config, inputs)
    assert np.all(np.isfinite(out["torque_nm"]))
    tripped = not elapsed <= 25.99999999
    if elapsed <= 25 or tripped:
        assert bool(np.any(out["trip"] == Trip.TIME_GAP)) == tripped


@pytest.mark.slow
@settings(deadline=None)
@given(CONFIGS, histories(), st.data())
def test_what_a_hand_feels_is_finite_and_never_shrinks(config, inputs, data):
    out = run(config, inputs, data.draw(clocks(len(inputs["arm"]))))
    for port in ("longest_gap_ms", "gap_step_nm", "active_ms", "saturated_ms", "longest_saturated_ms",
                 "most_given_j"):  # fmt: skip
        assert np.all(np.isfinite(out[port]))
        assert np.all(np.diff(out[port]) >= 0)
    assert np.all(out["gap_ms"] >= 0)
    assert np.all(out["saturated_ms"] <= out["active_ms"])
    assert np.all(out["gap_step_nm"] <= 2 * config.limit_nm)


@pytest.mark.slow
@settings(deadline=None)
@given(CONFIGS, histories())
def test_a_held_output_is_that_of_the_last_good_request(config, inputs):
    """Once ramped in, and not on its way, the output does not move in HOLD."""
    out = run(config, inputs)
    state, torque = out["state"], out["torque_nm"]
    for i in np.flatnonzero(state[2:] == State.HOLD) + 2:
        settled = out["ramp"][i - 1] == 1 and torque[i - 1] == torque[i - 2]
        if settled and state[i - 1] == State.HOLD and state[i - 2] == State.HOLD:
            assert torque[i] == torque[i - 1]

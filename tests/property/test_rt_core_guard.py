"""The guard's laws, for any input at all: the real block, stepped offline over random histories."""

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from rt_core.guard import READS, Guard
from rt_core.offline import Offline
from rt_core.plan import Task, plan_table
from rt_core.safety import TRIPS, GuardConfig, Reaction, State, Trip

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
    max_request_age_cycles=st.integers(1, 20),
    request_hold_cycles=st.integers(0, 5),
    sensor_hold_cycles=st.integers(0, 5),
    bucket_limit=st.integers(2, 12),
    heartbeat_timeout_s=st.sampled_from([0.001, 0.01]),
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
    }


def run(config, inputs):
    n = len(inputs["arm"])
    guard = Guard(config, period_ns=PERIOD_NS, reads=PATHS)
    task = Task("fast", [guard], PERIOD_NS, inputs=tuple(PATHS.values()))
    offline = Offline(plan_table([task]))
    forced = {PATHS[port]: column for port, column in inputs.items()}
    image = offline.run("fast", PERIOD_NS * np.arange(n), forced=forced)["fast"]
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


@settings(deadline=None, max_examples=300)
@given(CONFIGS, histories())
def test_output_laws_hold_for_any_input(config, inputs):
    out = run(config, inputs)
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


@settings(deadline=None, max_examples=300)
@given(CONFIGS, histories())
def test_every_ramp_out_ends_at_zero_in_the_stated_cycles(config, inputs):
    out = run(config, inputs)
    longest = current = 0
    for state in out["state"]:
        current = current + 1 if state == State.STOPPING else 0
        longest = max(longest, current)
    assert longest <= config.cycles_to_zero(DT)


@settings(deadline=None, max_examples=300)
@given(CONFIGS, histories())
def test_nothing_is_driven_without_a_rising_edge_of_arm(config, inputs):
    out = run(config, inputs)
    active = np.isin(out["state"], [State.RUNNING, State.HOLD, State.STOPPING])
    begins = np.flatnonzero(active & ~np.concatenate(([False], active[:-1])))
    arm = inputs["arm"] > 0.5
    for i in begins:
        assert arm[i]
        assert i > 0
        assert not arm[i - 1]


@settings(deadline=None, max_examples=200)
@given(CONFIGS, histories())
def test_a_fault_always_names_its_trip(config, inputs):
    out = run(config, inputs)
    for i in np.flatnonzero(out["state"] == State.FAULT):
        kind = TRIPS[Trip(int(out["trip"][i]))]
        assert kind.reaction in (Reaction.RAMP, Reaction.SAFE)


@settings(deadline=None, max_examples=100)
@given(st.sampled_from(READS), st.sampled_from([math.nan, math.inf, -math.inf]))
def test_a_lasting_nonsense_on_any_watched_port_ends_at_zero(port, nonsense):
    config = GuardConfig(10, 1e4, 10, 40, ramp_in_s=0, ramp_out_s=0.002, heartbeat_timeout_s=0.002)
    n, bad = 200, 60
    inputs = {name: np.array(column) for name, column in good_inputs(n).items()}
    inputs[port][bad:] = nonsense
    torque = run(config, inputs)["torque_nm"]
    assert torque[bad - 1] == 5
    # own_cycle only numbers the trip; an infinite `arm` or `sensor_valid` is above 0.5, so true
    harmless = port == "own_cycle" or (
        nonsense == math.inf and port in ("arm", "sensor_valid", "actuator_ready")
    )
    harmless |= nonsense == -math.inf and port in ("stop", "own_stop", "elapsed")
    assert torque[-1] == (5 if harmless else 0)

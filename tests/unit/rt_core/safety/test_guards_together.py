"""Guards whose faults reach each other: who trips with whom, within which cycles, and when they may be armed again."""

import numpy as np
import pytest

from rt_core.loop.offline import Offline
from rt_core.plan import Task, plan_table
from rt_core.safety.guard import MOST_OTHERS, OPTIONAL, READS, Guard, other_ports
from rt_core.safety.trips import State, Trip

PERIOD_NS = 200_000
BAD = 100
NEEDED = [port for port in READS if port not in OPTIONAL]


def stepped(task, n, forced):
    """Return each signal of a task over its cycles."""
    offline = Offline(plan_table([task]))
    image = offline.run("fast", np.arange(n) * PERIOD_NS, forced=forced)["fast"]
    return {path: image[:, i] for i, path in enumerate(offline.paths("fast"))}


@pytest.fixture
def axes(inputs, config):
    """Step guards A, B, … of one task; `reached` says by whom each is reached, `bad` is a port of one and its
    values."""

    def run(order, reached, bad=None, until=None, arm=None):
        n = len(inputs["arm"]) if until is None else until
        guards, forced = {}, {}
        for name in order:
            reads = {port: f"{name}_in/{port}" for port in NEEDED}
            for other in reached.get(name, ()):
                reads |= dict(
                    zip(other_ports(other), (f"{other}/state", f"{other}/trip"), strict=True)
                )
            guards[name] = Guard(config, period_ns=PERIOD_NS, reads=reads, name=name)
            forced |= {
                f"{name}_in/{port}": np.broadcast_to(np.asarray(inputs[port], float), (n,)).copy()
                for port in NEEDED
            }
            if arm is not None:
                forced[f"{name}_in/arm"] = arm
        for path, values in (bad or {}).items():
            forced[path][BAD : BAD + len(values)] = values
        task = Task("fast", [guards[name] for name in order], PERIOD_NS, inputs=tuple(forced))
        return stepped(task, n, forced)

    return run


@pytest.mark.parametrize("order", ["AB", "BA"])
def test_a_fault_reaches_another_guard_a_cycle_later_at_most_and_ramps_it_out(axes, order, config):
    out = axes(order, {"B": "A"}, {"A_in/angle_rad": [9.0] * 200})
    tripped_a = int(np.flatnonzero(out["A/trip"])[0])
    tripped_b = int(np.flatnonzero(out["B/trip"])[0])
    assert tripped_a == BAD
    assert tripped_b == BAD + (order == "BA")
    assert out["B/trip"][-1] == Trip.OTHER_TRIPPED
    # the number of the guard, which has no limit
    assert (out["B/trip_value"][-1], out["B/trip_limit"][-1]) == (1, 0)
    zero = int(np.flatnonzero(out["B/torque_nm"][BAD:] == 0)[0])
    assert zero <= 1 + config.cycles_to_zero(PERIOD_NS * 1e-9)
    assert out["B/state"][-1] == State.FAULT
    # a ramp, no drop
    assert np.max(np.abs(np.diff(out["B/torque_nm"][BAD - 1 :]))) <= config.rate_nm_s * 2e-4 + 1e-12


def test_a_fault_that_does_not_reach_leaves_the_other_alone(axes):
    out = axes("AB", {"A": "B"}, {"A_in/angle_rad": [9.0] * 200})
    alone = axes("AB", {})
    assert out["A/trip"][-1] == Trip.ANGLE_LIMIT
    for signal in ("B/torque_nm", "B/state", "B/trip"):
        np.testing.assert_array_equal(out[signal], alone[signal])


def test_a_trip_that_was_taken_along_reaches_nobody(axes):
    # A reaches B, and B reaches C: the fault of A is none of C's
    out = axes("ABC", {"B": "A", "C": "B"}, {"A_in/rate_rad_s": [99.0] * 200})
    assert out["B/trip"][-1] == Trip.OTHER_TRIPPED
    assert out["C/state"][-1] == State.RUNNING


def test_guards_that_tripped_together_are_armed_again_together(axes, inputs):
    n = len(inputs["arm"])
    arm = np.ones(n)
    arm[:10] = 0
    arm[200:220] = 0
    both = {"A": "B", "B": "A"}
    out = axes("AB", both, {"A_in/own_fault": [1.0] * 50, "B_in/own_fault": [1.0] * 50}, arm=arm)
    assert out["A/trip"][BAD] == out["B/trip"][BAD] == Trip.OWN_FAULT
    for name in "AB":
        assert out[f"{name}/state"][199] == State.FAULT
        assert out[f"{name}/state"][-1] == State.RUNNING
        assert out[f"{name}/trip"][-1] == Trip.NO_TRIP


def test_no_guard_is_armed_while_one_that_reaches_it_is_in_fault(axes, inputs):
    n = len(inputs["arm"])
    arm = np.ones(n)
    arm[:10] = 0
    arm[200:220] = 0
    # the fault of A stays: B waits for it, and says so
    out = axes("AB", {"B": "A"}, {"A_in/angle_rad": [9.0] * (n - BAD)}, arm=arm)
    assert out["B/state"][-1] == State.INIT
    assert out["B/waits_for"][-1] == Trip.OTHER_TRIPPED
    assert not np.any(out["B/torque_nm"][200:])


def test_a_stop_or_a_disarmed_guard_reaches_nobody(axes):
    out = axes("AB", {"B": "A"}, {"A_in/stop": [1.0] * 200})
    assert out["A/state"][-1] != State.RUNNING
    assert out["B/state"][-1] == State.RUNNING


def test_a_state_that_is_no_number_reaches_nobody_and_breaks_nothing(config, inputs):
    state, trip = other_ports("X")
    reads = {port: f"in/{port}" for port in NEEDED} | {state: "x/state", trip: "x/trip"}
    guard = Guard(config, period_ns=PERIOD_NS, reads=reads)
    n = len(inputs["arm"])
    forced = {f"in/{p}": np.broadcast_to(np.asarray(inputs[p], float), (n,)) for p in NEEDED}
    forced |= {"x/state": np.full(n, np.nan), "x/trip": np.full(n, np.nan)}
    task = Task("fast", [guard], PERIOD_NS, inputs=tuple(forced))
    out = stepped(task, n, forced)
    assert out["guard/state"][-1] == State.RUNNING


def test_too_many_others_and_half_a_pair_are_told(config):
    reads = {port: f"in/{port}" for port in NEEDED}
    most = {p: f"x/{p}" for i in range(MOST_OTHERS) for p in other_ports(f"g{i}")}
    Guard(config, period_ns=PERIOD_NS, reads={port: f"in/{port}" for port in NEEDED} | most)
    many = {p: f"x/{p}" for i in range(MOST_OTHERS + 1) for p in other_ports(f"g{i}")}
    with pytest.raises(ValueError, match=f"{MOST_OTHERS + 1} other guards reach it, at most"):
        Guard(config, period_ns=PERIOD_NS, reads=reads | many)
    with pytest.raises(ValueError, match=r"reads lacks the port.s. with/A/trip"):
        Guard(config, period_ns=PERIOD_NS, reads=reads | {"with/A/state": "A/state"})

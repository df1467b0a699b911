"""The table of faults: what it promises, for every rig that ships, and that the page shows it as it is."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from io_bridge.emulator.segment_link import Order
from rig_configs.load import shipped_rigs
from rig_configs.mistakes import ConfigError
from rigloop.compose.parts import find_guards
from rigloop.compose.wiring import load
from rigloop.inject.faults import FAULTS, NOT_INJECTABLE, ROWS
from rigloop.inject.kinds import InCycle, Reaction
from rigloop.inject.limits import limits_of, sensor_cells
from rigloop.inject.listing import as_markdown, rows
from rigloop.inject.request import parse
from rigloop.safety.answers import answers_of
from rt_core.injection.inject import Act
from rt_core.safety.trips import TRIPS, Trip

PAGE = Path(__file__).parents[4] / "docs/faults.md"
RIGS = ["fault_bench", "steering_wheel", "steering_wheel_veth", "pedals_and_wheel", "two_lines"]


def test_names_are_distinct():
    assert len(FAULTS) == len(ROWS) >= 20
    assert not set(FAULTS) & set(NOT_INJECTABLE)


def test_every_trip_of_the_guard_has_a_fault_that_leads_to_it():
    lim = limits_of(load("fault_bench").rig)
    found_by = {name for row in rows(lim) for name in row["found_by"]}
    # the fault of another guard is any fault of its own, in a rig with several
    others = {Trip.SENSOR_LOST.name, Trip.OTHER_TRIPPED.name}
    assert {trip.name for trip in TRIPS} - found_by <= others
    # the bus gives up before the guard's patience with the sensor ends; a count that is none does not
    assert "SENSOR_LOST" in found_by


@pytest.mark.parametrize("rig", RIGS)
def test_every_rig_states_a_bound_for_every_fault(rig):
    lim = limits_of(load(rig).rig)
    for row in rows(lim):
        ends = row["reaction"] in (Reaction.RAMP, Reaction.SAFE, Reaction.DRIVE)
        assert (row["to_zero"] is not None) == ends, row
        if ends:
            assert 0 <= row["to_find"] <= row["to_zero"], row
        if row["reaction"] == Reaction.RAMP and "ms" not in row["bound"]:
            assert row["to_zero"] - row["to_find"] == lim.ramp, row


@pytest.mark.parametrize("rig", RIGS)
def test_every_fault_finds_what_it_disturbs(rig):
    have = sensor_cells(limits_of(load(rig).rig))
    for fault in ROWS:
        if isinstance(fault.acts, InCycle):
            assert set(fault.acts.cells) <= set(have)
            assert (fault.acts.act == Act.ORDER) == (fault.acts.order != Order.NO_ORDER)


def test_bounds_follow_the_limits_of_the_rig():
    bench, wheel = (
        {row["name"]: row for row in rows(limits_of(load(rig).rig))}
        for rig in ("fault_bench", "steering_wheel")
    )
    # 1 ms and 200 µs, the same ramp of 20 ms
    assert bench["angle-range"]["to_zero"] < wheel["angle-range"]["to_zero"]
    assert bench["link-down"]["to_find"] == wheel["link-down"]["to_find"] == 2
    # the watchdog of a rig that allows gaps as long as its stall_cycles comes first
    assert (bench["time-gap"]["found_by"], wheel["time-gap"]["found_by"]) == (
        ["TIME_GAP"],
        ["watchdog"],
    )
    # a rig that only counts many overruns of its model states so
    assert (bench["overruns-model"]["reaction"], wheel["overruns-model"]["reaction"]) == (
        "RAMP",
        "COUNT",
    )


def test_a_rig_with_a_slow_ramp_states_when_a_signal_is_found_and_when_the_torque_is_zero():
    lim = limits_of(load("steering_wheel").rig)
    slow = replace(lim, guard=replace(lim.guard, limit_nm=12.0, rate_nm_s=100.0))
    assert slow.ramp * slow.period_s > 0.1
    for name in ("supervisor-term", "supervisor-int"):
        stated = FAULTS[name].states(slow, 0.0)
        assert stated.detect == slow.cycles(0.075)
        assert stated.zero == stated.detect + slow.ramp


def test_a_model_without_rows_has_a_pose_for_every_guide_and_diverges_nowhere():
    arm = load("arm_joint").rig
    (answer,) = (a for a in answers_of(arm) if a.fault.name == "model-diverges")
    assert "has a pose for every guide" in answer.cannot
    with pytest.raises(ConfigError, match="has a pose for every guide"):
        parse(["model-diverges@1"], arm, {"bus": "simulated"}, telemetry=False, seconds=None)
    wheel = next(
        a for a in answers_of(load("steering_wheel").rig) if a.fault.name == "model-diverges"
    )
    assert wheel.cannot == ""


def test_a_thread_on_another_core_may_be_found_by_the_time_that_others_take_there():
    # measured beside a program that held the other core for 96 ms again and again: 12 of 15 by the guard's time
    stated = FAULTS["off-core"].states(limits_of(load("fault_bench").rig), 0.0)
    assert stated.found_by == ("OWN_FAULT", "TIME_GAP", "OVERRUNS_MANY")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "own", "together"),
    [
        ("supervisor-stop", ("HEARTBEAT_LOST",), True),
        ("request-stale", ("REQUEST_STALE", "watchdog", "stop"), True),
        ("model-hang", ("REQUEST_STALE", "watchdog", "stop"), True),
        ("model-fault", ("REQUEST_FAULT",), True),
        ("sensor-nan", ("SENSOR_LOST", "SENSOR_FLICKERS"), False),
    ],
)
def test_a_guard_that_another_one_takes_along_may_hear_from_it_of_what_both_see(
    name, own, together
):
    rig = load("two_lines").rig
    found_by = {
        guard: FAULTS[name].states(limits_of(rig, guard), 0.0).found_by
        for guard in ("wheel_guard", "brake_guard")
    }
    # the wheel's fault ends both axes, the brake's its own
    assert found_by["wheel_guard"] == own
    assert found_by["brake_guard"] == (*own, *(["OTHER_TRIPPED"] if together else []))


@pytest.mark.parametrize("rig", shipped_rigs())
def test_a_missed_cycle_does_not_decide_which_net_of_a_rig_finds_a_lost_bus(rig):
    loaded = load(rig).rig
    for guard in find_guards(loaded):
        lim = limits_of(loaded, guard)
        # one counts cycles, the other one time
        ratio = 1e3 * lim.bus.bad_limit * lim.period_s / lim.guard.sensor_hold_ms
        assert not 0.9 < ratio < 1.1, guard


def test_the_page_shows_the_table_as_it_is():
    shown = re.search(
        r"<!-- rigloop faults --markdown -->\n(.*?)<!-- end -->", PAGE.read_text(), re.DOTALL
    )
    assert shown[1].strip() == as_markdown(limits_of(load("fault_bench").rig)).strip()

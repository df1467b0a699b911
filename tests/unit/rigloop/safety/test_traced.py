"""Each limit of a guard, drive or verdict answers a hazard, and each hazard is answered or declared as outside."""

import typing
from functools import cache

import pytest

from rig_configs.hazards import (
    HAZARDS,
    LOST_STOP,
    RESTART,
    STALE_COMMAND,
    WRONG_RIG,
)
from rig_configs.live import LiveValue, Stimulus
from rig_configs.load import shipped_rigs
from rig_configs.schema import Task, Verdict
from rig_configs.slaves import Clock, Drive, Terminal
from rigloop.blocks.keys import hazards_of
from rigloop.blocks.kinds.bus import BusBlock
from rigloop.blocks.kinds.encoder_filter import EncoderFilterBlock
from rigloop.blocks.kinds.excitation import ExcitationBlock
from rigloop.blocks.kinds.guard import GuardBlock, Rearm
from rigloop.compose.wiring import load as load_again
from rigloop.inject.faults import ROWS
from rigloop.safety.traced import NOT_SET, keys_against, limits_in
from rt_core.safety.trips import TRIPS, Trip

OF_EVERY_BLOCK = {"kind", "reads", "writes"}
DESCRIBES = {
    GuardBlock: {"rearm"},  # a table with limits of its own
    Rearm: set(),
    Verdict: set(),
    # place, mapping and start of a slave, which has no torque before OP, and the load of an emulated one
    Drive: {
        "position", "mode", "sync0", "setup", "axis", "mapping", "rx_pdo", "tx_pdo", "rx_assign", "tx_assign",
        "limits", "plant", "device",
    },
    BusBlock: {"drives", "terminals", "backend", "bringup", "clock"},
    Terminal: {"position", "device", "inputs", "setup", "rx_assign", "tx_assign", "limits"},
    # the place of a frame in the period, and the waits of a start
    Clock: {"shift_us", "sync0_shift_us", "bandwidth_hz", "settle_s", "timeout_s", "difference_us"},
    EncoderFilterBlock: {"bandwidth_rad_s", "model", "gains", "noise_rad"},
    LiveValue: {"block", "input", "parameter", "unit", "start", "group"},
    Stimulus: {"block", "input", "parameter", "unit", "signal", "when", "waits_from"},
    ExcitationBlock: {"base_hz", "harmonics"},
    # the plan of a task, and the record of late cycles
    Task: {"period_us", "blocks", "priority", "core", "spin_us", "late_limit_us"},
}  # fmt: skip
"""The keys of a table that limit nothing."""

load = cache(load_again)


@pytest.mark.parametrize("model", DESCRIBES, ids=lambda model: model.__name__)
def test_every_limit_answers_a_hazard(model):
    hints = typing.get_type_hints(model, include_extras=True)
    bare = {key for key in model.model_fields if not hazards_of(hints[key])}
    assert bare - OF_EVERY_BLOCK == DESCRIBES[model], (
        "give it answers(...), or say that it limits nothing"
    )


@pytest.mark.parametrize("hazard", HAZARDS, ids=lambda hazard: hazard.name)
def test_every_hazard_is_answered_or_declared_as_outside_software(hazard):
    answered = bool(
        keys_against()[hazard] or hazard.built_in or [row for row in ROWS if row.hazard == hazard]
    )
    assert answered != hazard.only_outside
    assert hazard.harm.endswith(".")
    assert hazard.outside.endswith(".")


def test_hazards_have_names_of_their_own():
    assert len({hazard.name for hazard in HAZARDS}) == len(HAZARDS)


@pytest.mark.parametrize("fault", ROWS, ids=lambda fault: fault.name)
def test_the_limits_of_a_fault_answer_its_hazard(fault):
    keys = {key.rpartition(".")[2] for key in keys_against()[fault.hazard]}
    assert {limit.partition(".")[2] for limit in fault.limits} <= keys


def test_a_trip_with_a_limit_is_reached_by_a_fault_that_names_it():
    named = {limit for fault in ROWS for limit in fault.limits}
    assert {f"guard.{kind.limit}" for kind in TRIPS.values() if kind.limit} <= named
    assert TRIPS[Trip.HEARTBEAT_LOST].limit == "heartbeat_timeout_ms"


def test_limits_of_a_rig_have_the_values_that_hold():
    found = {str(limit) for limit in limits_in(load("fault_bench").rig)[STALE_COMMAND]}
    assert "blocks.guard.max_gap_ms = 80" in found
    assert "blocks.bus.drives.wheel.watchdog_ms = 200" in found
    assert "tasks.simulation.stall_cycles = 300" in found
    # the rig gives none: of its preset
    limits = {limit.key: limit.value for limit in limits_in(load("two_lines").rig)[LOST_STOP]}
    assert limits["blocks.wheel_guard.heartbeat_timeout_ms"] == "1000"
    sensor = {
        limit.key: limit.value
        for group in limits_in(load("fault_bench").rig).values()
        for limit in group
    }
    assert sensor["blocks.guard.sensor_hold_ms"] == "5"
    assert sensor["verdict.max_given_j"] == "6"
    assert sensor["verdict.max_tone_nm"] == "0.6"


def test_a_key_that_is_not_set_says_so():
    limits = limits_in(load("steering_wheel").rig)
    assert {limit.value for limit in limits[WRONG_RIG]} == {NOT_SET}
    assert "verdict.max_rearmed" in {limit.key for limit in limits[RESTART]}


@pytest.mark.parametrize("name", shipped_rigs())
def test_every_rig_that_ships_has_limits(name):
    assert limits_in(load(name).rig)[STALE_COMMAND]

"""The watchdog's word in a record: of a cycle that hangs, and of one that came when it had acted."""

import numpy as np
import pytest

from rigloop.compose.wiring import load
from rigloop.inject.evidence import DriveSaid, Evidence
from rigloop.inject.kinds import WATCHDOG, Reaction
from rigloop.inject.limits import limits_of
from rigloop.inject.request import again
from rigloop.inject.seen import seen_from
from rigloop.run_folder.messages import Report
from rt_core.safety.trips import State, Trip

MS = 1_000_000
STALLED_NS = 201_500_000


@pytest.fixture(scope="module")
def lim():
    return limits_of(load("fault_bench").rig)


def evidence(lim, times_ms, last_trip=Trip.TIME_GAP, **report):
    columns = [lim.writes[port] for port in ("state", "trip", "torque_nm")]
    rows = np.zeros(len(times_ms), [("t_ns", "<i8"), *((column, "<f8") for column in columns)])
    rows["t_ns"] = np.array(times_ms) * MS
    rows[lim.writes["state"]] = State.RUNNING
    rows[lim.writes["torque_nm"]] = 3.0
    rows[lim.writes["trip"]][-1] = last_trip
    told = {
        "stall": "stood still",
        "stalled_ns": STALLED_NS,
        "at_rest": True,
        "drives_nm": {"wheel": 0.0},
    }
    return Evidence(rows, rows, Report(**told | report), {}, {}, DriveSaid(), None)


def test_a_gap_that_outlasts_the_watchdog_is_ended_by_it(lim):
    # the core comes back after 300 ms, and one more cycle is stepped: its torque goes nowhere
    seen = seen_from(2, (WATCHDOG,), evidence(lim, [0, 1, 2, 302]), lim)
    assert (seen.found_by, seen.reaction) == (WATCHDOG, Reaction.SAFE)
    assert seen.found == seen.zero == 3 + 202


def test_a_drive_that_still_had_a_command_is_not_at_zero(lim):
    seen = seen_from(2, (WATCHDOG,), evidence(lim, [0, 1, 2, 302], drives_nm={"wheel": 0.5}), lim)
    assert seen.zero is None


def test_a_cycle_that_hangs_is_the_one_after_the_record(lim):
    seen = seen_from(3, (WATCHDOG,), evidence(lim, [0, 1, 2], Trip.NO_TRIP), lim)
    assert seen.found == 3 + 202


def test_the_core_may_be_taken_after_one_more_cycle(lim):
    seen = seen_from(1, (WATCHDOG,), evidence(lim, [0, 1, 2, 302]), lim)
    assert (seen.found_by, seen.reaction) == (WATCHDOG, Reaction.SAFE)
    seen = seen_from(0, (WATCHDOG,), evidence(lim, [0, 1, 2, 302]), lim)
    assert seen.found_by != WATCHDOG


def test_a_gap_within_the_watchdogs_patience_is_the_guards(lim):
    seen = seen_from(2, (WATCHDOG,), evidence(lim, [0, 1, 2, 102]), lim)
    assert seen.found_by == "TIME_GAP"


def test_a_rig_states_who_ends_a_gap(lim):
    (short,), (long,) = (again([f"time-gap:{us}@0.25"], lim.rig) for us in (96_000, 300_000))
    assert short.stated.found_by == ("TIME_GAP",)
    assert (long.stated.reaction, long.stated.found_by) == (Reaction.SAFE, (WATCHDOG,))
    assert long.stated.detect == long.stated.zero == lim.stall(lim.fast_task) + 1


def test_time_in_which_the_machine_kept_the_watchdog_is_no_cycle(lim):
    seen = seen_from(3, (WATCHDOG,), evidence(lim, [0, 1, 2], stalled_kept_ns=7 * MS), lim)
    assert seen.found == 3 + 195

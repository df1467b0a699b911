"""Codes of the guard that are read back from a table that anything may have written over."""

import math

import pytest

from rt_core.safety.trips import State, Trip, name_of_trip, read_state, read_trip

NOT_WRITTEN = (99.0, -1.0, 0.5, 1e300, math.nan, math.inf, -math.inf)


def test_each_code_of_the_guard_is_read_as_written():
    assert [read_trip(float(trip)) for trip in Trip] == list(Trip)
    assert [read_state(float(state)) for state in State] == list(State)
    assert name_of_trip(float(Trip.TIME_GAP)) == "time gap"


@pytest.mark.parametrize("code", NOT_WRITTEN)
def test_a_number_that_no_guard_writes_is_no_trip_and_the_state_that_ends_a_run(code):
    assert read_trip(code) is None
    assert read_state(code) is State.FAULT
    assert name_of_trip(code) == f"{code:g}, a code that no guard writes"

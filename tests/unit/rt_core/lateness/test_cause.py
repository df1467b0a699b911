"""The decision that gives a late cycle its cause, row by row."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rt_core.lateness.cause import Cause, attribute_cycle, explain_overruns, signal_of
from rt_core.plan import LOOP_SIGNALS

PERIOD = 1_000_000
NO_LIMIT = 1 << 60


def cause(late=0, asleep=True, cpu=0, off=0, bus=0, outside=0, **more):
    """Decide on a cycle with a deadline at 0; ns late, on and off the core, in the bus, outside of blocks."""
    return attribute_cycle(
        deadline_ns=0,
        woke_ns=late if asleep else -50_000,
        begin_ns=late,
        end_ns=late + cpu + off,
        limit_ns=PERIOD,
        cpu_ns=cpu,
        blocks_ns=cpu + off - outside,
        bus_ns=bus,
        **more,
    )


@pytest.mark.parametrize(
    ("expected", "cycle"),
    [
        # begun late, and done in time: the begin is all there is
        (Cause.LATE_WAKE, {"late": 600_000, "cpu": 300_000}),
        (Cause.STOLEN, {"late": 600_000, "asleep": False, "cpu": 300_000}),
        # one time alone is too long
        (Cause.OWN, {"cpu": 3_000_000}),
        (Cause.STOLEN, {"cpu": 20_000, "off": 3_000_000}),
        (Cause.BUS, {"cpu": 3_000_000, "bus": 2_900_000}),
        (Cause.LATE_WAKE, {"late": 950_000, "cpu": 100_000}),
        (Cause.STOLEN, {"late": 950_000, "asleep": False, "cpu": 100_000}),
        # a bus that may sleep so long: its wait is the bus's, what is beyond is stolen
        (
            Cause.BUS,
            {"cpu": 50_000, "off": 3_000_000, "bus": 3_000_000, "bus_wait_ns": NO_LIMIT},
        ),
        (
            Cause.STOLEN,
            {"cpu": 50_000, "off": 3_000_000, "bus": 3_000_000, "bus_wait_ns": 100_000},
        ),
        (Cause.STOLEN, {"cpu": 50_000, "off": 3_000_000, "bus": 3_000_000}),
        # the usual is no cause, however long it is
        (Cause.LATE_WAKE, {"late": 300_000, "cpu": 810_000, "usual_own_ns": 800_000}),
        (Cause.STOLEN, {"cpu": 800_000, "off": 250_000, "usual_own_ns": 790_000}),
        (Cause.OWN, {"cpu": 1_200_000, "bus": 500_000, "usual_bus_ns": 500_000}),
        (
            Cause.BUS,
            {"cpu": 1_200_000, "bus": 600_000, "usual_own_ns": 550_000, "usual_bus_ns": 100_000},
        ),
        # stolen time in the middle of own work does not make that the cause
        (Cause.STOLEN, {"cpu": 900_000, "off": 1_000_000, "usual_own_ns": 850_000}),
        # the loop's own code does not take longer by itself; off the core or not, it counts once
        (Cause.STOLEN, {"cpu": 2_000_000, "outside": 1_900_000}),
        (Cause.STOLEN, {"cpu": 100_000, "off": 1_900_000, "outside": 1_900_000}),
        (Cause.OWN, {"cpu": 2_000_000, "off": 900_000, "outside": 900_000}),
        (Cause.OWN, {"cpu": 1_100_000, "outside": 600_000, "usual_rest_ns": 580_000}),
        # two together: the greater one
        (Cause.LATE_WAKE, {"late": 900_000, "cpu": 300_000}),
        (Cause.OWN, {"late": 300_000, "cpu": 900_000}),
    ],
)
def test_each_row_of_the_table(expected, cycle):
    assert cause(**cycle) == expected


durations = st.integers(0, 20_000_000)


@given(durations, durations, durations, durations, st.booleans(), durations)
def test_whatever_the_times_there_is_one_cause(late, cpu, off, bus, asleep, wait):
    found = cause(late, asleep, cpu, off, min(bus, cpu + off), bus_wait_ns=wait)
    assert found in (Cause.LATE_WAKE, Cause.STOLEN, Cause.OWN, Cause.BUS)
    if late + cpu + off < PERIOD:
        assert found in (Cause.LATE_WAKE, Cause.STOLEN)


# three times the other: stolen time may be told to lie in the wrong one of bus and own
@given(st.integers(1, 600_000), st.integers(2_000_000, 50_000_000))
def test_a_time_that_outgrows_all_others_is_the_cause(small, great):
    assert cause(late=small, cpu=great, off=small) == Cause.OWN
    assert cause(late=small, cpu=small, off=great) == Cause.STOLEN
    assert cause(late=small, cpu=small + great, off=small, bus=great) == Cause.BUS
    assert cause(late=great, cpu=small, off=small) == Cause.LATE_WAKE


def test_causes_are_counted_in_signals_of_their_order():
    first = LOOP_SIGNALS.index("overruns_late_wake")
    named = [signal_of(c) for c in Cause if c]
    assert list(LOOP_SIGNALS[first : first + 5]) == named


def test_overruns_in_words_leave_out_what_was_not():
    counts = {Cause.STOLEN: 60, Cause.LATE_WAKE: 15, Cause.OWN: 3, Cause.BUS: 0}
    assert explain_overruns(counts) == "60 stolen, 15 late wake, 3 own work"
    assert explain_overruns({}) == ""

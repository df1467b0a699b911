"""A series of faults in one run: when an arming is over, and what brings the rig back to the next."""

import pytest

from rigloop.compose.wiring import load
from rigloop.live.series import Series
from rt_core.safety.trips import State

WELL = {"bus/valid": 1.0, "bus/al_state": 8.0}
BEAT_S = 0.02


@pytest.fixture(scope="module")
def rig():
    return load("fault_bench").rig


class Play:
    """A supervisor's beats in front of a guard whose state the test says."""

    def __init__(self, rig, lasts_s):
        self.signals = dict(WELL)
        self.series = Series(rig, lasts_s, lambda: self.signals)
        self.now = 0.0

    def until(self, is_so, state, longest_s=10.0):
        """Beat in a state until something is so; return the time that it took."""
        began = self.now
        while not is_so():
            assert self.now - began < longest_s
            self.now += BEAT_S
            self.series.look(state, self.now)
        return self.now - began


@pytest.fixture
def play(rig):
    return Play(rig, (0.5, 0.4))


def test_an_arming_is_over_soon_after_all_axes_have_let_go(play):
    series = play.series
    play.series.look(State.RUNNING, 0.0)
    assert series.arm
    assert play.until(lambda: not series.arm, State.FAULT) < 0.12
    assert (series.waits, series.enable, series.over) == (True, True, False)


def test_an_arming_in_which_an_axis_goes_on_lasts_as_long_as_it_may(play):
    play.until(lambda: play.now > 1.0, State.READY)
    assert play.until(lambda: not play.series.arm, State.RUNNING) == pytest.approx(0.5, abs=0.05)


def test_guards_that_are_ready_by_themselves_are_armed_again_without_a_reset(play):
    series = play.series
    play.until(lambda: not series.arm, State.FAULT)
    while not series.arm:
        assert (series.enable, series.reset) == (True, False)
        play.until(lambda: True, State.READY)
        play.now += BEAT_S
        series.look(State.READY, play.now)
    assert not series.waits


def test_drives_that_stay_away_are_disabled_and_reset_once_the_bus_is_well(play):
    series = play.series
    play.until(lambda: not series.arm, State.FAULT)
    play.signals["bus/valid"] = 0.0
    play.until(lambda: not series.enable, State.FAULT)
    play.until(lambda: play.now > 1.0, State.FAULT)
    assert not series.enable
    play.signals["bus/valid"] = 1.0
    assert play.until(lambda: series.enable, State.FAULT) > 0.09
    assert not series.reset
    play.until(lambda: series.reset, State.INIT)
    play.until(lambda: series.arm, State.READY)
    assert (series.enable, series.reset, series.waits) == (True, False, False)


def test_it_is_over_after_the_last_arming_and_has_left_nothing_out(play):
    series = play.series
    for last in (False, True):
        play.until(lambda: series.waits or series.over, State.FAULT)
        assert series.over == last
        assert not series.arm
        if not last:
            play.until(lambda: series.arm, State.READY)
    series.ended()
    assert series.gave_up == ""


def test_a_rig_that_does_not_come_back_ends_the_series_and_says_after_which_fault(play):
    series = play.series
    play.until(lambda: series.waits, State.FAULT)
    assert play.until(lambda: series.over, State.FAULT) == pytest.approx(3.0, abs=0.1)
    series.ended()
    assert series.gave_up == "not ready again within 3 s after fault 1"


def test_a_run_that_ends_before_its_series_says_how_much_was_left(play):
    play.until(lambda: play.series.waits, State.FAULT)
    play.series.ended()
    assert play.series.gave_up == "the run ended before the last 1 faults of its series"

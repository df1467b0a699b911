"""Wrong arguments of a rig that runs: each is refused at once, by name, value and remedy."""

import math

import numpy as np
import pytest

from rigloop.api.changes import sendable
from rigloop.api.looking import Looking
from rigloop.api.rig import NotRunningError, Rig
from rigloop.live_values.refused import LiveRefusedError
from rt_core.safety.trips import State


class Played(Looking):
    """A run that always goes on, with one signal."""

    lives, state, t_s = True, State.RUNNING, 1.0

    def capture(self, paths, seconds, *, before_s=0.0, at=None):
        raise AssertionError("asked for")

    def close(self):
        pass


@pytest.fixture
def rig(tmp_path):
    made = Rig("live_bench")
    made._watched = Played()
    made._watched.folder, made._watched.signals = tmp_path, {"wheel/angle_rad": 0.5}
    return made


@pytest.mark.parametrize(
    ("act", "words"),
    [
        (lambda rig: rig.capture(seconds=1.0), "give the path of a signal"),
        (lambda rig: rig.capture("wheel/angle_rad", seconds=-1), "seconds = -1: give seconds"),
        (lambda rig: rig.capture("wheel/angle_rad", seconds=math.nan), "seconds = nan: give"),
        (lambda rig: rig.capture("wheel/angle_rad", seconds=math.inf), "0 or more and finite"),
        (lambda rig: rig.capture("wheel/angle_rad", seconds="1"), "seconds = '1': give a number"),
        (lambda rig: rig.capture("wheel/angle_rad", seconds=1, before_s=True), "before_s = True"),
        (lambda rig: rig.read("wheel/angle_rad"), "give a list of paths"),
        (lambda rig: rig.read(3), "paths = 3: give a list of paths"),
        (lambda rig: rig.write("assistance"), "values = 'assistance': give a mapping"),
        (lambda rig: rig.stimulate(), "stimulate: give the name of a stimulus"),
        (lambda rig: rig.end_stimulus(3), "end_stimulus: 3: give the name of a stimulus, as text"),
        (lambda rig: rig.wait_until(None, 1.0), "condition = None: give text, or a function"),
        (lambda rig: rig.wait_until("wheel/angle_rad > 1", "1"), "timeout_s = '1': give a number"),
        (lambda rig: rig.wait_until("wheel/angle_rad > 1", math.nan), "timeout_s = nan: give"),
    ],
)
def test_a_wrong_argument_is_named(rig, act, words):
    with pytest.raises((TypeError, ValueError), match=words):
        act(rig)


def test_a_time_of_a_start_is_refused_before_a_process_is_started():
    with pytest.raises(ValueError, match="seconds = -1: give seconds, 0 or more and finite"):
        Rig("live_bench").start(seconds=-1)


def test_whoever_waits_may_wait_for_ever(rig):
    assert rig.wait_until("wheel/angle_rad > 0.4", math.inf) == 1.0


@pytest.mark.parametrize("act", [lambda rig: rig.stop(), lambda rig: rig.write(assistance=1.0)])
def test_a_rig_that_does_not_run_says_so(act):
    with pytest.raises(NotRunningError, match="live_bench: does not run; start"):
        act(Rig("live_bench"))


def test_numbers_of_numpy_go_to_a_service_as_numbers():
    found = sendable({"a": np.float32(0.25), "b": (np.int64(2), "Nm"), "c": 10**400})
    assert found == {"a": 0.25, "b": [2.0, "Nm"], "c": math.inf}
    assert {type(found["a"]), type(found["b"][0])} == {float}


def test_what_is_no_number_is_refused_by_name_before_it_goes_to_a_service():
    with pytest.raises(LiveRefusedError) as caught:
        sendable({"a": "1", "b": True, "c": None, "d": [1, 2], "e": 1j, "f": 1.0, 3: 1.0})
    assert [mistake.name for mistake in caught.value.mistakes] == ["a", "b", "c", "d", "e", "3"]
    assert "a = '1': is not a number" in str(caught.value)

"""The cycle process of a walk, without its loop: what it tells the guard."""

from types import SimpleNamespace

import numpy as np
import pytest

from rigloop.commission import live_process
from rigloop.commission.live_process import Session
from rigloop.run_folder.not_started import NotStartedError
from rt_core.safety.trips import State


class Armed(Session):
    """A session whose guard is in these states, one after each stretch of beats."""

    def __init__(self, states):
        self._axis = SimpleNamespace(place="bus/drive")
        self._states = list(states)
        self.arms = []
        self._table = SimpleNamespace(value=lambda path: self._states.pop(0))

    def rest(self, seconds, **signals):
        self.arms.append(signals.get("arm", 0.0))


@pytest.mark.parametrize(
    ("states", "arms"),
    [
        ([State.RUNNING], [1]),
        # a rising edge that came when the guard was not ready is none: the next one is
        ([State.INIT, State.READY, State.RUNNING], [1, 0, 1, 0, 1]),
        ([State.FAULT], [1]),
    ],
)
def test_a_guard_that_was_not_ready_is_armed_again_and_one_that_tripped_is_not(states, arms):
    session = Armed(states)
    session._arm()
    assert session.arms == arms


def test_a_guard_that_does_not_arm_is_named(monkeypatch):
    monkeypatch.setattr(live_process, "WAKE_S", 0.0)
    with pytest.raises(NotStartedError, match="bus/drive: its guard does not arm"):
        Armed([State.INIT])._arm()


def test_the_error_code_of_a_drive_is_a_number_or_says_why_there_is_none():
    session = Armed([])
    session._read_code = lambda: int(np.uint16(0x5441))
    assert session._left() == {"code": 0x5441}

    def silent():
        raise OSError("nobody answers")

    session._read_code = silent
    assert session._left() == {"unasked": "nobody answers"}

"""The stand on an interface, with its cycle process and its line replaced: the order in which a torque is ended."""

import subprocess
from types import SimpleNamespace

import numpy as np
import pytest

from io_bridge.master.master import BringUpError
from rigloop.commission import live_stand
from rigloop.commission.live_stand import LiveStand
from rigloop.commission.past_the_cycle import PRESS_STOP
from rigloop.commission.stand import StandError
from rigloop.console import interrupts
from rigloop.console.interrupts import Interrupted


class Child:
    """A cycle process that notes what is done to it."""

    def __init__(self, done, hangs=False):
        self._done, self._hangs = done, hangs
        self.stdin = self.stdout = SimpleNamespace(close=lambda: done.append("close"))

    def terminate(self):
        self._done.append("terminate")

    def kill(self):
        self._done.append("kill")
        self._hangs = False

    def wait(self, timeout=None):
        self._done.append("wait")
        if self._hangs:
            raise subprocess.TimeoutExpired("child", timeout)


def a_stand(monkeypatch, *, confirms=True, hangs=False):
    """Return a stand that stands on nothing, and the list of what it does."""
    done = []
    stand = LiveStand.__new__(LiveStand)
    stand._about = {"station": 0x1001}
    stand._child = Child(done, hangs)
    stand._begin = lambda torque_nm, spring: None
    stand._come_up = lambda: done.append("come up")
    stand.reset = lambda: done.append("reset")
    drive = SimpleNamespace(watchdog_ms=1.0)
    facts = {"backend": "eth9", "second": None, "period_s": 1e-4, "rad_per_count": 1e-5}
    stand.axis = SimpleNamespace(**facts, drive_config=drive)
    line = SimpleNamespace(transact=None, close=lambda: None)
    monkeypatch.setattr(live_stand, "AcyclicLine", lambda *given: line)
    monkeypatch.setattr(live_stand, "input_reader", lambda *given: None)
    monkeypatch.setattr(live_stand, "acting", lambda *given: 0.3)
    monkeypatch.setattr(
        live_stand, "take_torque_away", lambda *given: done.append("INIT") or confirms
    )
    return stand, done


@pytest.mark.parametrize("ended_by", [Interrupted("SIGINT"), BringUpError("gone"), OSError("down")])
def test_a_watchdog_step_that_is_cut_short_takes_the_torque_away(ended_by, monkeypatch):
    stand, done = a_stand(monkeypatch)

    def cut_short(*given):
        raise ended_by

    monkeypatch.setattr(live_stand, "watch_end", cut_short)
    with pytest.raises((Interrupted, StandError)):
        stand.kill(np.full(10, 0.3))
    assert done == ["kill", "INIT"]


def test_a_watchdog_step_takes_the_torque_away_before_it_comes_up_again(monkeypatch):
    stand, done = a_stand(monkeypatch)
    monkeypatch.setattr(live_stand, "watch_end", lambda *given: "ending")
    assert stand.kill(np.full(10, 0.3)) == "ending"
    assert done[:2] == ["kill", "INIT"]
    assert done[-2:] == ["come up", "reset"]


def test_a_drive_that_does_not_confirm_has_somebody_press_the_stop(monkeypatch):
    stand, done = a_stand(monkeypatch, confirms=False)
    said = []
    monkeypatch.setattr(interrupts, "say", said.append)
    monkeypatch.setattr(live_stand, "watch_end", lambda *given: "ending")
    with pytest.raises(StandError, match="press the emergency stop now"):
        stand.kill(np.full(10, 0.3))
    assert said == [PRESS_STOP]
    assert "come up" not in done


def test_the_cycle_process_is_asked_to_end_before_it_is_waited_for(monkeypatch):
    stand, done = a_stand(monkeypatch)
    stand._end()
    assert done == ["terminate", "close", "close", "wait"]


def test_a_cycle_process_that_hangs_is_killed_and_its_torque_taken_away(monkeypatch):
    stand, done = a_stand(monkeypatch, hangs=True)
    stand._end()
    assert done == ["terminate", "close", "close", "wait", "kill", "wait", "INIT"]

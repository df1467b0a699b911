"""A drive past its cycle: its torque is taken away, also where its watchdog is dead, and a silent one is told of."""

import numpy as np
import pytest
from walked_rig import write_rig
from walks import stand_of

from io_bridge.master.master import Master
from rigloop.commission.hands import EmulatedHands
from rigloop.commission.past_the_cycle import (
    Inputs,
    acting,
    input_reader,
    take_torque_away,
    watch_end,
)
from rigloop.commission.stand import Ending, StandError
from rigloop.commission.step import Bench
from rigloop.commission.steps.watchdog import STEP
from rigloop.commission.walk import measured


def test_a_drive_without_a_watchdog_loses_its_torque(tmp_path):
    with stand_of(write_rig(tmp_path, "simulated"), has_watchdog=False) as stand:
        stand._wake()
        stand._played(np.full(500, 0.4), None, None)
        master, station = stand._master()
        read = input_reader(master, station, stand.axis.drive_config)
        assert read().torque_nm > 0.3
        assert take_torque_away(master, station)
        for _ in range(100):
            master.state(station)
        assert abs(stand.device.motor_torque_nm) < 0.04


def test_a_drive_that_does_not_answer_has_confirmed_nothing():
    assert not take_torque_away(Master(lambda frame: None), 0x1001)


def test_a_frame_that_is_lost_before_the_kill_is_sent_again(tmp_path):
    with stand_of(write_rig(tmp_path, "simulated")) as stand:
        master, station = stand._master()
        passes, lost = master._transact, [None, None]
        master._transact = lambda frame: lost.pop() if lost else passes(frame)
        seen = input_reader(master, station, stand.axis.drive_config)()
        assert seen == (pytest.approx(0.0), stand.count())


def test_a_lost_answer_is_asked_for_again_before_the_kill():
    answers = iter([None, Inputs(0.01, 0), Inputs(0.5, 0)])
    assert acting(lambda: next(answers), 0.3) == 0.5
    with pytest.raises(StandError, match="reported no torque"):
        acting(lambda: None, 0.3)


def test_the_end_of_a_torque_lies_between_two_looks():
    torques = [(0.1, 0.5), (0.18, 0.5), (0.31, 0.0), (0.32, 0.0), (0.33, 0.0)]
    # and the wheel turns on, over the end of its counter
    coast = [(0.33 + 0.02 * k, (2**32 - 20 + 10 * k) % 2**32) for k in range(1, 9)]
    looks = iter([(at, nm, 0) for at, nm in torques] + [(at, 0.0, count) for at, count in coast])
    now = [0.0]

    def read():
        now[0], torque, count = next(looks)
        return Inputs(torque, count)

    ending = watch_end(read, lambda: now[0], 0.0, 1.0, 0.5, 0.001)
    # the last look that saw a torque was begun at 0.1 s
    assert ending.after_s == pytest.approx(0.31)
    assert ending.unseen_s == pytest.approx(0.21)
    assert ending.coast_rad == pytest.approx(0.01 * np.arange(8))
    assert np.diff(ending.coast_s) == pytest.approx(0.02)


@pytest.mark.parametrize(
    ("unseen_s", "words"), [(0.2, "was not observed"), (0.01, "keeps its torque")]
)
def test_looks_with_a_hole_say_nothing_of_a_watchdog(unseen_s, words, tmp_path):
    with stand_of(write_rig(tmp_path, "simulated")) as stand:
        stand.kill = lambda torque: Ending(0.25, 0.3, unseen_s)
        found = measured(STEP, Bench(stand, EmulatedHands(stand)))
    assert not found.good
    assert words in found.words

"""The step on the emergency stop: a drive that ends its operation for another reason has shown no stop."""

import re
from dataclasses import replace

import numpy as np
import pytest
from walked_rig import write_rig
from walks import stand_of

from rigloop.commission.hands import Act, EmulatedHands
from rigloop.commission.stand import Take
from rigloop.commission.step import Bench
from rigloop.commission.steps.emergency_stop import STEP, ended, no_stop
from rigloop.commission.walk import measured
from rt_core.safety.trips import State, Trip

OFF = 60


def a_take():
    n = 100
    zeros = np.zeros(n)
    off = np.arange(n) >= OFF
    return Take(
        1e-3 * np.arange(n),
        zeros,
        np.where(off, 0.0, 0.3),
        zeros,
        np.where(off, 0.0, 1.0),
        np.where(off, State.FAULT, State.RUNNING).astype(float),
        zeros + 1.0,
        zeros,
        Trip.NO_TRIP,
    )


def changed(name, rows, value):
    take = a_take()
    column = getattr(take, name).copy()
    column[rows] = value
    return replace(take, **{name: column})


def test_a_stop_in_the_middle_of_a_torque_is_one():
    assert no_stop(a_take(), OFF, 0.06, 0.01) == ""
    # frames that were lost and bridged, some right before it and right after
    for lost in (slice(2, 4), slice(OFF - 9, OFF), slice(OFF + 1, OFF + 20)):
        assert no_stop(changed("valid", lost, 0.0), OFF, 0.06, 0.01) == ""


@pytest.mark.parametrize(
    ("take", "words"),
    [
        (changed("reported_nm", slice(None), 0.0), "No torque acted"),
        (changed("valid", slice(OFF, OFF + 3), 0.0), "lost from the bus as it left its operation"),
        (changed("valid", slice(OFF - 10, OFF), 0.0), "it was silent for 11.0 ms"),
        (changed("valid", slice(None, OFF), 0.0), "it was silent for"),
        (changed("state", slice(OFF - 5, OFF), State.FAULT), "The guard had ended the torque"),
    ],
)
def test_an_end_that_is_no_stop_says_why(take, words):
    assert words in no_stop(take, OFF, 0.06, 0.01)


def test_the_end_of_the_torque_lies_between_two_frames_that_came():
    assert ended(a_take(), OFF, 0.06) == (0.0, 0.0)
    late = changed("reported_nm", slice(OFF, OFF + 5), 0.3)
    assert ended(late, OFF, 0.06) == pytest.approx((0.004, 0.005))
    # what repeats older values while no frame comes is no torque
    bridged = replace(late, valid=changed("valid", slice(OFF + 2, OFF + 9), 0.0).valid)
    assert ended(bridged, OFF, 0.06) == pytest.approx((0.001, 0.009))
    unseen = replace(late, valid=changed("valid", slice(OFF + 2, None), 0.0).valid)
    assert ended(unseen, OFF, 0.06) == (pytest.approx(0.001), np.inf)


class Tripping(EmulatedHands):
    """Hands that press nothing; the drive fails by itself meanwhile."""

    def do(self, act):
        if act is Act.PRESS_STOP:
            self._stand.device.trip(0x2310)
        else:
            super().do(act)


def test_a_fault_of_the_drive_is_no_stop(tmp_path):
    with stand_of(write_rig(tmp_path, "simulated")) as stand:
        found = measured(STEP, Bench(stand, Tripping(stand)))
        assert not found.good
        assert (
            "with a fault of its own, 0x2310 continuous overcurrent at the motor (" in found.words
        )
        # which sample of the take it was
        assert re.search(r"\(\d\.\d+ s into the take, cycle \d+ of \d+\)\.$", found.words)
        assert measured(STEP, Bench(stand, EmulatedHands(stand))).good

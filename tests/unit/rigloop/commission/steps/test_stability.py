"""The step on stability: a wheel that is held, and a guard that never ran, are not calm but not measured."""

from dataclasses import replace

import numpy as np
import pytest
from walked_rig import write_rig
from walks import stand_of

from rigloop.commission.hands import EmulatedHands
from rigloop.commission.motion import NoMotionError
from rigloop.commission.stand import StandError, Take
from rigloop.commission.step import Bench
from rigloop.commission.steps.stability import STEP, damping_nms, moved, sings
from rigloop.commission.walk import measured
from rt_core.safety.trips import State, Trip


def a_take(n=1000, way_rad=0.1, state=State.RUNNING):
    t = 1e-3 * np.arange(n)
    zeros = np.zeros(n)
    angle = way_rad * np.sin(20.0 * t)
    return Take(t, zeros, zeros, angle, zeros + 1, zeros + state, zeros + 1, zeros, Trip.NO_TRIP)


def test_a_take_of_a_wheel_that_moves_is_taken():
    take = a_take()
    assert moved(take) is take


@pytest.mark.parametrize(
    ("take", "error"),
    [
        (a_take(0), StandError),
        (a_take(5), StandError),
        (a_take(state=State.READY), StandError),
        (a_take(way_rad=1e-4), NoMotionError),
    ],
)
def test_a_take_that_shows_nothing_is_not_measured(take, error):
    with pytest.raises(error):
        moved(take)


def test_a_torque_that_is_cut_off_all_the_time_shows_no_damping():
    take = replace(a_take(), command_nm=np.full(1000, 0.6))
    with pytest.raises(NoMotionError, match="cut off"):
        damping_nms(take, 0.002, 0.6)


def test_a_wheel_that_is_held_is_not_good(tmp_path):
    with stand_of(write_rig(tmp_path, "simulated")) as stand:
        bench = Bench(stand, EmulatedHands(stand))
        assert bench.motion.inertia_kg_m2 > 0.0
        stand.device.lead(stand.device.angle_rad, 3000.0, 10.0)
        bench.is_free = True  # they say
        stand.wait(0.5)
        found = measured(STEP, bench)
    assert not found.good
    assert "it moved by 0.0" in found.words


def test_a_wheel_that_dry_friction_holds_aside_of_its_rest_does_not_sing():
    t = 1e-3 * np.arange(1000)
    stuck = 0.01 * (1.0 - np.exp(-t / 0.02))
    assert not sings(replace(a_take(), angle_rad=stuck), 400.0, 0.03)
    assert sings(replace(a_take(), angle_rad=0.01 * np.sin(20.0 * t)), 400.0, 0.03)

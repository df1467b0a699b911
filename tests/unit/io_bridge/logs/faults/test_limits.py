"""Motions that a limit cuts off, and wheels that turn slowly or are held still in coarse logs."""

import numpy as np
import pytest

from io_bridge.logs.faults.clock import read_clock
from io_bridge.logs.faults.finder import find_faults


def found(value, hz):
    t = np.arange(len(value)) / hz
    told = find_faults(value, read_clock(t, 1.0), 0.0, 360.0)
    return [(f.kind, f.first, f.last) for f in told]


def by_hand(hz, holds_s, ways_deg, move_s):
    # from hold to hold by least jerk
    angle = [np.zeros(round(0.5 * hz))]
    at = 0.0
    for hold_s, way in zip(holds_s, ways_deg, strict=True):
        s = np.arange(1, round(move_s * hz) + 1) / round(move_s * hz)
        angle += [
            at + way * s**3 * (10 - 15 * s + 6 * s * s),
            np.full(round(hold_s * hz), at + way),
        ]
        at += way
    return np.concatenate(angle)


@pytest.mark.parametrize("digits", [1, 2, 3])
@pytest.mark.parametrize("hz", [50.0, 60.0, 100.0, 125.0])
@pytest.mark.parametrize("move_s", [0.3, 0.7, 1.4])
def test_hand_that_holds_still_at_a_turn_is_no_limit(digits, hz, move_s):
    ways = [74.2, -150.3, 290.4, -60.1, -220.7, 310.9, -170.3, 81.4]
    holds = [0.9, 0.2, 0.5, 0.7, 0.1, 0.35, 0.8, 0.05]
    assert found(np.round(by_hand(hz, holds, ways, move_s), digits), hz) == []


@pytest.mark.parametrize("digits", [0, 1, 2])
@pytest.mark.parametrize("hz", [50.0, 100.0])
@pytest.mark.parametrize("turns_hz", [0.07, 0.2, 0.6])
def test_slow_turns_of_a_coarse_angle_are_no_limit(digits, hz, turns_hz):
    t = np.arange(3000) / hz
    assert found(np.round(46.0 * np.sin(2 * np.pi * turns_hz * t + 0.3), digits), hz) == []


def test_wheel_that_is_braked_evenly_to_rest_is_no_limit():
    # a bang-bang way: full acceleration, full braking, and a rest
    s = np.linspace(0.0, 1.0, 40)
    way = np.where(s < 0.5, 2 * s * s, 1 - 2 * (1 - s) ** 2)
    value = np.concatenate(
        [120 * way, np.full(60, 120.0), 120 - 200 * way, np.full(70, -80.0), -80 + 80 * way]
    )
    assert found(np.round(np.tile(value, 3), 1), 100.0) == []


@pytest.mark.parametrize("digits", [1, 2, 3])
@pytest.mark.parametrize("hz", [50.0, 100.0, 1000.0])
def test_each_turn_that_a_limit_cuts_off_is_found(digits, hz):
    t = np.arange(round(12.3 * hz)) / hz
    free = 90.0 * np.sin(2 * np.pi * 0.4 * t)
    value = np.minimum(np.round(free, digits), 70.0)
    over = np.flatnonzero(np.diff(np.r_[0, value == 70.0, 0]))
    assert found(value, hz) == [
        ("saturation", a, b - 1) for a, b in zip(over[::2], over[1::2], strict=True)
    ]


def test_slow_turn_at_a_limit_that_is_known_is_cut_off_as_well():
    t = np.arange(6000) / 200.0
    free = 72.5 * np.sin(2 * np.pi * 0.05 * t) + np.where(t > 15.0, 40.0, 0.0) * np.sin(
        2 * np.pi * 0.8 * t
    )
    value = np.minimum(np.round(free, 2), 72.0)
    ends = np.flatnonzero(np.diff(np.r_[0, value == 72.0, 0]))
    told = [one for one in found(value, 200.0) if one[0] == "saturation"]
    assert told[0] == ("saturation", ends[0], ends[1] - 1)

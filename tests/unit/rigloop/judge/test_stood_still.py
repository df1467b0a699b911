"""An encoder that is stuck under torque, beside wheels that rest, move off, or are looked at seldom."""

import numpy as np
import pytest

from rigloop.compose.blocks import find_guard, paths
from rigloop.judge.stood_still import stood_still
from rt_core.safety.trips import State

HZ = 1000.0
T = np.arange(round(8 * HZ)) / HZ


@pytest.fixture(scope="module")
def rig(rigs):
    return rigs("steering_wheel").rig


def record(rig, angle_rad, state=State.RUNNING, valid=1.0):
    name, block = next((n, b) for n, b in rig.blocks.items() if b.kind == "encoder_filter")
    reads = paths(name, block)[0]
    guard = paths(*find_guard(rig))[1]["state"]
    columns = ("t_ns", reads["position_count"], reads["valid"], guard)
    found = np.zeros(len(T), dtype=[(column, "f8") for column in columns])
    found["t_ns"] = 1e9 * T
    turns = angle_rad / (2 * np.pi)
    found[reads["position_count"]] = np.floor(turns * block.counts_per_rev) % block.counter_span
    found[reads["valid"]] = valid
    found[guard] = state
    return {"estimation": found}


def held(angle_rad, begin_s, end_s):
    return np.where((begin_s <= T) & (end_s > T), angle_rad[round(begin_s * HZ)], angle_rad)


CREEPS = 0.7 + 0.0095 * T
SWINGS = 0.5 * np.sin(2.0 * T)
RESTS_2_S = np.where(T < 2.0, 0.3, 0.3 + 0.2 * (np.maximum(T - 2.0, 0)) ** 2)


def test_encoder_that_comes_back_elsewhere_on_a_moving_wheel_makes_a_run_bad(rig):
    """0.019 rad after two seconds."""
    found = stood_still(rig, record(rig, held(CREEPS, 3.0, 5.0)))
    (words,) = found.red
    assert not found.amber
    assert "the same count for 2.00 s, and then at 5.000 s +0.0190 rad away at once" in words
    assert "the encoder was stuck" in words


def test_several_are_one_line_with_the_longest(rig):
    twice = held(held(SWINGS, 1.0, 1.3), 3.0, 3.5)
    (words,) = stood_still(rig, record(rig, twice)).red
    assert "for 0.50 s" in words
    assert "1 times more" in words


def test_jump_of_a_wheel_that_rests_before_and_after_is_told(rig):
    found = stood_still(rig, record(rig, np.where(T < 4.0, 0.3, 0.319)))
    assert not found.red
    assert len(found.amber) == 1


@pytest.mark.parametrize(
    "angle_rad",
    [
        SWINGS,
        CREEPS,
        RESTS_2_S,
        np.where(T < 4.0, 0.3, 0.3 + 300.0 * np.maximum(T - 4.0, 0) ** 2),
        np.zeros(len(T)),
        held(SWINGS, 3.0, 3.05),
        RESTS_2_S[np.arange(len(T)) // 8 * 8],
        0.3 + 3e-6 * np.random.default_rng(1).normal(size=len(T)),
    ],
    ids=["swings", "creeps", "rests", "torn away", "still", "briefly", "each 8 ms", "noise"],
)
def test_wheel_that_is_followed_is_nothing_to_tell(rig, angle_rad):
    assert stood_still(rig, record(rig, angle_rad)) == ([], [])


def test_jump_without_torque_reaches_no_hand(rig):
    stuck = held(CREEPS, 3.0, 5.0)
    assert stood_still(rig, record(rig, stuck, state=State.READY)) == ([], [])
    # as on a wire that lost its samples: the way back is as long as the time that passed
    lost = np.where((T >= 3.0) & (T < 5.0), 0.0, 1.0)
    assert stood_still(rig, record(rig, stuck, valid=lost)) == ([], [])


def test_records_without_an_encoder_say_nothing(rig):
    assert stood_still(rig, {}) == ([], [])
    assert stood_still(rig, {"estimation": record(rig, CREEPS)["estimation"][:0]}) == ([], [])

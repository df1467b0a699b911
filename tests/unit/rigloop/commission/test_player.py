"""The player in front of the guard: torques cycle by cycle, and a spring with the timing of a slower task."""

import math

import numpy as np
import pytest
from block_cells import Cells
from block_view import view_of

from rigloop.commission.player import READS, Player

MS = 1_000_000


def player(**settings):
    given = {"counts_per_rev": 1000, "period_ns": MS, "room": 64} | settings
    return Player("player", {port: f"in/{port}" for port in READS}, **given)


def played(made, counts, play=1.0, elapsed=None, port="at"):
    """Step with these counts; return torque, angle and number, or another output, of each cycle."""
    cells, view = Cells(made), view_of(made)
    found = []
    for k, count in enumerate(counts):
        cells["position_count"], cells["play"] = count, play
        cells["elapsed"] = 1.0 if elapsed is None else elapsed[k]
        assert view.call(k * MS) == 0
        found.append((cells["torque_nm"], cells["angle_rad"], cells[port]))
    return np.array(found).T


def test_torques_come_cycle_by_cycle_and_then_none():
    made = player()
    made.load([0.1, 0.2, 0.3])
    torque, _, at = played(made, [0.0] * 5)
    assert torque.tolist() == [0.1, 0.2, 0.3, 0.0, 0.0]
    assert at.tolist() == [1, 2, 3, 3, 3]


def test_nothing_is_played_before_it_is_asked_for():
    made = player()
    made.load([0.1])
    assert played(made, [0.0] * 3, play=0.0)[0].tolist() == [0.0] * 3


def test_a_longer_take_waits_for_its_own_beginning():
    made = player()
    made.load([0.1])
    assert played(made, [0.0] * 3)[0].tolist() == [0.1, 0.0, 0.0]
    made.load([0.1, 0.2, 0.3, 0.4])
    torque, _, at = played(made, [0.0] * 3)
    assert torque.tolist() == at.tolist() == [0.0] * 3
    assert played(made, [0.0] * 2, play=2.0)[0].tolist() == [0.1, 0.2]


def test_missed_cycles_are_left_out_and_no_torque_lasts_longer():
    made = player()
    made.load([0.1, 0.2, 0.3, 0.4, 0.5])
    # the first cycle of a take is its first, whenever the one before was
    torque, _, at = played(made, [0.0] * 5, elapsed=[7.0, 2.0, 1.0, 1.0, 1.0])
    assert torque.tolist() == [0.1, 0.3, 0.4, 0.5, 0.0]
    assert at.tolist() == [1, 3, 4, 5, 5]
    made.load([0.1, 0.2])
    assert played(made, [0.0] * 3, 2.0, [1.0, 9.0, 1.0])[0].tolist() == [0.1, 0.0, 0.0]
    made.load([0.1, 0.2])
    assert played(made, [0.0] * 2, 3.0, [math.nan, -5.0])[0].tolist() == [0.1, 0.2]


def test_the_rate_after_a_missed_cycle_is_that_of_its_time():
    even, missed = player(), player()
    even.load(np.zeros(60))
    missed.load(np.zeros(60))
    true = 1e3 * 0.002 * math.pi  # a count a millisecond, a thousand a turn
    assert played(even, range(50), port="rate_rad_s")[2][-1] == pytest.approx(true, rel=0.01)
    counts = [*range(30), *range(40, 50)]
    elapsed = [1.0] * 30 + [11.0] + [1.0] * 9
    rates = played(missed, counts, elapsed=elapsed, port="rate_rad_s")[2]
    assert rates.max() <= true * (1 + 1e-9)
    assert rates[-1] == pytest.approx(true, rel=0.01)


def test_a_spring_of_a_slower_task_goes_on_behind_missed_cycles():
    made = player(hold=2)
    made.load(np.zeros(8), stiffness_nm_rad=10.0)
    torque = played(made, [0, 100, 100, 100], elapsed=[1.0, 1.0, 2.0, 3.0])[0]
    assert torque.tolist() == pytest.approx([0.0, 0.0, 0.0, -2.0 * math.pi])


def test_a_spring_acts_one_hold_later_than_its_angle():
    made = player(hold=2)
    made.load(np.zeros(8), stiffness_nm_rad=10.0)
    torque, angle, _ = played(made, [0, 100, 100, 100, 100, 100, 100, 100])
    assert angle[1] == pytest.approx(0.2 * math.pi)
    assert torque[:4].tolist() == [0.0] * 4
    assert torque[4:] == pytest.approx([-2.0 * math.pi] * 4)


def test_the_angle_goes_across_the_wrap_of_the_counter_and_ignores_what_is_no_count():
    made = player()
    made.load(np.zeros(4))
    counts = [2**31 - 50, math.nan, -(2**31) + 50, math.inf]
    assert played(made, counts)[1] == pytest.approx([0, 0, 0.2 * math.pi, 0.2 * math.pi])


@pytest.mark.parametrize("torques", [[math.nan], [math.inf], [0.0] * 65])
def test_a_take_that_cannot_be_played_is_refused(torques):
    with pytest.raises(ValueError, match=r"not finite|room for 64"):
        player().load(torques)


@pytest.mark.parametrize("wrong", [{"hold": 0}, {"period_ns": 0}, {"counts_per_rev": 0}])
def test_a_player_without_time_or_scale_is_refused(wrong):
    with pytest.raises(ValueError, match="at least 1"):
        player(**wrong)


def test_hands_may_turn_the_wheel_between_two_takes_as_far_as_they_like():
    made = player()
    made.load([0.1])
    played(made, [0.0, 500.0])
    # 30 turns: the angle that the guard limits is that of a take
    _, angle, _ = played(made, 100.0 * np.arange(300), play=1.0)
    assert angle.tolist() == [0.0] * 300
    made.load([0.1, 0.2])
    _, angle, _ = played(made, [29_900.0, 30_000.0], play=2.0)
    assert angle == pytest.approx([0.0, 0.2 * math.pi])

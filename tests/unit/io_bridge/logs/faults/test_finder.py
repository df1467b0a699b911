"""Faults of an encoder beside wheels that rest, turn quickly, wrap, jitter, or are torn at."""

import numpy as np
import pytest

from io_bridge.logs.faults.clock import read_clock
from io_bridge.logs.faults.finder import find_faults

SPAN = 2**17
TURN = 2 * np.pi


def times(seconds=3.0, hz=1000.0):
    return np.arange(round(seconds * hz)) / hz


def counts(angle):
    return np.floor(angle * SPAN / TURN) % SPAN


def swing(t):
    return 1.3 + 0.8 * np.sin(9.0 * t)


def found(value, t=None, span=SPAN, turn=SPAN):
    t = times()[: len(value)] if t is None else t
    told = find_faults(value, read_clock(t, 1.0), span, turn)
    return [(f.kind, f.first, f.last) for f in told if f.kind != "counter wrap"]


@pytest.mark.parametrize(
    ("value", "begin", "end", "kind"),
    [
        (0, 900, 1972, "all zeros"), (0, 0, 300, "all zeros"), (0, 2500, 3000, "all zeros"),
        (SPAN - 1, 1200, 1244, "all ones"), (2**16 - 1, 1200, 1244, "all ones"), (0, 700, 706, "all zeros"),
    ],
)  # fmt: skip
def test_zeros_and_ones_are_no_angle(value, begin, end, kind):
    raw = counts(swing(times()))
    raw[begin:end] = value
    assert found(raw) == [(kind, begin, end - 1)]


def test_ones_that_follow_zeros_are_a_loss_of_power():
    raw = counts(swing(times()))
    raw[1000:1100], raw[1100:1144] = 0, SPAN - 1
    assert found(raw) == [("loss of power", 1000, 1143)]


def test_count_that_begins_elsewhere_after_zeros_is_a_loss_of_power():
    raw = counts(swing(times()))
    raw[1000:1100] = 0
    raw[1100:] = (raw[1100:] + 30_000) % SPAN
    assert found(raw)[0] == ("loss of power", 1000, 1099)


@pytest.mark.parametrize("at", [100, 1500])
@pytest.mark.parametrize("size", [300, -300, 20_000])
def test_spike_does_not_hide_itself_at_rest_or_in_motion(at, size):
    raw = counts(np.where(times() < 1.0, 1.3, 1.3 + 0.8 * np.sin(9.0 * (times() - 1.0))))
    raw[at] += size
    assert found(raw) == [("spike", at, at)]


def test_spikes_of_several_samples_and_side_by_side():
    raw = counts(swing(times()))
    raw[500:503] += [900, 1200, 700]
    raw[1000] += 2000
    raw[1004] -= 2000
    assert found(raw) == [("spike", 500, 502), ("spike", 1000, 1000), ("spike", 1004, 1004)]


@pytest.mark.parametrize(
    "burst", [(5120, 465, -11_544, -8939), (3364, -2250, 3260, -1982, 2943), (-400, 421, 1602, 656)]
)
@pytest.mark.parametrize("is_moving", [False, True])
def test_burst_of_wild_samples_is_one_spike_and_the_wheel_before_it_is_not_stuck(burst, is_moving):
    t = times()
    raw = 40_000.0 + 20_000 * np.where(is_moving | (t > 2.0), np.sin(4.0 * (t - 2.0)), 0.0)
    raw = np.floor(raw)
    raw[1000 : 1000 + len(burst)] += burst
    assert found(raw, span=0) == [("spike", 1000, 999 + len(burst))]


def test_spike_on_a_wheel_that_was_reset_to_zero_and_rests_there():
    raw = 7868.0 + np.floor(600 * np.sin(4.0 * np.maximum(times() - 2.0, 0.0)))
    raw[466:] -= 7868.0
    raw[906:908] += 2400.0
    assert found(raw, span=0) == [("reset to zero", 466, 466), ("spike", 906, 907)]


def test_zeros_that_one_good_sample_interrupts_are_one_stretch():
    raw = counts(swing(times()))
    raw[1000:1060] = 0
    raw[1030] = counts(swing(times()))[1030]
    assert found(raw) == [("all zeros", 1000, 1059)]


@pytest.mark.parametrize("wild", [2.0**32 - 1.0, -98_562_079.0])
def test_wild_value_far_from_a_slow_wheel_is_no_quantum_of_it(wild):
    raw = 1500.0 + np.floor(70.0 * np.sin(2.0 * times()))
    raw[1000] = wild
    raw[2000:2003] = wild
    kind = "all ones" if wild > 0.0 else "spike"
    assert found(raw, span=0) == [(kind, 1000, 1000), (kind, 2000, 2002)]


def test_ones_on_a_wheel_that_was_reset_to_zero_and_rests_there():
    raw = 7868.0 + np.floor(600 * np.sin(4.0 * np.maximum(times() - 2.0, 0.0)))
    raw[466:] -= 7868.0
    raw[906:940] = 65_535.0
    assert found(raw, span=0) == [("reset to zero", 466, 466), ("all ones", 906, 939)]


def test_resets_to_zero_are_each_found_and_are_no_gaps():
    raw = np.floor((5.0 + 3.0 * times()) * SPAN / TURN)
    at = range(200, 2900, 150)
    for row in at:
        raw[row:] -= raw[row]
    assert [one[:2] for one in found(raw, span=0) if one[0] == "reset to zero"] == [
        ("reset to zero", row) for row in at
    ]


def test_index_pulse_is_a_jump_for_good():
    raw = counts(swing(times()))
    raw[1500:] = (raw[1500:] - 375) % SPAN
    assert found(raw) == [("index jump", 1500, 1500)]


def test_counter_that_is_stuck_and_comes_back_elsewhere():
    raw = counts(swing(times()))
    held = raw.copy()
    held[1000:1200] = held[999]
    ((kind, first, last),) = found(held)
    assert (kind, abs(first - 1000) <= 1, last) == ("stuck", True, 1199)
    raw[1048:] = raw[1047]
    assert found(raw)[0][0] == "stuck"


def test_saturated_swing_is_found_at_each_turn():
    value = np.minimum(np.round(0.8 * np.sin(9.0 * times(2.9)), 4), 0.7)
    assert [one[0] for one in found(value, span=0, turn=TURN)] == ["saturation"] * 4


def test_lost_bits_are_found_with_their_stretch():
    raw = np.floor(swing(times()) * SPAN / TURN)
    raw[800:1300] -= raw[800:1300] % 32
    ((kind, first, last),) = found(raw, span=0)
    assert (kind, abs(first - 800) < 3, abs(last - 1299) < 3) == ("lost precision", True, True)


@pytest.mark.parametrize(
    "angle",
    [
        lambda t: 0.0005 * np.sin(3 * t),  # about zero, where the counter wraps
        lambda t: np.where(t < 1.0, 0.0, 2.0 * (t - 1.0) ** 2),  # rests at zero, then goes
        lambda t: np.where(t < 1.0, 0.3, 0.3 + 300.0 * (t - 1.0) ** 2),  # and is torn away
        lambda t: 40.0 * t,  # round and round
        lambda t: np.where(t < 1.5, 1.3 * np.cos(np.minimum(t, 1.5) * np.pi / 1.5), -1.3),
        lambda t: np.round(3 * t) * 0.1 / 57.3,  # a coarse encoder
    ],
    ids=["about zero", "from rest", "torn away", "turning", "to rest", "coarse"],
)
def test_wheel_that_is_there_is_not_missed(angle):
    assert found(counts(angle(times()))) == []


def test_noise_is_no_fault():
    noise = np.random.default_rng(3).standard_normal(3000)
    assert found(np.floor(swing(times()) * 1000 + 4 * noise), span=0, turn=TURN * 1000) == []


def test_quick_moves_in_few_samples_are_no_jumps():
    # least jerk from rest to rest, 3 rad in 0.4 s at 50 Hz: its acceleration changes from sample to sample
    t = times(12.0, 50.0)
    s = np.clip(np.mod(t, 1.0) / 0.4, 0.0, 1.0)
    way = s**3 * (10.0 - 15.0 * s + 6.0 * s**2)
    assert found(np.round(3.0 * (np.floor(t) + way), 6), t, span=0, turn=TURN) == []


def test_spike_and_jump_in_a_turning_that_never_rests():
    t = times(20.0, 100.0)
    value = np.round(8.7 * t + 0.5 * np.sin(2.0 * t), 6)
    value[700:703] += 0.23
    value[1200:] += 0.66
    assert found(value, t, span=0, turn=TURN) == [
        ("spike", 700, 702),
        ("index jump", 1200, 1200),
    ]


def test_rows_of_one_time_in_a_quick_turning_leave_no_jump():
    t = times(10.0, 100.0)
    value = np.round(6.0 * t + 0.3 * np.sin(4.0 * t), 5)
    t[400:404] = t[399]
    assert found(value, t, span=0, turn=TURN) == []


def test_motion_that_stops_dead_and_goes_on_elsewhere_is_stuck():
    value = 120.0 * np.sin(2.0 * times(hz=200.0)).round(3)
    value[300:366] = value[299]
    assert found(value, times(hz=200.0), span=0.0, turn=360.0) == [("stuck", 300, 365)]


def test_stamp_that_is_late_by_less_than_a_sample_makes_no_jump():
    # the encoder was read in time; only the logger's clock came late
    t = times(12.0, 125.0)
    value = np.round(6.7 * t + 0.3 * np.sin(2.0 * t), 6)
    t[[300, 700, 1100]] += 0.6 / 125.0
    assert found(value, t, span=0, turn=TURN) == []


def test_quick_turns_beside_a_stretch_of_zeros_are_no_jumps():
    t = times(30.0, 125.0)
    value = np.floor(2.0**19 * (3.0 * np.sin(10.0 * t) + 4.0))
    value[2584:2602] = 0
    assert found(value, t, span=0, turn=2.0**22) == [("all zeros", 2584, 2601)]


@pytest.mark.parametrize("last", [5, 11, 12, 13])
def test_log_that_ends_in_a_quick_move_has_no_jump_there(last):
    s = (np.arange(15) + 0.3) * 0.02 / 0.3
    way = 300.0 * s**3 * (10.0 - 15.0 * s + 6.0 * s**2)
    value = np.round(np.concatenate([np.zeros(600), way[:last]]), 2)
    assert found(value, np.arange(len(value)) / 50.0, span=0, turn=360.0) == []

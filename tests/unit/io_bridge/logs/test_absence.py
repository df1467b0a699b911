"""A log whose encoder has left it, beside a wheel that rests, turns quickly, wraps or is re-referenced."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from io_bridge.logs.absence import absences

from io_bridge.logs.reader import read_log

LOGS = Path(__file__).parents[3] / "data" / "logs"
SPAN = 2**17


@pytest.fixture(scope="module")
def raw():
    return read_log(LOGS / "phobos_raw_counts_v6.csv")


def log_of(raw, angle_rad, seconds=3.0, hz=1000.0):
    """A log of an absolute encoder of 17 bits that turns as given."""
    t = np.arange(round(seconds * hz)) / hz
    count = np.floor(angle_rad(t) * SPAN / (2 * np.pi)) % SPAN
    angle = raw.mapping.angle.model_copy(update={"counts_per_rev": SPAN, "counter_span": SPAN})
    mapping = raw.mapping.model_copy(update={"angle": angle})
    return replace(
        raw, mapping=mapping, t_s=t, position_count=count, torque={}, row=np.arange(len(t))
    )


def swing(t):
    return 1.3 + 0.8 * np.sin(9.0 * t)


def with_counts(log, begin, end, value):
    count = log.position_count.copy()
    count[begin:end] = value
    return replace(log, position_count=count)


@pytest.mark.parametrize(
    ("value", "begin", "end"),
    [
        (0, 900, 1972), (0, 0, 300), (0, 2500, 3000),  # power lost, late, for good
        (SPAN - 1, 1200, 1244), (2**16 - 1, 1200, 1244), (0, 700, 706),
    ],
)  # fmt: skip
def test_zeros_and_ones_are_no_angle(raw, value, begin, end):
    (words,) = absences(with_counts(log_of(raw, swing), begin, end, value))
    assert f"in {end - begin} of 3000 samples, first at row {begin} " in words
    assert "zero or all ones" in words


def test_ones_that_follow_zeros_are_one_absence(raw):
    log = with_counts(with_counts(log_of(raw, swing), 1000, 1100, 0), 1100, 1144, SPAN - 1)
    (words,) = absences(log)
    assert "in 144 of 3000" in words


def test_counter_that_is_stuck_and_comes_back_elsewhere(raw):
    log = log_of(raw, swing)
    # held while the wheel swings on: 0.3 rad away when it comes back; 7 rad/s stopped dead
    held = with_counts(log, 1000, 1200, log.position_count[999])
    assert any("stuck" in words for words in absences(held))
    to_the_end = with_counts(log, 1048, 3000, log.position_count[1047])
    assert any("stuck" in words for words in absences(to_the_end))


@pytest.mark.parametrize("hz", [200.0, 1000.0, 5000.0])
def test_counter_that_is_stuck_while_the_wheel_creeps_on(raw, hz):
    """For two seconds, in which the wheel goes 0.019 rad: nothing stops dead, only the way back is a jump."""
    log = log_of(raw, lambda t: 0.7 + 0.0095 * t, seconds=6.0, hz=hz)
    begin, end = round(2.0 * hz), round(4.0 * hz)
    (words,) = absences(with_counts(log, begin, end, log.position_count[begin]))
    stuck = int(words.partition("stuck in ")[2].partition(" of ")[0])
    # the samples before it may have that count by right
    assert end - begin <= stuck <= end - begin + 0.01 * hz


def test_log_that_says_one_value_says_nothing(raw):
    (words,) = absences(with_counts(log_of(raw, swing), 0, 3000, 7))
    assert "all 3000 samples" in words


@pytest.mark.parametrize(
    "angle",
    [
        lambda t: 0.0005 * np.sin(3 * t),  # about zero, where the counter wraps
        lambda t: np.where(t < 1.0, 0.0, 2.0 * (t - 1.0) ** 2),  # rests at zero, then goes
        lambda t: np.where(t < 1.0, 0.3, 0.3 + 300.0 * (t - 1.0) ** 2),  # and is torn away
        lambda t: np.where(t < 1.0, 0.3, 0.319),  # rests, and is given another zero
        lambda t: np.where(
            t < 1.0, 0.3, 0.3 + 50.0 * (np.ceil(t / 0.02) * 0.02 - 1.0) ** 2
        ),  # each 20 ms
        lambda t: 40.0 * t,  # round and round
        lambda t: np.where(t < 1.5, 1.3 * np.cos(np.minimum(t, 1.5) * np.pi / 1.5), -1.3),
        lambda t: np.round(3 * t) * 0.1 / 57.3,  # a coarse encoder
    ],
    ids=[
        "about zero",
        "from rest",
        "torn away",
        "another zero",
        "slow device",
        "turning",
        "to rest",
        "coarse",
    ],
)
def test_wheel_that_is_there_is_not_missed(raw, angle):
    assert absences(log_of(raw, angle)) == []


def test_index_pulse_is_no_absence(raw):
    log = log_of(raw, swing)
    count = log.position_count.copy()
    count[1500:] = (count[1500:] - 375) % SPAN
    assert absences(replace(log, position_count=count)) == []


@pytest.mark.parametrize("path", sorted(LOGS.glob("*.csv")), ids=lambda path: path.stem)
def test_recorded_logs_have_their_encoders(path):
    assert absences(read_log(path)) == []

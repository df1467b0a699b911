"""Moments on two clocks: read together, and UTC of any other moment."""

import time

import numpy as np
import pytest

from rigloop.run_folder.clocks import ClockPair, read_clocks, utc_of

HOUR = 3_600_000_000_000
FIRST = ClockPair(1_790_000_000_000_000_000, 5 * HOUR, 100)


def test_both_clocks_are_read_at_one_moment():
    before = time.time_ns() - time.monotonic_ns()
    pair = read_clocks()
    # the two differ by what a busy machine does between two readings
    assert abs(pair.utc_ns - pair.monotonic_ns - before) < 1_000_000_000
    assert pair.within_ns >= 0


def test_utc_is_parallel_to_one_pair_and_on_the_line_between_two():
    at = np.array([5 * HOUR - 7, 5 * HOUR, 6 * HOUR])
    assert (utc_of([FIRST], at).astype(np.int64) - FIRST.utc_ns).tolist() == [-7, 0, HOUR]
    ahead = 60_000
    second = ClockPair(FIRST.utc_ns + 2 * HOUR + ahead, 7 * HOUR, 100)
    at = np.array([5 * HOUR, 6 * HOUR, 7 * HOUR, 8 * HOUR])
    found = utc_of([FIRST, second], at).astype(np.int64) - FIRST.utc_ns
    assert found.tolist() == [0, HOUR + ahead // 2, 2 * HOUR + ahead, 3 * HOUR + ahead]


def test_without_a_pair_there_is_no_utc():
    with pytest.raises(ValueError, match="no moment"):
        utc_of([], 0)

import numpy as np
import pytest

from io_bridge.logs.faults.clock import read_clock


def found(stamp, unit_s=1.0, bits=None):
    return [(f.kind, f.first, f.last) for f in read_clock(stamp, unit_s, bits).found]


def even(n=600, period=0.01):
    return np.arange(n) * period


def test_even_clock_has_no_fault():
    clock = read_clock(even(), 1.0)
    assert (clock.found, clock.period_s) == ([], pytest.approx(0.01))


def test_gap_counts_what_is_missing():
    t = np.delete(even(), slice(200, 207))
    assert found(t) == [("gap", 200, 200)]
    assert "about 7 missing" in read_clock(t, 1.0).found[0].words


def test_late_samples_that_come_together_are_bunched_and_no_gap():
    t = even()
    t[200:206] = t[206] - 0.0005 * np.arange(6, 0, -1)
    assert found(t) == [("bunched stamps", 200, 206)]


def test_stamps_that_repeat_or_go_back():
    t = even()
    t[300], t[400:403] = t[299], t[400:403] - 0.2
    assert found(t) == [("backward stamps", 400, 402), ("repeated stamps", 300, 300)]


def test_stamp_that_leaps_ahead_is_the_one_that_is_left_out():
    t = even()
    t[300] += 5.0
    clock = read_clock(t, 1.0)
    assert next((f.kind, f.first) for f in clock.found) == ("backward stamps", 300)
    assert not clock.keep[300]
    assert clock.keep.sum() == 599


def test_restarted_clock_goes_on_after_one_period():
    t = even() + 20.0
    t[250:] -= t[250]
    clock = read_clock(t, 1.0)
    assert [(f.kind, f.first) for f in clock.found] == [("restarted clock", 250)]
    np.testing.assert_allclose(np.diff(clock.t_s), 0.01)


@pytest.mark.parametrize("bits", [None, 32])
def test_counter_of_a_clock_runs_over(bits):
    ticks = (2.0**32 - 100_000 + 1000 * np.arange(600)) % 2**32
    clock = read_clock(ticks, 1e-6, bits)
    assert [(f.kind, f.first) for f in clock.found] == [("clock wrap", 100)]
    np.testing.assert_allclose(np.diff(clock.t_s), 1e-3)


def test_jitter_of_a_polling_logger_is_neither_gap_nor_bunch():
    rng = np.random.default_rng(1)
    t = np.sort(even(3000, 0.012) + rng.uniform(0.0, 0.011, 3000))
    assert found(t) == []


def test_clock_of_too_few_digits_is_one_fault():
    t = even(2000, 0.001)
    t[1000:] = np.floor(t[1000:] / 0.004) * 0.004
    ((kind, first, last),) = found(t)
    assert (kind, first > 950, last > 1990) == ("lost precision", True, True)

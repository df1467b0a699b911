"""Parts of benchmarks/lateness.py: how rounds are counted, how bars are judged, what is read of cyclictest."""

import sys
from pathlib import Path

import numpy as np
import pytest

from rt_core.lateness.histogram import Histogram

FOLDER = Path(__file__).parents[3] / "benchmarks"


@pytest.fixture(scope="module", autouse=True)
def parts():
    sys.path.insert(0, str(FOLDER))
    yield
    sys.path.remove(str(FOLDER))


def lateness(us):
    from timing.rounds import Lateness

    return Lateness.of(Histogram.of(np.full(1000, int(1000 * us))))


def rounds(**variants):
    from timing.rounds import interleaved

    return interleaved(variants, 5)


def test_figures_are_medians_over_rounds_and_one_odd_round_moves_none():
    values = iter((10.0, 11.0, 9000.0, 12.0, 13.0))
    found = rounds(a=lambda: lateness(next(values)))
    assert found.n == 5
    assert found.median("a", "p99") == pytest.approx(12.0, rel=0.04)


def test_lateness_below_a_reading_of_the_clock_counts_as_one():
    found = rounds(a=lambda: lateness(0.002))
    assert found.median("a", "p50") == 0.1


def test_a_round_that_fails_is_dropped_whole_and_another_one_is_run():
    calls = {"a": 0, "b": 0}

    def a():
        calls["a"] += 1
        return lateness(1)

    def b():
        calls["b"] += 1
        if calls["b"] == 2:
            raise OSError("no core today")
        return lateness(2)

    found = rounds(a=a, b=b)
    # a host that takes time away drops further rounds
    assert found.n == 5
    assert found.dropped >= 1
    assert len(found.found["a"]) == len(found.found["b"]) == 5
    assert found.error == "b: OSError: no core today"
    assert calls["b"] == 5 + found.dropped


def test_rounds_that_always_fail_come_to_an_end_and_say_why():
    from timing.bars import compared
    from timing.rounds import TRIES

    def fails():
        raise RuntimeError("never")

    found = rounds(a=fails, b=lambda: lateness(1))
    assert (found.n, found.dropped) == (0, 5 * TRIES)
    (row,) = compared("s", "a / b", found, "a", "b", {"p99": 1.0})
    assert row.holds is None
    assert "never" in row.remark


@pytest.mark.parametrize(("bar", "holds"), [(1.9, False), (2.1, True), (None, None)])
def test_a_ratio_is_judged_by_its_bar(bar, holds):
    from timing.bars import compared

    found = rounds(a=lambda: lateness(40), b=lambda: lateness(20))
    (row,) = compared("s", "a / b", found, "a", "b", {"p99": bar})
    assert row.ratio == pytest.approx(2.0, rel=0.04)
    assert row.holds is holds


@pytest.mark.slow
def test_what_cyclictest_counted_is_read(tmp_path):
    from timing.sleepers import cyclictest, missing_cyclictest

    if missing_cyclictest():
        pytest.skip("cyclictest is not installed")
    try:
        found = cyclictest(1000, 0.3, 0, tmp_path)
    except Exception as error:
        pytest.skip(f"cyclictest does not run here: {error}")
    assert found.n == pytest.approx(300, abs=5)
    assert 0 < found.p50 <= found.p99 <= found.p99_9


def test_lost_cycles_of_a_consumer_are_not_exact():
    from timing.consumers import is_exact

    good = {"cycles": 100, "produced": 100, "consumed": 70, "dropped": 30, "recorded": 70}
    assert is_exact(good)
    assert is_exact(good | {"recorded": None})
    for name in good:
        assert not is_exact(good | {name: good[name] + 1}), name


def test_the_interval_of_a_median_is_that_of_its_ranks():
    from timing.rounds import median_interval

    # the 10th and the 21st of 30: what tables of the sign test give for 95 %
    assert median_interval(range(30, 0, -1)) == (10, 15.5, 21)
    assert median_interval([3.0, 1.0, 2.0]) == (1.0, 2.0, 3.0)

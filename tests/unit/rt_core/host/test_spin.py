"""The choice of a spin, and the wakes that it rests on."""

import numpy as np
import pytest

from rt_core.host.spin import LEAST_NS, choose_spin
from rt_core.loop.calibrate import measure_wakes

MS = 1_000_000


def test_the_spin_covers_the_p99_9_with_a_margin():
    late = np.full(2000, 20_000)
    late[:2] = 100_000  # the p99.9 of 2000 is the third but one
    late[2:4] = 60_000
    found = choose_spin(late, MS)
    assert found.p99_9_ns == 60_000
    assert found.spin_ns == 72_000
    assert (found.wakes, found.bound) == (2000, "")


def test_one_great_outlier_in_thousands_changes_nothing():
    late = np.full(5000, 30_000)
    late[77] = 50 * MS
    assert choose_spin(late, MS).spin_ns == 36_000


@pytest.mark.parametrize(
    ("late_ns", "period_ns", "spin_ns", "bound"),
    [
        (900_000, MS, 850_000, "share of the period"),
        (1_000, MS, LEAST_NS, "least"),
        (1_000, 10_000, 8_500, "least"),
    ],
)
def test_the_spin_stays_within_its_bounds(late_ns, period_ns, spin_ns, bound):
    found = choose_spin(np.full(100, late_ns), period_ns)
    assert (found.spin_ns, found.bound) == (spin_ns, bound)


def test_wakes_are_measured_one_by_one():
    late = measure_wakes(MS, 50)
    assert late.shape == (50,)
    assert np.all(late >= 0)
    assert np.any(late > 0)


def test_a_core_that_is_not_there_is_named():
    with pytest.raises(OSError, match="core 1000"):
        measure_wakes(MS, 1, core=1000)
    with pytest.raises(ValueError, match="n = 0"):
        measure_wakes(MS, 0)

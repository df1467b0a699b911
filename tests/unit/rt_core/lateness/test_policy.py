"""When overruns are too many, point by point."""

import pytest

from rt_core.lateness.cause import Cause
from rt_core.lateness.policy import levels


@pytest.mark.parametrize(
    ("cause", "points"),
    [
        (Cause.OWN, 2),
        (Cause.UNTOLD, 2),
        (Cause.BUS, 1),
        (Cause.LATE_WAKE, 1),
        (Cause.STOLEN, 1),
        (Cause.NONE, 1),
    ],
)
def test_an_overrun_that_may_come_again_counts_twice(cause, points):
    assert levels([(100, cause)], limit=8, window=10) == [points]


def test_stolen_time_counts_nothing_where_the_rig_says_so():
    overruns = [(100, Cause.STOLEN), (101, Cause.UNTOLD), (102, Cause.STOLEN)]
    assert levels(overruns, limit=8, window=10, count_stolen=False) == [0, 2, 2]


@pytest.mark.parametrize("window", [1, 2, 10])
def test_a_point_counts_for_exactly_the_window(window):
    inside, outside = 100 + window - 1, 100 + window
    assert levels([(100, Cause.BUS), (inside, Cause.BUS)], limit=8, window=window)[-1] == 2
    assert levels([(100, Cause.BUS), (outside, Cause.BUS)], limit=8, window=window)[-1] == 1


def test_no_more_than_the_limit_is_remembered():
    assert levels([(k, Cause.OWN) for k in range(5)], limit=3, window=10) == [2, 3, 3, 3, 3]


@pytest.mark.parametrize(("limit", "window"), [(0, 1), (65, 1), (1, 0)])
def test_wrong_limits_are_refused(limit, window):
    with pytest.raises(ValueError, match="limit"):
        levels([], limit=limit, window=window)

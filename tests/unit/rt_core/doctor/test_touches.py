"""How often a touch of a page is held up: judged by figures, and measured once for real."""

import pytest

from rt_core.doctor.check import Demands, Level, TaskDemand
from rt_core.doctor.touches import judged, page_touches
from rt_core.host.facts import Host
from rt_core.loop.calibrate import measure_touches


@pytest.mark.parametrize(
    ("touches", "holes", "level", "found"),
    [
        (400_000, 0, Level.GREEN, "0.0 holes in a million (0 of 400000)"),
        (400_000, 1, Level.GREEN, "2.5 holes in a million"),
        (2_000_000, 3, Level.GREEN, "1.5 holes in a million"),
        (400_000, 5, Level.AMBER, "12.5 holes in a million (5 of 400000), the longest 180 µs"),
        (0, 0, Level.AMBER, "unknown"),
    ],
)
def test_the_rate_decides(touches, holes, level, found):
    check = judged(touches, holes, 180_000, Demands())
    assert check.level is level
    assert found in check.found
    assert (check.remedy == "") == (level is Level.GREEN)


def test_the_remedy_is_a_spin_where_the_period_has_room_for_it():
    tasks = (
        TaskDemand("slow", 1000, 80, 0, 0),
        TaskDemand("fast", 100, 90, 1, 0),
        TaskDemand("warm", 1000, 80, 1, 200),
    )
    remedy = judged(400_000, 5, 180_000, Demands(tasks=tasks)).remedy
    assert "spin_us = 100  # at least, in [tasks.slow]" in remedy
    assert "fast" not in remedy
    assert "warm" not in remedy
    assert "on the host" in remedy


def test_this_machine_is_measured():
    touches, holes, longest_ns = measure_touches(0.05, pages=16)
    assert touches >= 16
    assert touches % 16 == 0
    assert (holes == 0) == (longest_ns == 0)
    assert "in a million" in page_touches(Host(sample_s=0.05), Demands()).found
    with pytest.raises(ValueError, match="seconds = 0"):
        measure_touches(0)

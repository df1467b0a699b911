import numpy as np

from rigloop.report.latest import worst_cycles


def test_worst_cycles_are_the_latest_ones_first():
    record = np.zeros(50, [("t_ns", "<i8"), ("loop/a/late_ns", "<f8")])
    record["loop/a/late_ns"][[7, 30, 12]] = 5.0, 9.0, 5.0
    assert worst_cycles(record, "a") == [30, 7, 12]
    assert worst_cycles(record, "a", most=1) == [30]
    assert worst_cycles(record, "b") == []
    assert worst_cycles(record[:0], "a") == []

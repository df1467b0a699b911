"""Histograms of a page: each cycle once, whatever its time is."""

import numpy as np

from rigloop.monitor.histograms import TaskHistograms


def test_each_cycle_is_counted_once_in_its_bin():
    made = TaskHistograms("fast")
    t_ns = np.arange(6) * 1000
    late = np.array([-5.0, 50.0, 1000.0, 1e12, np.nan, 1000.0])
    columns = {made.paths["late"]: late, made.paths["step"]: np.full(6, 2000.0)}
    made.add(t_ns, columns)
    made.add(t_ns, columns)  # the page follows something else, and reads them again
    found = made.message()
    assert sum(found["late"]["counts"]) == 5
    assert found["late"]["most_ns"] == 1e12
    assert found["step"]["counts"] == [6]
    (edge,) = found["step"]["edges_ns"]
    assert 2000.0 < edge <= 2000.0 * 2**0.25


def test_without_a_cycle_there_is_nothing_to_draw():
    assert TaskHistograms("fast").message()["late"] == {
        "edges_ns": [],
        "counts": [],
        "most_ns": 0.0,
    }

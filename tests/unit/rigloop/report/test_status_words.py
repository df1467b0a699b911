"""Status numbers of a run with their words."""

import math

from rigloop.compose.blocks import paths
from rigloop.compose.wiring import load
from rigloop.report.status_words import in_words, status_figures, status_words


def test_each_kernel_of_a_rig_has_a_word_beside_its_number():
    rig = load("steering_wheel").rig
    found = {
        path: 3.0
        for name, block in rig.blocks.items()
        for port, path in paths(name, block)[1].items()
        if port == "status" and block.kind == "mechanism"
    }
    assert found
    assert set(status_words(rig, found).values()) == {"3 not_converged"}
    assert not status_words(rig, dict.fromkeys(found, math.nan))
    [row, *_] = status_figures(status_words(rig, found))
    assert row[1] == "3 not_converged"
    assert "constraint" in row[2]


def test_numbers_that_mean_nothing_are_said_to():
    assert in_words(0) == "0 good"
    assert in_words(99) == "99 unknown"

"""Figures of columns in one pass: those of NumPy, whatever the pieces."""

import numpy as np
import pytest

from rigloop.replay.judged_parts import Totals
from rigloop.replay.sums import add_rows


@pytest.mark.parametrize("columns", [[2, 3, 4], [4, 2]])
def test_figures_of_pieces_are_those_of_the_whole(columns):
    images = np.random.default_rng(1).normal(size=(500, 6))
    images[100, 3] = np.nan
    images[7, 4], images[8, 4] = np.inf, -np.inf
    totals = Totals(tuple("abc"[: len(columns)]), columns)
    for first, end in ((0, 1), (1, 130), (130, 500)):
        totals.take(np.ascontiguousarray(images[first:end]))
    for (_, found), column in zip(totals.figures().items(), columns, strict=True):
        values = images[:, column]
        with np.errstate(invalid="ignore"):
            expected = [
                np.min(values),
                np.max(values),
                np.mean(values),
                np.sqrt(np.mean(values**2)),
            ]
        shown = [found.least, found.largest, found.mean, found.rms]
        # sums of 500 numbers in another order
        np.testing.assert_allclose(shown, expected, rtol=1e-12)
        assert (found.cycles, found.last) == (500, values[-1])


def test_columns_that_are_not_there_are_refused():
    with pytest.raises(ValueError, match="outside"):
        add_rows(np.zeros((2, 3)), 2, np.zeros((5, 2)))
    with pytest.raises(ValueError, match="outside"):
        add_rows(np.zeros((2, 3)), 0, np.zeros((4, 2)))

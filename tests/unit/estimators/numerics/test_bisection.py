"""The boundary of a condition, from either side."""

import math

import pytest

from estimators.numerics.bisection import boundary


@pytest.mark.parametrize(("inside", "outside"), [(0.0, 2.0), (5.0, 0.5)])
def test_it_is_found_from_both_sides_and_lies_outside(inside, outside):
    def holds(x):
        return (x < math.sqrt(2.0)) == (inside < outside)

    found = boundary(holds, inside, outside)
    assert found == pytest.approx(math.sqrt(2.0), rel=1e-15)
    assert not holds(found)


def test_each_halving_halves_what_is_not_known():
    assert boundary(lambda x: x < 0.3, 0.0, 1.0, halvings=2) == 0.5
    assert boundary(lambda x: x < 0.3, 0.0, 1.0, halvings=0) == 1.0

"""Functions from sums and products, against those of a library."""

import math

import numpy as np
import pytest

from codegen.expressions import smooth
from codegen.expressions.dag import Graph, evaluate


@pytest.fixture(scope="module")
def over_sine():
    graph = Graph()
    cosine = graph.var("c")
    ratio, slope = smooth.over_sine(cosine)
    derived = graph.diff(ratio, cosine)
    return lambda c: [evaluate(e, {"c": c}) for e in (ratio, slope, derived)]


@pytest.mark.parametrize("angle", [1e-5, 0.01, 0.5, 1.5, 2.5, 3.1, 3.14])
def test_an_angle_over_its_sine_is_exact_to_a_half_turn(over_sine, angle):
    ratio, slope, derived = over_sine(math.cos(angle))
    sine = math.sin(angle)
    # the cosine has the angle to 1e-16 / sine only
    assert ratio == pytest.approx(angle / sine, rel=1e-14 / sine**2 if sine > 0.1 else 1e-9)
    if angle > 0.1:
        exact = (angle * math.cos(angle) / sine - 1.0) / sine**2
        assert slope == pytest.approx(exact, rel=1e-6)
    assert slope == pytest.approx(derived, rel=1e-9)


def test_it_has_no_hole_at_rest_and_stays_a_number_at_a_half_turn(over_sine):
    assert over_sine(1.0) == pytest.approx([1.0, -1.0 / 3.0, -1.0 / 3.0], rel=1e-14)
    assert np.all(np.isfinite([over_sine(-1.0), over_sine(-1.0 - 1e-12)]))

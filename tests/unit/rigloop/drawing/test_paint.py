"""Hulls, and a look for every joint there is."""

import numpy as np

from codegen.elements import registry
from codegen.system import joints
from rigloop.drawing.paint import STYLES, convex_hull, style_of
from rigloop.drawing.sketch import Drawn


def test_a_hull_has_the_corners_only():
    square = np.array([[0, 0], [1, 0], [1, 1], [0, 1]], dtype=float)
    inside = np.random.default_rng(1).uniform(0.1, 0.9, (20, 2))
    hull = convex_hull(np.concatenate([inside, square, [[0.5, 0.0]]]))
    assert {tuple(p) for p in hull} == {tuple(p) for p in square}


def test_points_on_a_line_have_two_corners_and_one_point_has_one():
    line = np.outer(np.linspace(0, 1, 5), [1.0, 2.0])
    assert len(convex_hull(line)) == 2
    assert len(convex_hull(np.zeros((3, 2)))) == 1


def test_every_joint_has_a_look_and_an_unknown_one_too():
    named = [n for n, e in registry().items() if issubclass(e.Entry, joints.Entry)]
    for name in [*named, "one_that_will_come"]:
        shape = Drawn("mark", f"joint {name}", np.zeros((1, 3)), name, 0)
        assert style_of(shape) in STYLES

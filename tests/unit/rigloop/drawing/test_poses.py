"""Poses of a drawing by a matrix: the same shapes as from the expressions themselves."""

import numpy as np
import pytest

from codegen.description.mechanism import load
from rigloop.drawing.places import sketch
from rigloop.drawing.poses import Poses


@pytest.mark.parametrize("name", ["steering_26", "governor", "bricard", "brake_pedal"])
def test_shapes_of_any_pose_are_those_of_the_sketch(name):
    mechanism = load(name)
    made = sketch(name, mechanism)
    poses = Poses(made)
    rng = np.random.default_rng(7)
    rest = np.array([c.initial for c in mechanism.system.coordinates])
    for scale in (0.0, 0.01, 1.0):
        q = rest + scale * rng.standard_normal(len(rest))
        wanted = [*made.at(q), *made.loose_at(q)]
        for found, expected in zip(poses.at(q), wanted, strict=True):
            assert (found.kind, found.label) == (expected.kind, expected.label)
            np.testing.assert_allclose(found.points, expected.points, atol=1e-9)


def test_centre_and_axis_of_an_arc_are_at_hand():
    mechanism = load("steering_26")
    poses = Poses(sketch("steering_26", mechanism))
    number = next(k for k, s in enumerate(poses.shapes) if s.kind == "arc")
    rest = np.array([c.initial for c in mechanism.system.coordinates])
    centre, axis, zero = poses.points_of(number, rest)
    assert np.linalg.norm(axis) == pytest.approx(1.0)
    assert abs(axis @ zero) < 1e-9
    assert np.isfinite(centre).all()

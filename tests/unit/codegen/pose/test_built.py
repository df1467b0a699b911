"""Whether every motion meets mass, at the pose of the file."""

import pytest

from codegen.description.builder import MechanismBuilder
from codegen.description.mechanism import MechanismError


def pendulums(heavy_kg, light_kg):
    made = MechanismBuilder("pair", gravity_m_s2=(0, -9.81, 0))
    made.point("A", position_m=(1, 0, 0), moves="xy").point("B", position_m=(2, 0, 0), moves="xy")
    made.constant_distance("first", points=[(0, 0, 0), "A"])
    made.constant_distance("second", points=["A", "B"])
    made.mass("A", point="A", mass_kg=heavy_kg)
    return made.mass("B", point="B", mass_kg=light_kg)


@pytest.mark.parametrize("heavy_kg", [1.0, 1e10, 1e14])
def test_a_light_body_beside_a_heavy_one_is_not_taken_for_none(heavy_kg):
    assert pendulums(heavy_kg, 1.0).build()


def test_a_point_without_mass_beside_a_heavy_one_is_named():
    with pytest.raises(MechanismError, match="can move without mass: B_y"):
        pendulums(1e10, 0.0).build()

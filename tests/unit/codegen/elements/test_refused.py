"""Elements that are wrong name their key."""

import math

import pytest

from codegen.description.builder import MechanismBuilder
from codegen.description.mechanism import MechanismError


@pytest.mark.parametrize(("table", "keys", "key"), [
    ("point_on_line", {"point": "P", "body": "rod", "start_m": (0, 1, 0), "along": (1, 0, 0)}, "start_m"),
    ("point_on_plane", {"point": "P", "start_m": (0, 0, 0), "normal": (0, 2, 0)}, "normal"),
    ("point_on_plane", {"point": "P", "body": "rad", "start_m": (0, 0, 0), "normal": (0, 1, 0)}, "body"),
    ("body_point", {"body": "rod", "position_m": (0, 1, 0)}, "position_m"),
    ("revolute", {"bodies": ["rod", "ground"], "point_m": (0, 0, 0), "axis": (0, 2, 0)}, "axis"),
    ("revolute", {"bodies": ["rod", "rod"], "point_m": (0, 0, 0), "axis": (0, 1, 0)}, "bodies"),
    ("spring", {"angle": "a"}, ""), ("friction", {"coulomb": 1, "transition_speed": 1}, ""),
    ("spring", {"angle": "a", "stiffness_n_per_m": 1}, "stiffness_n_per_m"),
    ("belt", {"first": "a", "second": "a", "first_radius_m": 0, "second_radius_m": 1}, "first_radius_m"),
    ("rigid_body", {"points": ["P"], "axis": (0, 0, 1), "angle": "a", "mass_kg": 1, "centre_m": "P"}, "angle"),
])  # fmt: skip
def test_a_wrong_element_names_its_key(table, keys, key):
    made = (
        MechanismBuilder("m")
        .point("P", position_m=(0, 0, 0))
        .point("R", position_m=(1, 0, 0))
        .angle("a")
    )
    body = {"mass_kg": 1, "centre_m": (0.5, 0, 0), "inertia_kg_m2": (0, 0.1, 0.1)}
    made.rigid_body("rod", points=["P", "R"], **body)
    getattr(made, table)("wrong", **keys)
    with pytest.raises(MechanismError) as caught:
        made.build()
    named = f"{table}.wrong" + (f".{key}" if key else "")
    assert named in [m.key for m in caught.value.mistakes]


@pytest.mark.parametrize(("table", "keys", "key", "told"), [
    ("mass", {"point": "P", "mass_kg": -1}, "mass_kg", "below 0"),
    ("point", {"position_m": (1, 0, 0), "moves": "xy", "velocity_m_s": (1, 0, 2)}, "velocity_m_s", "along z"),
    ("bushing", {"bodies": ["rod", "ground"], "point_m": (0, 0, 0), "stiffness": [1, 2, 3]}, "stiffness", "too few"),
    ("slide", {"point": "P", "start_m": "P", "along": (0, 0, 0), "by": "s"}, "along", "no direction"),
    ("mass", {"point": "P", "mass_kg": {"input": 1.0}}, "mass_kg", "cannot be an input"),
    ("mass", {"point": "P", "mass_kg": math.nan}, "mass_kg", "not finite"),
    ("inertia", {"angle": "a", "inertia_kg_m2": -0.1}, "inertia_kg_m2", "below 0"),
    ("uniform_rod", {"points": ["P", (0, 0, 0)], "mass_kg": -2}, "mass_kg", "below 0"),
    ("motor", {"angle": "a", "torque_constant_nm_per_a": 1, "current_a": 1, "rotor_inertia_kg_m2": -1},
     "rotor_inertia_kg_m2", "below 0"),
    ("friction", {"angle": "a", "coulomb": 1, "transition_speed": 0}, "transition_speed", "above 0"),
    ("lugre", {"angle": "a", "coulomb": 0, "static": 1, "stribeck_speed": 1, "bristle_stiffness": 1},
     "coulomb", "above 0"),
    ("slide", {"point": "P", "start_m": "P", "along": (0, 2, 0), "by": "s"}, "along", "length 1"),
    ("rotation", {"angle": "a", "point": "P", "centre_m": (0, 0, 0), "axis": (0, 0, 1), "zero": (0, 0.6, 0.8)},
     "zero", "not perpendicular"),
])  # fmt: skip
def test_numbers_that_no_mechanism_has_are_refused(table, keys, key, told):
    made = MechanismBuilder("m").point("P", position_m=(1, 0, 0)).angle("a").distance("s")
    text = getattr(made, table)("wrong", **keys)
    if math.nan in keys.values():  # the builder itself asks for finite numbers
        with pytest.raises(ValueError, match="not finite"):
            text.build()
        return
    with pytest.raises(MechanismError) as caught:
        text.build()
    (found,) = [m for m in caught.value.mistakes if m.key == f"{table}.wrong.{key}"]
    assert told in found.problem


@pytest.mark.parametrize("inertia", [(1, 1, 2.1), (-0.1, 0.1, 0.1), (1, 1, 1, 0.9, 0.9, -0.9)])
def test_an_inertia_that_no_body_has_is_refused(inertia):
    made = MechanismBuilder("m").point("P", position_m=(0, 0, 0))
    for letter, direction in (("u", (1, 0, 0)), ("v", (0, 1, 0)), ("w", (0, 0, 1))):
        made.unit_vector(letter, direction=direction)
    made.rigid_body(
        "b", points=["P"], vectors=["u", "v", "w"], mass_kg=1, centre_m=(0, 0, 0),
        inertia_kg_m2=inertia,
    )  # fmt: skip
    with pytest.raises(MechanismError, match="belongs to no body"):
        made.build()


def test_bodies_that_can_move_without_mass_are_each_named_with_a_remedy():
    made = MechanismBuilder("m")
    for name, at, mass in (("slim", 0, 1.0), ("leaf", 1, 0.0), ("lost", 2, 0.0)):
        made.point(f"{name}_p", position_m=(at, 0, 0))
        for letter, way in zip("uvw", ((1, 0, 0), (0, 1, 0), (0, 0, 1)), strict=True):
            made.unit_vector(f"{name}_{letter}", direction=way)
        vectors = [f"{name}_{letter}" for letter in "uvw"]
        inertia = (mass, mass, 0.0)  # none about z
        made.rigid_body(
            name, points=[f"{name}_p"], vectors=vectors, mass_kg=mass, centre_m=(at, 0, mass), inertia_kg_m2=inertia
        )  # fmt: skip
        if name != "lost":
            made.revolute(name, bodies=[name, "ground"], point_m=(at, 0, 0), axis=(0, 0, 1))
    with pytest.raises(MechanismError) as caught:
        made.build()
    told = {m.key: m for m in caught.value.mistakes}
    assert list(told) == ["rigid_body.slim", "rigid_body.leaf", "rigid_body.lost"]
    assert "no inertia about a way" in told["rigid_body.slim"].problem
    assert "inertia_kg_m2" in told["rigid_body.slim"].remedy
    assert all("carries none" in told[f"rigid_body.{name}"].problem for name in ("leaf", "lost"))
    assert "lost_p_x" in told["rigid_body.lost"].problem

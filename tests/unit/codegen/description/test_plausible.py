"""Values in another unit are doubted by name; what ships and what tests are made of is not."""

import pytest
from mechanisms.pendulum import PENDULUM

from codegen.description.builder import MechanismBuilder
from codegen.description.mechanism import MECHANISMS, MechanismError, load, parse
from codegen.description.plausible import doubts


def doubted(tmp_path, text):
    path = tmp_path / "pendulum.toml"
    path.write_text(text)
    return doubts(load(path), path)


@pytest.mark.parametrize("path", sorted(MECHANISMS.glob("*.toml")), ids=lambda p: p.stem)
def test_no_mechanism_that_ships_is_doubted(path):
    assert doubts(load(path), path) == []


def test_what_is_right_is_not_doubted(tmp_path):
    assert doubted(tmp_path, PENDULUM) == []


@pytest.mark.parametrize(
    ("old", "new", "key", "likely"),
    [
        ("mass_kg = 2.0", "mass_kg = 2e5", "rigid_body.arm.mass_kg", "grams"),
        (
            "inertia_kg_m2 = 0.015",
            "inertia_kg_m2 = 15000",
            "rigid_body.arm.inertia_kg_m2",
            "kg mm²",
        ),
        ("-9.81", "-9810", "gravity_m_s2", "millimetres"),
        ("[0.3, 0, 0]", "[300, 0, 0]", "point.P.position_m", "millimetres"),
        ("initial_rate_rad_s = 1.0", "initial_rate_rad_s = 1e5", "angle.arm", "rpm"),
    ],
)
def test_another_unit_is_doubted_by_name(tmp_path, old, new, key, likely):
    assert old in PENDULUM
    found = doubted(tmp_path, PENDULUM.replace(old, new))
    assert any(line.startswith(key) and likely in line for line in found), found


@pytest.mark.parametrize("value", ["1e300", "-1e300", '"1e200 * 1e100"', "1e16"])
def test_a_number_that_no_kernel_can_calculate_with_is_refused_by_name(value):
    with pytest.raises(MechanismError, match=r"arm\.mass_kg"):
        parse(PENDULUM.replace("mass_kg = 2.0", f"mass_kg = {value}"), "pendulum.toml")


def test_a_body_that_nothing_joins_beside_others_is_doubted(tmp_path):
    made = MechanismBuilder("m").angle("a").rigid_body(
        "arm", points=[(0, 0, 0), "tip"], axis=(0, 0, 1), angle="a", mass_kg=1.0, centre_m=(0.5, 0, 0),
        inertia_kg_m2=0.1,
    )  # fmt: skip
    made.point("tip", position_m=(1, 0, 0), moves="xy").point("p", position_m=(3, 0, 0), moves="xy")
    made.point("q", position_m=(4, 0, 0), moves="xy")
    made.rigid_body(
        "stray", points=["p", "q"], axis=(0, 0, 1), mass_kg=1.0, centre_m=(3.5, 0, 0), inertia_kg_m2=0.1
    )  # fmt: skip
    path = made.save(tmp_path)
    (told,) = (words for words in doubts(load(path), path) if "hangs on nothing" in words)
    assert told.startswith("rigid_body.stray")

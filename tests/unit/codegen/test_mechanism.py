"""Mechanism files: what is refused, and that all mistakes are told at once."""

import pytest

from codegen.mechanism import MECHANISMS, MechanismError, find, load

GOOD = (MECHANISMS / "guided_rod.toml").read_text()


def mistakes(tmp_path, text):
    path = tmp_path / "guided_rod.toml"
    path.write_text(text)
    with pytest.raises(MechanismError) as caught:
        load(path)
    return caught.value


@pytest.mark.parametrize(("old", "new", "key", "remedy"), [
    ("mass_kg = 2.0", "mass_kg = 2.0\nmas = 1", "uniform_rod.rod.mas", "did you mean 'mass_kg'?"),
    ('centre_m = "pivot"', 'centre_m = "pivto"', "rotation.rod.centre_m", "did you mean 'pivot'?"),
    ("position_m = [0.3, 0, 0]", "position_m = [0.3, 0]", "point.P.position_m", "position_m"),
    ("mass_kg = 2.0", "mass_kg = true", "uniform_rod.rod.mass_kg", "mass_kg"),
    ("mass_kg = 2.0", 'mass_kg = "2 +"', "uniform_rod.rod.mass_kg", "correct the expression"),
    ("[damper.bearing]", "[dampr.bearing]", "dampr", "did you mean 'damper'?"),
    ("[angle.rod]", "[angle.rod]\n[distance.rod]", "distance.rod", "rename one"),
    ('"guide.rod.reaction"', '"guide.rod.reation"', "outputs.guide/torque_nm", "did you mean"),
    ('"rod/angle_rad" =', '"rod/angle" =', "outputs.rod/angle", "end the name with _rad"),
    ("pivot = [0, 0, 0]", 'pivot = "unit(0)"', "parameters.pivot", "correct the expression"),
    ('coordinate = "rod"', "", "guide.rod.coordinate", "add it"),
    ('angle = "rod"\ndamping', 'angle = "rode"\ndamping', "damper.bearing.angle", "'rod'"),
    ('name = "guided_rod"', 'name = "other"', "name", 'write "guided_rod"'),
])  # fmt: skip
def test_a_mistake_names_its_key_and_remedy(tmp_path, old, new, key, remedy):
    assert old in GOOD
    error = mistakes(tmp_path, GOOD.replace(old, new))
    found = [m for m in error.mistakes if m.key == key]
    assert len(found) == 1, str(error)
    assert remedy in f"{found[0].problem} {found[0].remedy}"
    assert found[0].file == "guided_rod.toml"


def test_all_mistakes_are_told_at_once(tmp_path):
    text = GOOD.replace("mass_kg = 2.0", 'mass_kg = "x +"').replace("[damper.", "[dampr.")
    error = mistakes(tmp_path, text.replace('centre_m = "pivot"', 'centre_m = "pivto"'))
    assert {m.key for m in error.mistakes} == {
        "uniform_rod.rod.mass_kg", "dampr", "rotation.rod.centre_m",
    }  # fmt: skip
    assert len(str(error).splitlines()) == 3


def test_broken_toml_and_missing_files_are_one_mistake(tmp_path):
    assert "line 1" in str(mistakes(tmp_path, "name = = 3"))
    with pytest.raises(MechanismError, match="did you mean 'steering_26'"):
        find("steering26")
    with pytest.raises(MechanismError, match="no such mechanism file"):
        find(tmp_path / "absent.toml")


@pytest.mark.parametrize("path", sorted(MECHANISMS.glob("*.toml")), ids=lambda p: p.stem)
def test_shipped_mechanisms_start_with_a_drawing_and_load(path):
    assert path.read_text().startswith("# ")
    mechanism = load(path)
    assert mechanism.name == path.stem
    assert mechanism.outputs

"""Mechanism files: what is refused, and that all mistakes are told at once."""

import pytest

from codegen.description.mechanism import MECHANISMS, MechanismError, find, load
from codegen.elements import registry

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
    ("position_m = [0.3, 0, 0]", "position_m = [0.3, 0]", "point.P.position_m", "give more"),
    ("mass_kg = 2.0", "mass_kg = true", "uniform_rod.rod.mass_kg", "mass_kg"),
    ("mass_kg = 2.0", 'mass_kg = "2 +"', "uniform_rod.rod.mass_kg", "correct the expression"),
    ("[damper.bearing]", "[dampr.bearing]", "dampr", "did you mean 'damper'?"),
    ("[angle.rod]", "[angle.rod]\n[distance.rod]", "distance.rod", "rename one"),
    ('"guide.rod.reaction"', '"guide.rod.reation"', "outputs.guide/torque_nm", "did you mean"),
    ('"rod/angle_rad" =', '"rod/angle" =', "outputs.rod/angle", "end the name with _rad"),
    ("pivot = [0, 0, 0]", 'pivot = "unit(0)"', "parameters.pivot", "correct the expression"),
    ("pivot = [0, 0, 0]", 'pivot = [0, [1, 2, 3], 0]', "parameters.pivot", "three numbers"),
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


WRONG = """
name = "made"
[parameters]
a = "b + 1"
A0 = "(a, 0, 0)"
k = nan
width_mm = 30
[point.P]
position_m = [1, 0, "zz"]
[point.Q]
position_m = "A0"
[unit_vector.v]
direction = [1, 1, 0]
[angle.turn]
initial = 3
[rigid_body.bar]
points = ["P", "Q"]
vectors = ["v"]
axis = [0, 0, 1]
mass_kg = -1
centre_m = "A0"
[revolute.hinge]
bodies = ["bar", "gruond"]
point_m = [0, 0, 0]
axis = [0, 0, 0]
angle = "turn"
[damper.bearing]
angle = "turn"
damping_nms_per_rad = inf
[outputs]
"P/x_m" = "P_x"
"turn_rad" = "turn"
"hinge_n" = "revolute.hinge.fx_n"
"pin_n" = "revolute.pin.fx_n"
"sum" = "= sin(turn) + P_x + zzz"
"""


def test_a_wrong_table_neither_hides_nor_causes_other_mistakes(tmp_path):
    path = tmp_path / "made.toml"
    path.write_text(WRONG)
    with pytest.raises(MechanismError) as caught:
        load(path)
    assert [m.key for m in caught.value.mistakes] == [
        "parameters.a", "parameters.k", "parameters.width_mm", "point.P.position_m",
        "unit_vector.v.direction", "angle.turn.initial", "rigid_body.bar.mass_kg",
        "revolute.hinge.bodies", "revolute.hinge.axis", "damper.bearing.damping_nms_per_rad",
        "outputs.pin_n", "outputs.sum",
    ]  # fmt: skip
    assert all(m.remedy for m in caught.value.mistakes)


def test_bodies_on_points_of_other_bodies_are_read_in_any_order(tmp_path):
    def bar(name, points, centre):
        return f"""
[rigid_body.{name}]
points = {points}
axis = [0, 0, 1]
mass_kg = 1
centre_m = {centre}
inertia_kg_m2 = 0.1
"""

    tables = {
        "first": bar("first", '[[0, 0, 0], "P"]', "[0.5, 0, 0]"),
        "middle": '[body_point.middle]\nbody = "first"\nposition_m = [0.5, 0, 0]\n',
        "second": bar("second", '["middle", "Q"]', "[0.5, 0.5, 0]"),
    }
    points = {"P": "[1, 0, 0]", "Q": "[0.5, 1, 0]"}
    head = 'name = "made"\n' + "".join(
        f'[point.{name}]\nposition_m = {place}\nmoves = "xy"\n' for name, place in points.items()
    )
    labels = []
    for order in (("first", "middle", "second"), ("second", "middle", "first")):
        path = tmp_path / "made.toml"
        path.write_text(head + "\n".join(tables[name] for name in order))
        labels.append(sorted(row.label for row in load(path).system.rows))
    assert labels[0] == labels[1]
    assert len(labels[0]) == 2
    circle = head + "\n".join(tables[name] for name in ("middle", "second"))
    path.write_text(circle.replace('body = "first"', 'body = "second"'))
    with pytest.raises(MechanismError, match="unknown"):
        load(path)


HALF_WRITTEN = """
[parameters]
wide = 0.1
[angle.turn]
[point.P]
position_m = [1, 0, 0]
[rigid_body.bar]
points = ["Q", [0, 0, 0]]
vectors = ["nowhere"]
inertia_kg_m2 = [0.1, 0.1, 0.5]
mass = "all"
[revolute.elbow]
bodies = ["bar", "forearm"]
point_m = "wide * tall"
axle = [0, 0, 1]
[knife_edge.blade]
body = "sledge"
normal = [0, 0, 0]
[gear.pair]
first = "turn"
ratio = 0
second = "trun"
teeth = 12
[bump_stop.end]
angle = "turn"
damping_nms_per_rad = -1
[bushing.mount]
bodies = ["bar", "bar"]
stiffness = [[1, 2], [3, 4]]
damping = [1, 1, 1, 1, 1, -1]
"""


def test_what_a_table_lacks_does_not_hide_its_other_mistakes(tmp_path):
    path = tmp_path / "made.toml"
    path.write_text(HALF_WRITTEN)
    with pytest.raises(MechanismError) as caught:
        load(path)
    told = {(m.key, m.value if isinstance(m.value, str) else None) for m in caught.value.mistakes}
    assert told == {
        ("rigid_body.bar.mass_kg", None), ("rigid_body.bar.centre_m", None), ("rigid_body.bar.mass", "all"),
        ("rigid_body.bar.points", "Q"), ("rigid_body.bar.vectors", "nowhere"), ("rigid_body.bar.inertia_kg_m2", None),
        ("revolute.elbow.axis", None), ("revolute.elbow.axle", None),
        ("revolute.elbow.bodies", "forearm"), ("revolute.elbow.point_m", "wide * tall"),
        ("knife_edge.blade.point_m", None), ("knife_edge.blade.edge", None),
        ("knife_edge.blade.normal", None), ("knife_edge.blade.body", "sledge"),
        ("gear.pair.teeth", None), ("gear.pair.second", "trun"), ("gear.pair.ratio", None),
        ("bump_stop.end", None), ("bump_stop.end.stiffness_nm_per_rad", None),
        ("bump_stop.end.damping_nms_per_rad", None),
        ("bushing.mount.point_m", None), ("bushing.mount.stiffness", None),
        ("bushing.mount.bodies", None), ("bushing.mount.damping", None),
    }  # fmt: skip
    (stiffness,) = [m for m in caught.value.mistakes if m.key == "bushing.mount.stiffness"]
    assert "too few values" in stiffness.problem


@pytest.mark.parametrize("table", sorted(registry()))
def test_a_table_with_nothing_in_it_is_a_mistake_of_that_table_alone(table, tmp_path):
    path = tmp_path / "made.toml"
    path.write_text(f"[angle.turn]\n[{table}.bare]\nnonsense = 1\n")
    with pytest.raises(MechanismError) as caught:
        load(path)
    told = [m for m in caught.value.mistakes if m.key != "file"]
    assert told
    assert all(m.key.startswith(f"{table}.bare.") for m in told)
    assert {m.problem for m in told} <= {"is missing", "unknown key"}


MASSLESS = """
cuts = ["revolute.nowhere"]
[angle.free]
[angle.held]
[inertia.flywheel]
angle = "held"
inertia_kg_m2 = 0.1
[spring.s]
angle = "hled"
stiffness_nm_per_rad = 1
[outputs]
"free/angle_rad" = "fre"
"""


def test_what_has_no_mass_is_told_together_with_wrong_forces_outputs_and_cuts(tmp_path):
    path = tmp_path / "made.toml"
    path.write_text(MASSLESS)
    with pytest.raises(MechanismError) as caught:
        load(path)
    told = {m.key: m.problem for m in caught.value.mistakes}
    assert list(told) == ["spring.s.angle", "cuts", "outputs.free/angle_rad", "file"]
    assert told["file"] == "can move without mass: free"
    # a rotor may be what the coordinate lacks
    path.write_text(MASSLESS.replace("[spring.s]", "[motor.s]"))
    with pytest.raises(MechanismError) as caught:
        load(path)
    assert "file" not in [m.key for m in caught.value.mistakes]

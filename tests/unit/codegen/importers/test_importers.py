"""What an importer tells: everything that it leaves out, by name, and every mistake."""

import sys

import pytest

from codegen.description.mechanism import MechanismError
from codegen.importers import compiled
from codegen.importers.robot_file import import_file


def left_out(imported):
    return {(i.kind, i.name): i.words for i in imported.items if i.status == "left out"}


def test_nothing_of_mjcf_vanishes_silently(mujoco, robots):
    imported = import_file(robots / "busy.xml")
    told = left_out(imported)
    assert ("joint", "ankle", "damping 0.2") in {(i.kind, i.name, i.words) for i in imported.items}
    assert told["limit", "hip"] == "range -1.0472 .. 1.0472"
    assert {name for kind, name in told if kind == "geom"} == {"floor", "thigh", "sole", "pole"}
    assert told["tendon", "pull"]
    assert told["actuator", "calf"] == "has dynamics of its own"
    assert told["equality", "curved"] == "joint is not active"
    assert told["gravcomp", "foot"] == "0.5"
    expected = {("sensor", "hip angle"), ("key", "lifted"), ("mocap", "post"), ("light", "-")}
    expected |= {("option", "wind, density, viscosity"), ("asset", "-")}
    assert expected <= set(told)
    words = [i.words for i in imported.items if i.status == "changed"]
    assert words == ["frictionloss 0.3: smooth at rest, tanh of the rate"]
    ranges = [i.words for i in imported.items if i.name == "clamped" and i.status == "left out"]
    assert ranges == ["control range", "force range"]


def test_nothing_of_urdf_vanishes_silently(mujoco, robots):
    told = left_out(import_file(robots / "arm.urdf"))
    assert told["safety_controller", "elbow"] == "k_velocity 10"
    assert told["wheelspeed", "odd"] == "is not known to this importer"
    assert {kind for kind, _ in told} >= {"transmission", "gazebo", "visual", "material", "geom"}
    assert {name for kind, name in told if kind == "limit"} == {"elbow", "wrist", "lid"}


def test_an_attribute_that_is_not_known_is_told(mujoco, robots, tmp_path):
    text = (robots / "pendulum.xml").read_text()
    path = tmp_path / "margin.xml"
    path.write_text(text.replace('name="shoulder"', 'name="shoulder" margin="0.01"'))
    assert left_out(import_file(path))["joint", "shoulder"] == "margin 0.01"


def test_files_that_are_included_are_read_too(mujoco, robots, tmp_path):
    (tmp_path / "more.xml").write_text(
        '<mujocoinclude><worldbody><body name="b"><joint name="j" margin="0.1"/>'
        '<inertial pos="0.1 0 0" mass="1" diaginertia="1 1 1"/></body></worldbody></mujocoinclude>'
    )
    path = tmp_path / "all.xml"
    path.write_text('<mujoco><include file="more.xml"/></mujoco>')
    imported = import_file(path)
    assert left_out(imported) == {("joint", "j"): "margin 0.1"}
    assert imported.mechanism.name == "all"


def test_a_root_with_mass_stands_on_the_ground_and_is_told(mujoco, tmp_path):
    mass = '<inertial><mass value="16.8"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    path = tmp_path / "walker.urdf"
    path.write_text(
        f'<robot name="w"><link name="trunk">{mass}</link><link name="leg">{mass}</link>'
        '<joint name="hip" type="continuous"><parent link="trunk"/><child link="leg"/></joint></robot>'
    )
    told = {(i.kind, i.name): i.words for i in import_file(path).items if i.status == "changed"}
    assert told["link", "trunk"].startswith("stands on the ground, with its 16.8 kg")
    assert "type floating" in told["link", "trunk"]


def test_effects_of_tendons_that_have_no_counterpart_are_told(mujoco, tmp_path):
    path = tmp_path / "tendon.xml"
    path.write_text(
        '<mujoco><worldbody><site name="w" pos="0 0 1"/><body name="b"><joint name="j"/><site name="s" pos="1 0 0"/>'
        '<inertial pos="1 0 0" mass="1" diaginertia="1 1 1"/></body></worldbody><tendon>'
        '<spatial name="rope" stiffness="3" armature="0.1" actuatorfrcrange="-1 1">'
        '<site site="s"/><site site="w"/></spatial></tendon></mujoco>'
    )
    told = [
        i.words for i in import_file(path).items if (i.kind, i.status) == ("tendon", "left out")
    ]
    assert told == ["force range", "armature"]


def test_names_become_names_of_a_mechanism(mujoco, robots):
    imported = import_file(robots / "loops.xml", "my_loops")
    system = imported.mechanism.system
    assert {"crank_a", "lamp"} <= set(system.bodies)
    assert "lamp_hinge" in system.scalars
    assert imported.mechanism.name == "my_loops"


def test_a_mesh_that_is_not_there_is_no_matter_when_the_link_says_its_inertia(mujoco, tmp_path):
    path = tmp_path / "mesh.xml"
    path.write_text(
        '<mujoco><asset><mesh name="m" file="nowhere.stl"/></asset><worldbody><body name="b">'
        '<joint name="j"/><inertial pos="0.1 0 0" mass="1" diaginertia="1 1 1"/>'
        '<geom name="shell" type="mesh" mesh="m"/></body></worldbody></mujoco>'
    )
    assert left_out(import_file(path))["geom", "shell"] == "mesh on b"


WRONG = {
    "missing": (None, "cannot be read: No such file"),
    "not xml": ("<mujoco><worldbody>", "is not XML"),
    "binary": ("\x00\x01", "is not XML"),
    "another root": ("<sdf/>", "is no robot file"),
    "unknown element": ("<mujoco><leg/></mujoco>", "leg: is no element that may stand here"),
    "nothing moves": ("<mujoco><worldbody/></mujoco>", "nothing in it moves"),
    "no mass": (
        '<mujoco><worldbody><body name="b"><joint/></body></worldbody></mujoco>',
        "body b: moves, and has no mass or no inertia",
    ),
    "open loop": (
        '<mujoco><worldbody><site name="s" pos="5 0 0"/><body name="b"><joint/>'
        '<inertial pos="1 0 0" mass="1" diaginertia="1 1 1"/><site name="t" pos="1 0 0"/></body>'
        '</worldbody><equality><connect name="far" site1="t" site2="s"/></equality></mujoco>',
        "stay open by",
    ),
}


@pytest.mark.parametrize("kind", WRONG)
def test_a_wrong_file_is_one_mistake_with_a_remedy(mujoco, tmp_path, kind):
    text, words = WRONG[kind]
    path = tmp_path / "robot.xml"
    if text is not None:
        path.write_text(text)
    with pytest.raises(MechanismError) as found:
        import_file(path)
    (mistake,) = found.value.mistakes
    assert words in str(mistake)
    assert "robot.xml" in mistake.file
    assert mistake.remedy


def test_all_broken_references_of_a_urdf_are_told_at_once(tmp_path):
    path = tmp_path / "robot.urdf"
    path.write_text(
        '<robot name="r"><link name="base"/><link name="arm"/><link name="arm"/>'
        '<joint name="a" type="continuous"><parent link="bsae"/><child link="arm"/></joint>'
        '<joint name="b" type="continuous"><parent link="base"/><child link="arm"/></joint>'
        '<joint name="c" type="continuous"><parent link="base"/></joint></robot>'
    )
    with pytest.raises(MechanismError) as found:
        import_file(path)
    told = [str(mistake) for mistake in found.value.mistakes]
    assert len(told) == 5
    assert "joint a: moves 'arm', which has no mass" in told[4]
    assert "link arm: is there twice" in told[0]
    assert "parent 'bsae' is no link; did you mean 'base'?" in told[1]
    assert "is the child of joint a too" in told[2]
    assert "has no child" in told[3]


def test_all_impossible_joints_of_a_urdf_are_told_at_once(tmp_path):
    path = tmp_path / "robot.urdf"
    mass = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    path.write_text(
        f'<robot name="r"><link name="base"/><link name="a">{mass}</link><link name="leaf"/>'
        f'<link name="b">{mass}</link><link name="alone">{mass}</link>'
        '<joint name="one" type="revolute"><parent link="base"/><child link="a"/><axis xyz="0 0 0"/></joint>'
        '<joint name="two" type="continuous"><parent link="a"/><child link="leaf"/></joint>'
        '<joint name="three" type="screwed"><parent link="a"/><child link="b"/></joint></robot>'
    )
    with pytest.raises(MechanismError) as found:
        import_file(path)
    told = str(found.value)
    assert "joint one.axis = '0 0 0': its axis has no direction" in told
    assert "joint two: moves 'leaf', which has no mass" in told
    assert "joint three: type 'screwed' is none of URDF" in told
    assert "link alone: hangs on nothing" in told
    assert len(found.value.mistakes) == 4


def test_all_numbers_of_a_urdf_that_no_robot_has_are_told_at_once(tmp_path):
    def link(name, mass, moments):
        given = " ".join(f'{k}="{v}"' for k, v in zip(("ixx", "iyy", "izz"), moments, strict=True))
        return f'<link name="{name}"><inertial><mass value="{mass}"/><inertia {given}/></inertial></link>'

    path = tmp_path / "robot.urdf"
    path.write_text(
        f'<robot name="r"><link name="base"/>{link("a", "nan", (1, 1, 1))}{link("b", -1, (1, 1, "x"))}'
        f"{link('c', 1, (1, 1, 5))}{link('d', 1, (1, 1, -1))}"
        '<joint name="1" type="continuous"><parent link="base"/><child link="a"/><axis xyz="0 0 inf"/></joint>'
        '<joint name="2" type="continuous"><parent link="a"/><child link="b"/><origin xyz="0 0"/></joint>'
        '<joint name="3" type="continuous"><parent link="b"/><child link="c"/><mimic joint="ghost"/></joint>'
        '<joint name="4" type="continuous"><parent link="c"/><child link="d"/></joint></robot>'
    )
    with pytest.raises(MechanismError) as found:
        import_file(path)
    told = str(found.value)
    for words in (
        "link a.mass = 'nan': is no number",
        "link b.mass = '-1': is negative",
        "link b.izz = 'x': is no number",
        "link c.inertia: no body has these principal moments, 1, 1 and 5 kg m²",
        "link d.inertia: has a negative principal moment, -1 kg m²",
        "joint 1.axis.xyz = '0 0 inf': is not three numbers",
        "joint 2.origin.xyz = '0 0': is not three numbers",
        "joint 3.mimic = 'ghost': follows a joint that is no other hinge or slide",
    ):
        assert words in told
    assert len(found.value.mistakes) == 8


@pytest.mark.parametrize(
    ("mass", "moments", "words"),
    [
        (1, (0.1, 0.1, 0), "link a.inertia: has no inertia about one of its axes"),
        (1, (0, 0, 0), "joint 1: moves 'a', which has mass and no inertia"),
        (0, (0, 0, 0), "joint 1: moves 'a', which has no mass of its own"),
    ],
)
def test_a_link_that_nothing_could_move_is_told_by_the_joint_that_does(
    tmp_path, mass, moments, words
):
    whole = '<inertia ixx="1" iyy="1" izz="1"/></inertial></link>'
    thin = " ".join(f'{k}="{v}"' for k, v in zip(("ixx", "iyy", "izz"), moments, strict=True))
    path = tmp_path / "robot.urdf"
    path.write_text(
        '<robot name="r"><link name="base"/><link name="a">'
        f'<inertial><mass value="{mass}"/><inertia {thin}/></inertial>'
        f'</link><link name="b"><inertial><mass value="1"/>{whole}'
        '<joint name="1" type="continuous"><parent link="base"/><child link="a"/></joint>'
        '<joint name="2" type="continuous"><parent link="a"/><child link="b"/></joint></robot>'
    )
    with pytest.raises(MechanismError) as found:
        import_file(path)
    (mistake,) = found.value.mistakes
    assert words in str(mistake)


def test_moments_that_a_urdf_asks_to_be_put_right_are_left_to_mujoco(mujoco, tmp_path):
    path = tmp_path / "robot.urdf"
    none = 'ixy="0" ixz="0" iyz="0"'
    path.write_text(
        '<robot name="r"><mujoco><compiler balanceinertia="true"/></mujoco><link name="base"/><link name="a">'
        f'<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="5" {none}/></inertial></link>'
        '<joint name="1" type="continuous"><parent link="base"/><child link="a"/></joint></robot>'
    )
    assert "reader" in left_out(import_file(path))["mujoco", "-"]


def test_links_of_a_urdf_that_hang_on_each_other_are_told(tmp_path):
    path = tmp_path / "robot.urdf"
    path.write_text(
        '<robot name="r"><link name="a"/><link name="b"/>'
        '<joint name="1" type="fixed"><parent link="b"/><child link="a"/></joint>'
        '<joint name="2" type="fixed"><parent link="a"/><child link="b"/></joint></robot>'
    )
    with pytest.raises(MechanismError) as found:
        import_file(path)
    assert "link a: hangs on nothing: its joints lead back to itself" in str(found.value)


def test_all_directions_of_zeros_of_an_mjcf_are_told_at_once(tmp_path):
    path = tmp_path / "robot.xml"
    path.write_text(
        '<mujoco model="m"><worldbody><body name="a" quat="0 0 0 0"><joint name="pin" axis="0 0 0"/>'
        '<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/></body></worldbody></mujoco>'
    )
    with pytest.raises(MechanismError) as found:
        import_file(path)
    told = str(found.value)
    assert "body a.quat = '0 0 0 0': its quaternion is zero; write 1 0 0 0" in told
    assert "joint pin.axis = '0 0 0': its axis has no direction" in told


def test_a_missing_library_is_told_with_the_extra(robots, monkeypatch):
    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(compiled.MissingExtra, match=r"rigloop\[import\]"):
        import_file(robots / "pendulum.xml")

"""Robot files with many mistakes: each is told at once, with its line and a remedy."""

import re

import pytest

from codegen.description.mechanism import MechanismError
from codegen.importers.robot_file import import_file

pytest.importorskip("mujoco")
MASS = '<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>'


def told(path, text):
    path.write_text(text)
    with pytest.raises(MechanismError) as found:
        import_file(path)
    assert all(mistake.remedy for mistake in found.value.mistakes)
    return [str(mistake) for mistake in found.value.mistakes]


def mjcf(tmp_path, body, rest="", head=""):
    text = f"<mujoco>{head}<worldbody>\n{body}\n</worldbody>\n{rest}</mujoco>"
    return told(tmp_path / "m.xml", text)


CASES = {
    "names of nothing": (
        f'<body name="arm"><joint name="pin"/>{MASS}<site name="tip"/></body>',
        """<equality><connect body1="ghost" anchor="0 0 0"/><joint joint1="pn" joint2="pin"/></equality>
<tendon><fixed name="t"><joint joint="gone" coef="1"/></fixed>
<spatial name="s"><site site="tip"/><site site="tap"/></spatial></tendon>
<actuator><motor name="m" joint="none"/><motor tendon="cord"/></actuator>
<contact><exclude body1="arm" body2="leg"/></contact>""",
        [
            "m.xml:4: connect: names the body 'ghost', which is not there; known: arm",
            "m.xml:4: joint: names the joint 'pn', which is not there; did you mean 'pin'?",
            "m.xml:5: joint of fixed t: names the joint 'gone'",
            "m.xml:6: site of spatial s: names the site 'tap', which is not there; did you mean 'tip'?",
            "m.xml:7: motor m: names the joint 'none'",
            "m.xml:7: motor: names the tendon 'cord'",
            "m.xml:8: exclude: names the body 'leg'",
        ],
    ),
    "numbers": (
        """<body name="a" pos="0 0" quat="0 0 0 0"><joint name="j" axis="0 0 0" range="1"/>
<inertial pos="0 nan 0" mass="-1" diaginertia="1 1 5"/>
<body name="b" zaxis="0 0 0" xyaxes="1 0 0 2 0 0"><joint name="k" axis="0 x 0" armature="-1"/>
<inertial pos="0 0 0" mass="1 2" fullinertia="1 1 1 3 0 0"/></body></body>""",
        "",
        [
            "m.xml:2: body a.pos = '0 0': is not three numbers",
            "m.xml:2: body a.quat = '0 0 0 0': its quaternion is zero; write 1 0 0 0",
            "m.xml:2: joint j.axis = '0 0 0': its axis has no direction",
            "m.xml:2: joint j.range = '1': is not two numbers",
            "m.xml:3: inertial of body a.pos = '0 nan 0': is not three numbers",
            "m.xml:3: inertial of body a.mass = '-1': is negative; give 0 or more",
            "m.xml:3: inertial of body a.diaginertia = '1 1 5': no body has these principal moments",
            "m.xml:4: body b.zaxis = '0 0 0': its direction is zero",
            "m.xml:4: body b.xyaxes = '1 0 0 2 0 0': its two axes are parallel",
            "m.xml:4: joint k.axis = '0 x 0': is not three numbers",
            "m.xml:4: joint k.armature = '-1': is negative",
            "m.xml:5: inertial of body b.mass = '1 2': is not one number",
            "m.xml:5: inertial of body b.fullinertia = '1 1 1 3 0 0': has a negative principal moment",
        ],
    ),
    "elements": (
        f"""<joint name="w"/><body name="a" colour="red"><joint name="j"/><joint name="j"/>{MASS}<leg/>
<body name="b"><freejoint/>{MASS}</body><body name="c"><joint name="k" type="hing" class="x"/>{MASS}</body>
<body name="leaf"><joint name="l" damp="1"/></body>
<body name="c"><joint/><inertial mass="1" diaginertia="1 1 1"/></body></body>""",
        '<actuators/><actuator><mottor joint="k"/></actuator>',
        [
            "m.xml:2: joint w: would move the world; put it into a body",
            "m.xml:2: body a.colour = 'red': is no attribute of this element",
            "m.xml:2: joint j.name = 'j': is there twice; rename one",
            "m.xml:2: leg of body a: is no element that may stand here; known: attach, body",
            "m.xml:3: body b: has a free joint, and does not hang on the world",
            "m.xml:3: joint k.type = 'hing': is no word that it may have; did you mean 'hinge'?",
            "m.xml:3: joint k.class = 'x': is no class of the file",
            "m.xml:4: body leaf: moves, and has no mass or no inertia; give it an <inertial>",
            "m.xml:4: joint l.damp = '1': is no attribute of this element; did you mean 'damping'?",
            "m.xml:5: body c.name = 'c': is there twice",
            "m.xml:5: inertial of body c.pos: is missing; write it",
            "m.xml:7: actuators: is no element that may stand here; did you mean 'actuator'?",
            "m.xml:7: mottor: is no element that may stand here; did you mean 'motor'",
        ],
    ),
}


@pytest.mark.parametrize("kind", CASES)
def test_all_mistakes_of_an_mjcf_are_told_at_once_and_nothing_that_follows_from_them(
    tmp_path, kind
):
    body, rest, wanted = CASES[kind]
    found = mjcf(tmp_path, body, rest)
    for words in wanted:
        assert any(line.startswith(words) for line in found), (words, found)
    assert len(found) == len(wanted)


def test_mistakes_of_included_files_have_the_lines_of_these(tmp_path):
    wrong = '<mujocoinclude>\n<worldbody>\n<body wide="1"><joint axis="0 0 0"/></body></worldbody></mujocoinclude>'
    (tmp_path / "part.xml").write_text(wrong)
    files = '<include file="part.xml"/>\n<include file="gone.xml"/><include file="m.xml"/>'
    found = told(tmp_path / "m.xml", f"<mujoco>\n{files}</mujoco>")
    starts = [re.match(r"[\w.]+:\d: [\w.]+", line)[0] for line in found]
    assert starts == [
        "m.xml:3: include.file",
        "m.xml:3: include.file",
        "part.xml:3: joint.axis",
        "part.xml:3: body.wide",
        "part.xml:3: body",
    ]
    assert "includes itself" in found[1]


def test_a_class_that_is_there_twice_or_has_no_name_is_told_with_those_who_use_none(tmp_path):
    classes = '<default><default class="x"/><default class="x"/><default/></default>'
    body = f'<body name="a" childclass="y"><joint class="z"/>{MASS}</body>'
    found = mjcf(tmp_path, body, head=classes)
    assert [line.partition("; ")[0] for line in found] == [
        "m.xml:1: default x.class = 'x': is there twice",
        "m.xml:1: default: has no class",
        "m.xml:2: body a.childclass = 'y': is no class of the file",
        "m.xml:2: joint of body a.class = 'z': is no class of the file",
    ]


def test_a_floating_joint_on_a_moving_link_and_elements_without_name_are_told(tmp_path):
    mass = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'
    found = told(
        tmp_path / "r.urdf",
        f'<robot name="r"><link name="base"/><link name="a">{mass}</link><link name="b">{mass}</link>\n'
        '<joint type="continuous"><parent link="base"/><child link="a"/><dynamics damping="-1"/></joint>\n'
        '<joint name="2" type="floating"><parent link="a"/><child link="b"/></joint></robot>',
    )
    assert found == [
        "r.urdf:2: joint: has no name; give it one",
        "r.urdf:2: joint .damping = '-1': is negative; give 0 or more",
        "r.urdf:3: joint 2: floats on what joint '' moves; hang it on the root, or give its link another type of joint",
    ]

"""Robot files from strangers: refused by name, or imported under names that a mechanism can have."""

import os

import pytest

from codegen.description.mechanism import MechanismError
from codegen.importers.robot_file import import_file

pytest.importorskip("mujoco")
ROBOT = """<robot name="r"><link name="base"/>
<link name="{link}"><inertial><mass value="1"/>
<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
<joint name="{joint}" type="continuous"><parent link="base"/><child link="{link}"/><axis xyz="0 0 1"/></joint>
</robot>"""


def refused(tmp_path, text, name="robot.urdf"):
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(MechanismError) as caught:
        import_file(path)
    return str(caught.value)


def test_an_entity_bomb_is_refused(tmp_path):
    bomb = '<!DOCTYPE robot [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]><robot name="&b;"/>'
    assert "document type" in refused(tmp_path, bomb)


@pytest.mark.slow
def test_depth_and_number_of_elements_are_bounded(tmp_path):
    deep = "<robot>" + "<a>" * 500 + "</a>" * 500 + "</robot>"
    assert "levels" in refused(tmp_path, deep)
    assert "elements" in refused(tmp_path, "<robot>" + "<a/>" * 100_001 + "</robot>")


def test_files_that_include_each_other_end(tmp_path):
    for k in range(100):
        twice = f'<include file="f{k + 1}.xml"/>' * 2
        (tmp_path / f"f{k}.xml").write_text(f"<mujoco>{twice}</mujoco>")
    (tmp_path / "f100.xml").write_text("<mujoco/>")
    assert "include each other" in refused(
        tmp_path, '<mujoco><include file="f0.xml"/></mujoco>', "m.xml"
    )


@pytest.mark.parametrize("kind", ["include", "mesh"])
def test_what_is_no_file_is_not_waited_for(tmp_path, kind):
    os.mkfifo(tmp_path / "pipe.obj")
    body = (
        '<include file="pipe.obj"/>'
        if kind == "include"
        else '<asset><mesh file="pipe.obj"/></asset>'
    )
    assert "is no file" in refused(tmp_path, f"<mujoco>{body}</mujoco>", "m.xml")


@pytest.mark.parametrize(
    "hostile",
    [
        "int",
        "a\n\x1b]0;x\x07b".replace("\x1b", "").replace("\x07", ""),
        "*/ #",
        "x" * 300,
        "é",
        "1",
    ],
)
def test_names_of_a_robot_become_names_of_a_mechanism(tmp_path, hostile):
    path = tmp_path / "robot.urdf"
    path.write_text(
        ROBOT.format(link=hostile.replace("\n", "&#10;"), joint=hostile.replace("\n", "&#10;"))
    )
    made = import_file(path, "robot")
    written = made.builder.save(tmp_path).read_text()
    head = written[: written.index("name = ")]
    assert all(row.startswith("#") or not row for row in head.splitlines())


def test_a_long_chain_is_drawn_without_recursion():
    from codegen.importers.drawing import drawing
    from codegen.importers.tree import GROUND, Link, Tree

    links = [
        Link(
            f"k{k}",
            f"k{k - 1}" if k else GROUND,
            (),
            1.0,
            (0, 0, 0),
            (1, 1, 1),
            ((1, 0, 0), (0, 1, 0)),
        )
        for k in range(5000)
    ]
    text = drawing(Tree(links=links), "chain")
    assert text.count("--o k") == 5000
    assert len(text) < 2_000_000

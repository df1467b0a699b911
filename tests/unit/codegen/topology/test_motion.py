"""The spanning tree of a mechanism: its links, the coordinates of its joints, and what it cuts."""

import math

import pytest
from mechanisms.random_trees import random_tree

from codegen.closed_trees.closed import closed_tree
from codegen.description.builder import MechanismBuilder
from codegen.description.mechanism import MechanismError, load
from codegen.topology.frames import placing
from codegen.topology.motion import topology

INERTIA = (0.02, 0.03, 0.04)


def planar(name="planar"):
    return MechanismBuilder(name, gravity_m_s2=(0, -9.81, 0))


def bar(made, name, begin, end):
    made.point(f"{name}_a", position_m=begin, moves="xy")
    made.point(f"{name}_b", position_m=end, moves="xy")
    centre = tuple((a + b) / 2 for a, b in zip(begin, end, strict=True))
    ends = [f"{name}_a", f"{name}_b"]
    made.rigid_body(
        name, points=ends, axis=(0, 0, 1), mass_kg=1.0, centre_m=centre, inertia_kg_m2=0.1
    )


def pin(made, name, bodies, at, angle=None):
    if angle:
        made.angle(angle)
    made.revolute(name, bodies=bodies, point_m=at, axis=(0, 0, 1), angle=angle)


def kinds(tree):
    return [
        (link.name, link.kind, [tree.coordinates[i].name for i in link.coordinates])
        for link in tree.links
    ]


def test_bars_on_pins_are_turns_by_the_names_of_their_angles():
    made = planar()
    bar(made, "upper", (0, 0, 0), (1, 0, 0))
    bar(made, "lower", (1, 0, 0), (2, 0, 0))
    pin(made, "shoulder", ["upper", "ground"], (0, 0, 0), "first")
    pin(made, "elbow", ["lower", "upper"], (1, 0, 0))
    tree = topology(made.build().system).tree
    assert kinds(tree) == [("upper", "turn", ["first"]), ("lower", "turn", ["lower_turn"])]
    assert [link.parent for link in tree.links] == [-1, 0]
    assert not tree.cuts


def test_bodies_that_share_a_point_hang_on_each_other_without_a_joint():
    made = planar()
    made.point("P", position_m=(1, 0, 0), moves="xy").point("Q", position_m=(2, 0, 0), moves="xy")
    for name, points in (("upper", [(0, 0, 0), "P"]), ("lower", ["P", "Q"])):
        made.rigid_body(
            name, points=points, axis=(0, 0, 1), mass_kg=1.0, centre_m=(1, 0, 0), inertia_kg_m2=0.1
        )
    tree = topology(made.build().system).tree
    assert [link.kind for link in tree.links] == ["turn", "turn"]
    assert not tree.cuts


def test_a_free_planar_body_slides_twice_and_turns():
    made = planar()
    bar(made, "plate", (0, 0, 0), (1, 0, 0))
    tree = topology(made.build().system).tree
    assert kinds(tree) == [
        ("plate plate_x", "slide", ["plate_x"]),
        ("plate plate_y", "slide", ["plate_y"]),
        ("plate", "turn", ["plate_turn"]),
    ]
    assert [link.bodies for link in tree.links] == [[], [], ["plate"]]


def test_an_angle_over_two_joints_is_their_sum():
    made = planar()
    bar(made, "upper", (0, 0, 0), (1, 0, 0))
    bar(made, "lower", (1, 0, 0), (2, 0, 0))
    pin(made, "shoulder", ["upper", "ground"], (0, 0, 0), "first")
    pin(made, "elbow", ["lower", "upper"], (1, 0, 0), "second")
    made.angle("absolute", initial_rad=0.0)
    made.body_vector("along", body="lower", direction=(1, 0, 0))
    made.rotation("absolute", angle="absolute", axis=(0, 0, 1), zero=(1, 0, 0), vector="along")
    motion = topology(made.build().system)
    assert not motion.tree.cuts
    weights, offset = next(v for var, v in motion.tree.scalars.items() if var.name == "q absolute")
    assert weights == {0: pytest.approx(1.0), 1: pytest.approx(1.0)}
    assert offset == pytest.approx(0.0)


def closed():
    made = planar("closed")
    bar(made, "crank", (0, 0, 0), (0, 1, 0))
    bar(made, "coupler", (0, 1, 0), (2, 1, 0))
    bar(made, "rocker", (2, 1, 0), (2, 0, 0))
    pin(made, "a", ["crank", "ground"], (0, 0, 0))
    pin(made, "b", ["coupler", "crank"], (0, 1, 0))
    pin(made, "c", ["rocker", "ground"], (2, 0, 0))
    pin(made, "d", ["coupler", "rocker"], (2, 1, 0))
    return made


def test_a_loop_is_cut_at_the_joint_that_closes_it():
    cuts = topology(closed().build().system).tree.cuts
    assert [cut.element for cut in cuts] == ["revolute/d"]
    assert "closes a loop" in cuts[0].problem


def test_rigid_joints_make_one_link():
    made = planar()
    bar(made, "upper", (0, 0, 0), (1, 0, 0))
    bar(made, "tip", (1, 0, 0), (1, 1, 0))
    pin(made, "shoulder", ["upper", "ground"], (0, 0, 0))
    made.rigid("weld", bodies=["tip", "upper"], point_m=(1, 0, 0))
    tree = topology(made.build().system).tree
    assert [link.bodies for link in tree.links] == [["upper", "tip"]]


def test_thin_bodies_that_bend_and_are_fixed_to_each_other_are_a_tree():
    # a mode of torsion turns a rod of 1 mm by a thousand rad a metre: it must be moved by so much less
    made = MechanismBuilder("whip", gravity_m_s2=(0, 0, 0))
    for n, before in enumerate(("ground", "b0_tip")):
        at, end = 0.1 * n, 0.1 * (n + 1)
        made.point(f"P{n}", position_m=(at, 0, 0))
        for letter, way in (("x", (1, 0, 0)), ("y", (0, 1, 0)), ("z", (0, 0, 1))):
            made.unit_vector(f"e{letter}{n}", direction=way)
        made.flexible_body(
            f"b{n}", points=[f"P{n}"], vectors=[f"ex{n}", f"ey{n}", f"ez{n}"], frame="root", interfaces=["tip"],
            modes=1,
            beam={
                "line_m": [(at, 0, 0), (end, 0, 0)], "density_kg_m3": 2800.0, "youngs_pa": 7e10, "shear_pa": 2.7e10,
                "diameter_m": 1e-3, "elements": 3, "nodes": {"root": 0.0, "tip": 1.0},
            },
        )  # fmt: skip
        made.rigid(f"weld{n}", bodies=[f"b{n}", before], point_m=(at, 0, 0))
    tree = topology(made.build().system).tree
    assert not tree.cuts
    assert all(link.amplitudes or not link.coordinates for link in tree.links)


@pytest.mark.parametrize("name", ["four_bar", "steering_26", "bricard"])
def test_shipped_loops_are_no_trees(name):
    assert topology(load(name).system).tree.cuts


def test_the_largest_branch_follows_by_four_numbers():
    motion = topology(random_tree(3, 4, ("hinge",)).system)
    for n, link in enumerate(motion.tree.links):
        branches = motion.tree.children(n)
        if not branches:
            continue
        sizes = {k: len(motion.tree.children(k)) for k in branches}
        main = max(branches, key=sizes.__getitem__)
        made = placing(motion.frames[n], motion.frames[main])
        if len(branches) == 1:
            assert made.gamma == (1.0, 0.0), link.name
            assert abs(made.b) < 1e-9
        assert math.hypot(*made.alpha) == pytest.approx(1.0)


@pytest.mark.parametrize("cut", ["a", "b", "c"])
def test_a_loop_is_cut_where_its_user_says(cut):
    mechanism = closed().cut(f"revolute.{cut}").build()
    cuts = topology(mechanism.system).tree.cuts
    assert f"revolute/{cut}" in [c.element for c in cuts]
    assert not any(c.element == "revolute/d" for c in cuts)
    assert len(closed_tree(mechanism).made.system.coordinates) == 3


def test_cuts_that_name_nothing_or_leave_a_loop_are_named():
    def two_loops():
        made = planar("two")
        for k in (0, 3):
            bar(made, f"crank{k}", (k, 0, 0), (k, 1, 0))
            bar(made, f"coupler{k}", (k, 1, 0), (k + 2, 1, 0))
            bar(made, f"rocker{k}", (k + 2, 1, 0), (k + 2, 0, 0))
            pin(made, f"a{k}", [f"crank{k}", "ground"], (k, 0, 0))
            pin(made, f"b{k}", [f"coupler{k}", f"crank{k}"], (k, 1, 0))
            pin(made, f"c{k}", [f"rocker{k}", "ground"], (k + 2, 0, 0))
            pin(made, f"d{k}", [f"coupler{k}", f"rocker{k}"], (k + 2, 1, 0))
        return made

    with pytest.raises(
        MechanismError, match=r"cuts = 'revolute\.nothing'.*is no element with rows"
    ):
        two_loops().cut("revolute.nothing").build()
    with pytest.raises(MechanismError, match=r"revolute\.d3.*which `cuts` leaves.*add it to cuts"):
        closed_tree(two_loops().cut("revolute.b0").build())
    assert closed_tree(two_loops().cut("revolute.b0", "revolute.d3").build())

"""Trees as mechanisms in natural coordinates; no robot file and no library needed."""

import math

import numpy as np
import pytest

from codegen.importers.natural import write
from codegen.importers.tree import Coupling, Joint, Link, Loop, Names, Tree
from codegen.pose.assembly import assemble
from codegen.pose.built import built_pose

Y = (0.0, 1.0, 0.0)
AXES = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0))


def link(name, parent, at, joints, **more):
    centre = tuple(np.add(at, (0.1, 0.0, 0.02)))
    return Link(name, parent, tuple(joints), 1.0, centre, (0.01, 0.02, 0.015), AXES, **more)


def hinge(name, at, axis=Y, **more):
    return Joint(name, "hinge", at, axis, **more)


def made(*links, **more):
    tree = Tree(gravity=(0.0, 0.0, -9.81), links=list(links), **more)
    return write(tree, "made", "a tree").build().system


@pytest.mark.parametrize(
    ("joint", "freedoms"),
    [
        (hinge("j", (0, 0, 0)), 1),
        (Joint("j", "slide", (0, 0, 0), (0.6, 0, 0.8)), 1),
        (Joint("j", "ball", (0, 0, 0), Y), 3),
        (Joint("j", "free", (0, 0, 0), Y), 6),
    ],
    ids=lambda value: getattr(value, "kind", ""),
)
def test_a_joint_leaves_its_freedoms(joint, freedoms):
    system = made(link("body", "ground", (0, 0, 0), [joint]))
    assert assemble(system).dof == freedoms
    assert not assemble(system).redundant


@pytest.mark.parametrize("below", ["hinge", "slide", "ball", "free"])
@pytest.mark.parametrize("kind", ["hinge", "slide", "ball"])
def test_joints_on_a_link_of_any_joint_add_their_freedoms(below, kind):
    count = {"hinge": 1, "slide": 1, "ball": 3, "free": 6}
    first = Joint("a", below, (0, 0, 0), Y)
    second = Joint("b", kind, (0.3, 0, 0.1), (0.6, 0.0, 0.8))
    system = made(
        link("one", "ground", (0, 0, 0), [first]), link("two", "one", (0.3, 0, 0.1), [second])
    )
    assert assemble(system).dof == count[below] + count[kind]


def test_two_joints_of_one_link_have_a_massless_part_between():
    joints = [hinge("a", (0, 0, 0), (1.0, 0.0, 0.0)), hinge("b", (0, 0, 0))]
    system = made(link("gimbal", "ground", (0, 0, 0), joints))
    assert assemble(system).dof == 2
    # kinetic energy of both freedoms comes from the one mass
    jac, mass = built_pose(system)
    free = np.linalg.svd(jac)[2][np.linalg.matrix_rank(jac) :].T
    assert np.all(np.linalg.eigvalsh(free.T @ mass @ free) > 1e-4)


def test_a_planar_chain_stays_in_its_plane():
    links = [
        link("one", "ground", (0, 0, 0), [hinge("a", (0, 0, 0))]),
        link("two", "one", (0.3, 0, 0), [hinge("b", (0.3, 0, 0))]),
    ]
    system = made(*links)
    moving = {c.name for c in system.coordinates if c.unit == "m"}
    assert not [name for name in moving if name.endswith("_y")]
    assert not assemble(system).redundant


def test_angles_start_at_their_values():
    system = made(link("one", "ground", (0, 0, 0), [hinge("a", (0, 0, 0), value=0.3)]))
    assert system.scalars["a"].initial == 0.3
    assert not assemble(system).moved


def test_a_loop_of_planar_links_closes_with_one_freedom():
    links = [
        link("one", "ground", (0, 0, 0), [hinge("a", (0, 0, 0))]),
        link("two", "one", (0, 0, 1), [hinge("b", (0, 0, 1))]),
        link("three", "ground", (1, 0, 0), [hinge("c", (1, 0, 0))]),
    ]
    system = made(*links, loops=[Loop("shut", "connect", ("two", "three"), (1.0, 0.0, 1.0))])
    assert assemble(system).dof == 1


def test_a_coupling_takes_a_freedom_and_stops_without_second():
    links = [
        link(n, "ground", (0, 0, z), [hinge(f"j{n}", (0, 0, z))]) for n, z in (("u", 0), ("v", 1))
    ]
    geared = made(*links, couplings=[Coupling("g", "ju", "jv", 0.5)])
    assert assemble(geared).dof == 1
    stopped = made(*links, couplings=[Coupling("g", "ju", None, 0.0)])
    assert assemble(stopped).dof == 1


def test_mass_and_inertia_are_those_of_the_link():
    turned = ((math.cos(0.4), math.sin(0.4), 0.0), (-math.sin(0.4), math.cos(0.4), 0.0))
    body = Link(
        "body", "ground", (Joint("j", "free", (0, 0, 0), Y),), 2.0, (0.1, 0.2, 0.3),
        (0.01, 0.02, 0.025), turned,
    )  # fmt: skip
    system = made(body)
    jac, mass = built_pose(system)
    free = np.linalg.svd(jac)[2][np.linalg.matrix_rank(jac) :].T
    # three translations of 2 kg are among the motions: the largest eigenvalue of their block
    at = [c.index for c in system.coordinates if c.name in ("body_at_x", "body_at_y", "body_at_z")]
    assert np.allclose(mass[np.ix_(at, at)], 2.0 * np.eye(3))
    assert np.linalg.matrix_rank(free.T @ mass @ free) == 6


def test_names_are_made_valid_and_unique():
    names = Names(["ground"])
    wanted = ["ground", "arm-1", "arm 1", "1st", "", "größe"]
    found = [names.new(name) for name in wanted]
    assert found == ["ground_2", "arm_1", "arm_1_2", "n1st", "n", "gr__e"]

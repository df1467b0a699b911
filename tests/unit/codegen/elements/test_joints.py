"""Joints: the freedoms they leave, and the geometry that they keep."""

import math

import numpy as np
import pytest

from codegen.description.builder import MechanismBuilder
from codegen.description.mechanism import MechanismError
from codegen.pose.assembly import Rows, assemble

JOINTS = [
    ("spherical", {}, 3), ("revolute", {"axis": (0, 0.6, 0.8)}, 1),
    ("prismatic", {"axis": (0, 0.6, 0.8)}, 1), ("cylindrical", {"axis": (0, 0.6, 0.8)}, 2),
    ("universal", {"pins": [(1, 0, 0), (0, 0.6, 0.8)]}, 2), ("planar", {"axis": (0, 0.6, 0.8)}, 3),
    ("rigid", {}, 0),
]  # fmt: skip


@pytest.mark.parametrize(("joint", "keys", "left"), JOINTS)
@pytest.mark.parametrize("other", ["ground", "body"])
def test_a_joint_leaves_its_freedoms(joint, keys, left, other, spatial):
    made = spatial(MechanismBuilder("m"), "a", 1, 3)
    if other == "body":
        spatial(made, "c", 2, 2)
    bodies = ["a", "c" if other == "body" else "ground"]
    getattr(made, joint)("j", bodies=bodies, point_m=(0.3, 0.2, 0.1), **keys)
    found = assemble(made.build())
    assert found.dof == left + (6 if other == "body" else 0)
    assert found.redundant == ()


def screwed(spatial, made=None):
    made = spatial(made or MechanismBuilder("m"), "a", 1, 3).angle("turn", initial_rad=0.4)
    made.screw(
        "s",
        bodies=["a", "ground"],
        point_m=(0.3, 0.2, 0.1),
        axis=(0, 0, 1),
        angle="turn",
        lead_m=0.05,
    )
    return made.build()


def test_a_screw_advances_by_its_lead(spatial):
    built = screwed(spatial)
    assert assemble(built).dof == 1
    system, rows = built.system, Rows(built.system)
    null = np.linalg.svd(rows.phi_q(np.array([c.initial for c in system.coordinates])))[2][-1]
    at = {c.name: null[c.index] for c in system.coordinates}
    assert at["aP0_z"] / at["turn"] == pytest.approx(0.05 / (2 * math.pi))
    # the turn is measured right-handed about the axis: v2 = (0.8, 0, 0.6) moves along y
    assert at["av2_y"] / at["turn"] == pytest.approx(0.8)


def test_measured_angle_and_travel_start_from_their_initial_values(spatial):
    made = (
        spatial(MechanismBuilder("m"), "a", 1, 3)
        .angle("t", initial_rad=0.7)
        .distance("s", initial_m=2)
    )
    made.cylindrical(
        "c", bodies=["a", "ground"], point_m=(0, 0, 0), axis=(1, 0, 0), angle="t", travel="s"
    )
    found = assemble(made.build())
    assert found.moved == {}
    assert found.dof == 2


def test_points_on_line_plane_and_curve():
    made = MechanismBuilder("m")
    for name in "PQR":
        made.point(name, position_m=(1, 1, 0)).mass(name, point=name, mass_kg=1)
    made.distance("s", initial_m=1.0)
    made.point_on_line("P", point="P", start_m=(0, 1, 0), along=(1, 0, 0))
    made.point_on_plane("Q", point="Q", start_m=(0, 0, 0), normal=(0, 0, 1))
    made.point_on_curve("R", point="R", by="s", curve_m=["s", "s ** 2", "0"])
    built = made.build()
    assert assemble(built).dof == 1 + 2 + 1
    rows = Rows(built.system)
    q = np.array([c.initial for c in built.system.coordinates])
    at = {c.name: c.index for c in built.system.coordinates}
    q[[at["P_x"], at["Q_y"], at["R_x"], at["R_y"], at["s"]]] = 7, 5, 3, 9, 3
    np.testing.assert_allclose(rows.phi(q), 0.0, atol=1e-15)
    q[at["R_y"]] = 8
    assert np.max(np.abs(rows.phi(q))) == pytest.approx(1.0)


def test_rack_and_belt_keep_their_ratios():
    made = MechanismBuilder("m").angle("a").angle("b").distance("s")
    made.rack_and_pinion("r", rack="s", pinion="a", radius_m=0.1)
    made.belt("b", first="a", second="b", first_radius_m=0.2, second_radius_m=0.1, crossed=True)
    made.inertia("a", angle="a", inertia_kg_m2=1)
    rows = Rows(made.build().system)
    np.testing.assert_allclose(rows.phi(np.array([1.0, -2.0, 0.1])), 0.0, atol=1e-15)
    assert np.all(np.abs(rows.phi(np.array([1.0, 2.0, 0.2]))) > 0.5)


@pytest.mark.parametrize("frame", ["general", "axis"])
def test_a_curve_moves_with_its_body(frame):
    # a pin in a parabolic groove of a plate that has turned by 0.8 rad and moved
    made = MechanismBuilder("m").distance("s", initial_m=0.5)
    made.point("pin", position_m=(0.5, 0.25, 0)).mass("pin", point="pin", mass_kg=1)
    made.point("O", position_m=(0, 0, 0))
    axes = {"u": (1, 0, 0), "v": (0, 1, 0), "w": (0, 0, 1)}
    named = axes if frame == "general" else {"u": axes["u"]}
    for name, direction in named.items():
        made.unit_vector(name, direction=direction)
    about = {} if frame == "general" else {"axis": (0, 0, 1)}
    made.rigid_body(
        "plate", points=["O"], vectors=list(named), mass_kg=1, centre_m=(0, 0, 0),
        inertia_kg_m2=(1, 1, 1), **about,
    )  # fmt: skip
    made.point_on_curve("groove", point="pin", body="plate", by="s", curve_m=["s", "s ** 2", "0"])
    rows = Rows(made.build().system)
    c, s = math.cos(0.8), math.sin(0.8)
    turn = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    origin = np.array([3.0, -1.0, 0.0])
    at = {"s": 0.7}
    at |= dict(zip(("pin_x", "pin_y", "pin_z"), origin + turn @ [0.7, 0.49, 0], strict=True))
    at |= dict(zip(("O_x", "O_y", "O_z"), origin, strict=True))
    for k, name in enumerate(named):
        at |= {f"{name}_{axis}": turn[i, k] for i, axis in enumerate("xyz")}
    q = np.array([at[coordinate.name] for coordinate in rows.system.coordinates])
    np.testing.assert_allclose(rows.phi(q), 0.0, atol=1e-14)
    q[[coordinate.name for coordinate in rows.system.coordinates].index("s")] = 0.6
    assert np.max(np.abs(rows.phi(q))) > 0.05


def test_a_curve_of_a_slender_body_is_refused():
    made = MechanismBuilder("m").distance("s")
    made.point("A", position_m=(0, 0, 0)).point("B", position_m=(1, 0, 0))
    made.rigid_body(
        "rod", points=["A", "B"], mass_kg=1, centre_m=(0.5, 0, 0), inertia_kg_m2=(0, 0.1, 0.1)
    )
    made.point_on_curve("c", point="A", body="rod", by="s", curve_m=["s", "s", "0"])
    with pytest.raises(MechanismError, match=r"point_on_curve\.c\.curve_m.*lies outside"):
        made.build()

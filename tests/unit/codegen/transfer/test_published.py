"""The published example of the transfer matrix method: its matrices, and what in its print fails."""

import csv
from pathlib import Path

import numpy as np
import pytest
from mechanisms.transfer_matrices import Rod, accelerations, body, hinge
from mechanisms.written_rods import branches

from codegen.spatial.algebra import Wrench
from codegen.system.vectors import cross
from codegen.topology.motion import topology
from codegen.transfer import riccati

REFERENCE = Path(__file__).parents[3] / "data" / "references" / "branch_pendulum.csv"
# rows of the reference
INSTANTS = (0, 5, 10, 25)


@pytest.fixture(scope="module")
def exact():
    with REFERENCE.open() as file:
        head, *rows = csv.reader(file)
    return dict(zip(head, np.array(rows, dtype=float).T, strict=True))


@pytest.fixture(scope="module")
def tree():
    return topology(branches().build().system).tree


def solved(tree, exact, k, *, printed=False, **mistakes):
    rods = {
        f"rod{n}": Rod(exact[f"theta{n}"][k], exact[f"omega{n}"][k], **mistakes)
        for n in (1, 3, 5, 7)
    }
    return accelerations(tree, rods, printed)


def gap(found, exact, k):
    """Return the largest error of the angular accelerations, and of the force on the pin on the ground."""
    turned = [abs(found["turned"][f"rod{n}"] - exact[f"alpha{n}"][k]) for n in (1, 3, 7)]
    # the state's force is that of the body on the ground
    force = [abs(-found["force"][i] - exact[f"F{a}_ground7"][k]) for i, a in enumerate("xy")]
    return max(*turned, *force)


@pytest.mark.parametrize("k", INSTANTS)
def test_the_overall_transfer_equation_gives_the_exact_accelerations_and_forces(tree, exact, k):
    found = solved(tree, exact, k)
    assert found["missing"] == 0
    # of some 100 rad/s2, by dense elimination of nine unknowns
    assert gap(found, exact, k) < 1e-9


@pytest.mark.parametrize("k", INSTANTS)
def test_the_printed_hinge_leaves_one_of_nine_unknowns_open(tree, exact, k):
    found = solved(tree, exact, k, printed=True)
    assert found["missing"] == 1
    # the solution of least norm is none, but where everything hangs still
    assert k == 0 or gap(found, exact, k) > 0.05


@pytest.mark.parametrize("k", INSTANTS)
def test_the_inertia_about_the_centre_fails(tree, exact, k):
    assert gap(solved(tree, exact, k, about_centre=True), exact, k) > 0.1


def split(matrix):
    """T11, T12, T21, T22 of a transfer matrix, for moment and force that are known at a tip."""
    known, open_ = [3, 4, 5], [0, 1, 2]
    return [matrix[np.ix_(rows, columns)] for rows in (known, open_) for columns in (known, open_)]


def step(matrix, s):
    """S behind an element, from S before it."""
    t11, t12, t21, t22 = split(matrix)
    return (t11 @ s + t12) @ np.linalg.inv(t21 @ s + t22)


def test_s3_of_the_printed_hinge_is_not_what_is_printed_but_with_two_entries_mended():
    outer, inner = Rod(0.4, 0.0), Rod(1.1, 0.0)
    s2 = step(body(outer), np.zeros((3, 3)))
    s3 = step(hinge(body(inner), printed=True), s2)
    c3, s3_, c5, s5, a, m = *outer.way, *inner.way, outer.a, outer.m
    below = 3 * c3 * c5 + 3 * s3_ * s5 + 2
    printed = -3 * m * a * (c3**2 * c5 + s3_ * c3 * c5 - 2 * c5) / below, 4 * m * a**2 / below
    mended = -3 * m * a * (c3**2 * c5 + c3 * s3_ * s5 - 2 * c5) / below, 4 * m * a**2 / 3 / below
    assert s3[0, 1:] == pytest.approx(mended, rel=1e-13)
    assert abs(s3[0, 1] - printed[0]) > 0.01
    assert abs(s3[0, 2] - printed[1]) > 0.01


def test_the_published_hinge_has_no_riccati_step_between_rods_at_right_angles():
    outer, inner = Rod(0.4, 0.0), Rod(0.4 + np.pi / 2, 0.0)
    s2 = step(body(outer), np.zeros((3, 3)))
    _, _, t21, t22 = split(hinge(body(inner), printed=False))
    assert abs(np.linalg.det(t21 @ s2 + t22)) < 1e-14


def test_s2_and_e2_of_a_tip_are_exact():
    # every number is a sum of few powers of two, so that no product is rounded
    m, a, g, w, s, c = 3.0, 0.5, 9.75, 1.5, 0.5, 0.75
    axes = ((c, -s, 0.0), (s, c, 0.0), (0.0, 0.0, 1.0))
    inertia = 4.0 * m * a**2 / 3.0
    second = [[0.0, 0.0, 0.0], [0.0, inertia, 0.0], [0.0, 0.0, inertia]]
    of = riccati.inertia_of(m, (-m * a, 0.0, 0.0), second, axes)
    weight, centre = (0.0, -m * g, 0.0), (-a * c, -a * s, 0.0)
    pull = riccati.unloaded(
        riccati.resistance(of, (0.0, 0.0, w)), Wrench(cross(centre, weight), weight)
    )

    def state(x, y, turn, one):
        zero = Wrench((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
        found = riccati.weighed((of, pull if one else zero), (0.0, 0.0, turn), (x, y, 0.0))
        return [found.moment[2], -found.force[0], -found.force[1]]

    s2 = [[m * a * s, -m * a * c, inertia], [-m, 0.0, -m * a * s], [0.0, -m, m * a * c]]
    e2 = [-m * a * g * c, -m * a * c * w**2, -m * a * s * w**2 - m * g]
    assert np.array([state(*unit, 0.0) for unit in np.eye(3)]).T.tolist() == s2
    assert state(0.0, 0.0, 0.0, 1.0) == e2

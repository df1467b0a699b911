"""Putting a mechanism together: closing it, keeping its branch, counting freedoms, naming rows."""

import numpy as np
import pytest

from codegen.description.builder import MechanismBuilder
from codegen.description.mechanism import MECHANISMS, MechanismError, load, parse
from codegen.pose.assembly import MOVED_LIMIT, assemble
from codegen.pose.redundancy import row_space


def four_bar(tip=(1.0, 1.0, 0.0), extra=False, diagonal=None):
    made = MechanismBuilder("made")
    made.point("A", position_m=(0, 1, 0), velocity_m_s=(1, 0.2, 0), moves="xy")
    made.point("B", position_m=tip, velocity_m_s=(1, 0, 0), moves="xy")
    made.constant_distance("left", points=[(0, 0, 0), "A"], length_m=1.0)
    made.constant_distance("right", points=[(1, 0, 0), "B"], length_m=1.0)
    if not extra:
        made.constant_distance("coupler", points=["A", "B"], length_m=1.0)
    else:  # the middle of a coupler that is a body, on a parallel crank: follows already
        made.rigid_body(
            "bar",
            points=["A", "B"],
            axis=(0, 0, 1),
            mass_kg=1,
            centre_m=(0.5, 1, 0),
            inertia_kg_m2=0,
        )
        made.body_point("M", body="bar", position_m=(0.5, 1, 0))
        made.constant_distance("middle", points=[(0.5, 0, 0), "M"])
    if diagonal:
        made.constant_distance("diagonal", points=["A", "B"], length_m=diagonal)
    return made.uniform_rod("coupler", points=["A", "B"], mass_kg=1.0)


def test_a_rough_position_is_closed_and_its_rates_fit():
    built = four_bar(tip=(1.02, 0.97, 0.0)).build()
    found = assemble(built)
    q = found.q
    lengths = [np.hypot(*q[:2]), np.hypot(q[2] - 1, q[3]), np.hypot(*(q[2:] - q[:2]))]
    np.testing.assert_allclose(lengths, 1.0, atol=1e-12)
    # the crank A turns about the origin: no rate along it
    assert abs(q[:2] @ found.qd[:2]) < 1e-12
    assert found.dof == 1
    assert found.redundant == ()


def test_a_closed_position_is_left_to_the_last_bit():
    found = assemble(load("steering_26"))
    system = load("steering_26").system
    assert found.moved == {}
    assert list(found.q) == [c.initial for c in system.coordinates]


def test_a_jump_to_another_branch_is_refused():
    made = MechanismBuilder("made").point("P", position_m=(0.4, 0.1, 0), moves="y")
    made.constant_distance("rod", points=[(0, 0, 0), "P"], length_m=0.9)
    made.mass("P", point="P", mass_kg=1.0)
    with pytest.raises(MechanismError, match=r"moves P_y from 0\.1 to 0\.806.*branch") as caught:
        made.build()
    assert str(MOVED_LIMIT["m"]) in str(caught.value)


def test_a_redundant_row_is_named_with_those_it_follows_from():
    found = assemble(four_bar(extra=True).build())
    assert found.dof == 1
    (only,) = found.redundant
    assert "constant_distance/middle" in str(only)
    names = {f"constant_distance/{name}" for name in ("left", "right", "middle")}
    assert {only.row, *only.others} == names


def test_conflicting_rows_are_refused_by_name():
    with pytest.raises(MechanismError) as caught:
        four_bar(diagonal=1.1).build()
    assert "'constant_distance/diagonal' conflicts with 'constant_distance/coupler'" in str(
        caught.value
    )


def test_what_cannot_close_is_told_with_the_open_rows():
    made = MechanismBuilder("made").point("P", position_m=(1, 0.0, 0), moves="xy")
    made.constant_distance("left", points=[(0, 0, 0), "P"], length_m=0.5)
    made.constant_distance("right", points=[(3, 0.1, 0), "P"], length_m=0.5)
    made.mass("P", point="P", mass_kg=1.0)
    with pytest.raises(MechanismError, match="constant_distance/"):
        made.build()


def test_a_flat_four_bar_is_singular_not_redundant():
    made = MechanismBuilder("made")
    for name, x in (("A", 0.5), ("B", 1.5)):
        made.point(name, position_m=(x, 0, 0), moves="xy")
        made.constant_distance(name, points=[(x - 0.5, 0, 0), name])
    made.constant_distance("coupler", points=["A", "B"])
    made.uniform_rod("coupler", points=["A", "B"], mass_kg=1.0)
    found = assemble(made.build())
    assert found.is_singular
    assert found.redundant == ()
    assert found.dof == 1


@pytest.mark.parametrize(("name", "dof"), [
    ("steering_rack", 1), ("steering_rack_guided", 0), ("slider_crank", 1), ("double_four_bar", 1),
])  # fmt: skip
def test_freedoms_of_shipped_mechanisms(name, dof):
    found = assemble(load(MECHANISMS / f"{name}.toml"))
    assert found.dof == dof
    assert found.redundant == ()


def test_rank_and_combination_against_singular_values():
    rng = np.random.default_rng(5)
    jac = rng.normal(size=(7, 6))
    jac[3] = 2.0 * jac[0] - jac[2]
    jac[6] = jac[1]
    found = row_space(jac)
    assert found.rank == np.linalg.matrix_rank(jac) == 5
    assert sorted(found.dependent) == [3, 6]
    size = np.linalg.norm(jac, axis=1, keepdims=True)
    for combination in found.dependent.values():
        np.testing.assert_allclose(combination @ (jac / size), 0.0, atol=1e-12)


def test_rates_that_the_file_gives_decide_the_others():
    made = four_bar()
    made.angle("turn", initial_rad="pi / 2", initial_rate_rad_s=-2.0)
    made.rotation(
        "turn", angle="turn", point="A", centre_m=(0, 0, 0), axis=(0, 0, 1), zero=(1, 0, 0)
    )
    text = (
        made.text()
        .replace("velocity_m_s = [1, 0.2, 0]", "")
        .replace("velocity_m_s = [1, 0, 0]", "")
    )
    found = assemble(parse(text, "made.toml"))
    np.testing.assert_allclose(found.qd, [2, 0, 2, 0, -2], atol=1e-14)


def test_a_small_mechanism_may_move_less_before_it_is_another_branch():
    text = four_bar(tip=(1.03, 0.96, 0.0)).text()
    parse(text, "made.toml")
    # the same in millimetres: what was 40 mm of 1 m is 40 micrometres of 1 mm
    small = (
        text.replace("[0, 1, 0]", "[0, 1e-3, 0]")
        .replace("[1.03, 0.96, 0.0]", "[1.03e-3, 0.2e-3, 0]")
        .replace("length_m = 1.0", "length_m = 1e-3")
        .replace('[1, 0, 0], "B"', '[1e-3, 0, 0], "B"')
    )
    with pytest.raises(MechanismError, match="branch"):
        parse(small, "made.toml")

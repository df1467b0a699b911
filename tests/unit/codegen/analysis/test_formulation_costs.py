"""What formulations would cost, and which one is advised."""

import pytest
from mechanisms.random_trees import random_tree

from codegen.analysis.formulation_costs import formulation_costs
from codegen.description.builder import MechanismBuilder
from codegen.description.mechanism import load


def test_a_tree_is_advised_its_joint_coordinates_and_a_loop_the_cheaper_of_two():
    tree = formulation_costs(random_tree(3, 3))
    assert tree.advised == "articulated"
    refused = {cost.formulation: cost.refused for cost in tree.found if cost.refused}
    assert refused == {"riccati": "is for long chains and trees: not counted"}
    by_name = {cost.formulation: cost for cost in tree.found}
    assert by_name["articulated"].cycles < by_name["index1"].cycles

    loop = formulation_costs(load("slider_crank"))
    by_name = {cost.formulation: cost for cost in loop.found}
    assert "closes a loop" in by_name["articulated"].refused
    assert loop.advised == "ali3p"
    assert "too near" not in loop.reason
    assert by_name["ali3p"].cycles < by_name["semi_recursive"].cycles


def pendulums(count):
    made = MechanismBuilder("pendulums", gravity_m_s2=(0, -9.81, 0))
    for k in range(1, count + 1):
        made.point(f"p{k}", position_m=(float(k), 0, 0), moves="xy")
        made.rigid_body(
            f"rod{k}", points=[f"p{k - 1}" if k > 1 else (0, 0, 0), f"p{k}"], axis=(0, 0, 1), mass_kg=1.0,
            centre_m=(k - 0.5, 0, 0), inertia_kg_m2=1 / 12,
        )  # fmt: skip
    return made.build()


@pytest.mark.slow
def test_a_walker_with_oblique_joints_is_counted_in_each_formulation():
    # slopes by differentiating the recursion were 262 000 operations for seven joints, and minutes for twenty
    told = []
    found = formulation_costs(random_tree(3, 12, ("hinge",)), tell=told.append)
    assert found.advised == "articulated"
    by_name = {cost.formulation: cost for cost in found.found}
    assert by_name["semi_recursive"].operations < 40_000
    assert by_name["composite"].operations < 30_000
    assert told == ["articulated", "semi_recursive", "composite"]


def test_a_mass_matrix_that_takes_long_to_write_out_is_not_counted():
    found = formulation_costs(pendulums(40))
    assert found.advised == "articulated"
    for cost in found.found:
        if cost.formulation in ("semi_recursive", "composite"):
            assert "takes long to write out: not counted" in cost.refused
    assert "with stiff springs 'semi_recursive'" not in found.reason


@pytest.mark.slow
def test_a_spatial_loop_is_advised_joint_coordinates_where_they_cost_less():
    found = formulation_costs(load("steering_rack"))
    assert found.advised == "semi_recursive"
    assert "of the cycles of 'ali3p'" in found.reason
    # 0.92 of the cycles, and 0.6 to 0.9 of the time in runs beside each other
    assert found.is_near
    assert "too near for counts to rank" in found.reason


def test_a_row_of_rates_on_a_chain_is_taken_by_those_that_have_rows():
    made = MechanismBuilder("sleigh").point("A", position_m=(0, 0, 0), moves="xy")
    made.point("B", position_m=(1, 0, 0), moves="xy")
    made.rigid_body(
        "plate", points=["A", "B"], axis=(0, 0, 1), mass_kg=1.0, centre_m=(0.5, 0, 0), inertia_kg_m2=0.1
    )  # fmt: skip
    made.knife_edge("blade", body="plate", point_m=(0, 0, 0), edge=(1, 0, 0))
    found = formulation_costs(made.build())
    assert "knife_edge.blade" in next(
        c.refused for c in found.found if c.formulation == "articulated"
    )
    assert found.advised in ("ali3p", "semi_recursive")

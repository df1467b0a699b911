"""Forces that a mechanism's outputs show are found at the shapes of its drawing."""

from importlib.resources import files

import pytest

from codegen.description.mechanism import load
from rigloop.drawing.forces import DrawnForce, drawn_forces
from rigloop.drawing.places import sketch

PENDULUM = """
[point.tip]
position_m = [1, 0, 0]
[unit_vector.across]
direction = [0, 0, 1]
[angle.swing]
initial_rad = 0.0
[rigid_body.rod]
points = [[0, 0, 0], "tip"]
vectors = ["across"]
axis = [0, 1, 0]
mass_kg = 1.0
centre_m = [0.5, 0, 0]
inertia_kg_m2 = 0.1
[revolute.pin]
bodies = ["rod", "ground"]
point_m = [0, 0, 0]
axis = [0, 1, 0]
angle = "swing"
[outputs]
"pin/along_n" = "revolute.pin.fx_n"
"pin/up_n" = "revolute.pin.fz_n"
"swing/angle_rad" = "swing"
"""


def found(path):
    mechanism = load(path)
    made = sketch(path, mechanism)
    return drawn_forces(mechanism.outputs, made), made.shapes


@pytest.mark.parametrize("name", ["squeezer", "governor"])
def test_the_pull_of_a_spring_acts_along_it(name):
    (force,), shapes = found(name)
    assert force.ports == ("spring/force_n",)
    assert shapes[force.shape].kind == "spring"


def test_a_reaction_acts_at_its_joint_by_components(tmp_path):
    path = tmp_path / "pendulum.toml"
    path.write_text(PENDULUM)
    (force,), shapes = found(path)
    assert force == DrawnForce(force.shape, "revolute/pin", ("pin/along_n", "", "pin/up_n"))
    assert shapes[force.shape].kind == "mark"


def test_the_tension_of_a_link_acts_along_the_rod_that_stands_for_it(tmp_path):
    text = (files("rig_configs") / "mechanisms" / "brake_pedal.toml").read_text()
    # no rod bears the name of the link beneath it
    text = text.replace("[uniform_rod.push_rod]", "[uniform_rod.pusher]")
    path = tmp_path / "brake_pedal.toml"
    path.write_text(f'{text}\n"push_rod/force_n" = "constant_distance.push_rod.force_n"\n')
    (force,), shapes = found(path)
    assert force.ports == ("push_rod/force_n",)
    assert (shapes[force.shape].style, shapes[force.shape].label) == ("rod", "pusher")


def test_without_forces_among_the_outputs_none_is_drawn():
    assert found("four_bar")[0] == []

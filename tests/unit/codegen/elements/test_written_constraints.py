"""Linear and written constraints, and directions that turn as built, against motions known by hand."""

import math

import numpy as np
import pytest

from codegen.description.builder import MechanismBuilder
from codegen.description.mechanism import MechanismError


def shafts(*inertias):
    made = MechanismBuilder("gears")
    for name, inertia in zip("abc", inertias, strict=False):
        made.angle(name).inertia(name, angle=name, inertia_kg_m2=inertia)
        made.force(f"on_{name}", angle=name, torque_nm={"input": 0.0})
        made.output(f"{name}/acceleration_rad_s2", f"{name}.acceleration")
    return made


@pytest.mark.parametrize("terms", [{"a": 0.5, "b": 0.5, "c": -1.0}, {"a": 20, "b": 40, "c": -60}])
def test_a_differential_and_a_planetary_gear_share_torques(terms, twin, tmp_path):
    made = (
        shafts(0.1, 0.2, 0.3).coupling("gear", terms=terms).output("on_c_nm", "coupling.gear.c_nm")
    )
    stepper = twin(made.save(tmp_path)).Kernel()
    stepper.signal = np.array([1.0, -2.0, 3.0])
    stepper.reset()
    row, mass, torque = np.array(list(terms.values())), np.diag([0.1, 0.2, 0.3]), stepper.signal
    block = np.block([[mass, row[:, None]], [row[None], np.zeros((1, 1))]])
    solution = np.linalg.solve(block, [*torque, 0.0])
    shown = stepper.outputs
    np.testing.assert_allclose(
        [shown[f"{n}/acceleration_rad_s2"] for n in "abc"], solution[:3], rtol=1e-9
    )
    assert shown["on_c_nm"] == pytest.approx(-row[2] * solution[3], rel=1e-9)


def test_a_written_cam_drives_its_follower(kernel, tmp_path):
    made = MechanismBuilder("cam").angle("cam").distance("lift", initial_m=0.02)
    made.inertia("cam", angle="cam", inertia_kg_m2=1e-3).mass("lift", distance="lift", mass_kg=0.5)
    made.constraint("profile", expression="lift - 0.02 * cos(2 * cam) - 0.005 * sin(cam) ** 2")
    made.guide("cam", coordinate="cam").output("lift_m", "lift")
    made.output("torque_nm", "guide.cam.reaction").output("push_n", "constraint.profile.lift_n")
    stepper = kernel(made.save(tmp_path), step_s=1e-3).Kernel()
    stepper.reset(0.0, 3.0, 0.0)
    for k in range(1, 101):
        stepper.step(3e-3 * k, 3.0, 0.0)
    turn = 0.3
    slope = -0.04 * math.sin(2 * turn) + 0.005 * math.sin(2 * turn)
    push = 0.5 * 9.0 * (-0.08 * math.cos(2 * turn) + 0.01 * math.cos(2 * turn))
    assert stepper.outputs["lift_m"] == pytest.approx(
        0.02 * math.cos(0.6) + 0.005 * math.sin(0.3) ** 2
    )
    assert stepper.outputs["push_n"] == pytest.approx(push, rel=1e-5)
    assert stepper.outputs["torque_nm"] == pytest.approx(push * slope, rel=1e-5)


def test_a_direction_may_turn_as_built():
    made = MechanismBuilder("m").unit_vector(
        "v", direction=(0, 0, 1), angular_velocity_rad_s=(2, 3, 5)
    )
    made.vector_inertia("v", vector="v", inertia_kg_m2=1.0)
    rates = [c.initial_rate for c in made.build().system.coordinates]
    np.testing.assert_allclose(rates, [3.0, -2.0, 0.0], atol=1e-12)


@pytest.mark.parametrize(("table", "keys", "key", "told"), [
    ("coupling", {"terms": {}}, "terms", "is empty"),
    ("coupling", {"terms": {"a": 1.0, "z": 1.0}}, "terms", "unknown"),
    ("coupling", {"terms": {"a": 0.0, "b": 1.0}}, "terms", "factor of zero"),
    ("constraint", {"expression": "a - rate(b)"}, "expression", "contains a rate"),
    ("constraint", {"expression": "a ** 2"}, "expression", "does not change"),
    ("constraint", {"expression": "3.0"}, "expression", "does not change"),
    ("constraint", {"expression": "a - sinus(b)"}, "expression", "unknown function"),
])  # fmt: skip
def test_a_constraint_that_holds_nothing_is_refused(table, keys, key, told):
    made = shafts(1.0, 1.0)
    getattr(made, table)("wrong", **keys)
    with pytest.raises(MechanismError) as caught:
        made.build()
    assert any(m.key == f"{table}.wrong.{key}" and told in str(m) for m in caught.value.mistakes)


def test_rates_that_are_written_are_those_of_a_blade(twin, tmp_path):
    # a trailer's wheel: the same row written and by the element, in a heading of 0.3 rad
    found = []
    for is_written in (True, False):
        made = MechanismBuilder(f"trailer_{is_written}").point(
            "A", position_m=(0, 0, 0), moves="xy"
        )
        made.point("B", position_m=(math.cos(0.3), math.sin(0.3), 0), moves="xy")
        made.rigid_body(
            "plate", points=["A", "B"], axis=(0, 0, 1), mass_kg=2.0, centre_m=(0.5, 0.1, 0), inertia_kg_m2=0.3
        )  # fmt: skip
        made.wrench("push", body="plate", point_m=(1, 0.2, 0), force_n=(3.0, 4.0, 0))
        if is_written:
            row = "rate(A_y) * (B_x - A_x) - rate(A_x) * (B_y - A_y)"
            made.rate_constraint("blade", expression=row)
        else:
            edge = (math.cos(0.3), math.sin(0.3), 0)
            made.knife_edge("blade", body="plate", point_m=(0, 0, 0), edge=edge)
        made.output("A/x_m_s2", "A_x.acceleration").output("B/y_m_s2", "B_y.acceleration")
        stepper = twin(made.save(tmp_path)).Kernel()
        stepper.reset()
        found.append(list(stepper.outputs.values()))
    np.testing.assert_allclose(*found, rtol=1e-9)


@pytest.mark.parametrize(("table", "keys", "key"), [
    ("rate_constraint", {"expression": "A_x"}, "expression"),
    ("rate_constraint", {"expression": "rate(A_x) + 1"}, "expression"),
    ("rate_constraint", {"expression": "rate(A_x) * rate(A_y)"}, "expression"),
    ("rate_constraint", {"expression": "A_y * rate(A_x)"}, "expression"),
    ("knife_edge", {"body": "plate", "point_m": (0, 0, 0), "edge": (0, 0, 1)}, "edge"),
    ("knife_edge", {"body": "plat", "point_m": (0, 0, 0), "edge": (1, 0, 0)}, "body"),
    ("wheel", {"body": "plate", "centre_m": (0, 0, 0), "axis": (0, 0, 1), "radius_m": 0.1}, "axis"),
    ("wheel", {"body": "plate", "centre_m": (0, 0, 0), "axis": (1, 0, 0), "radius_m": 0}, "radius_m"),
])  # fmt: skip
def test_wrong_rows_of_rates_name_their_key(table, keys, key):
    made = MechanismBuilder("m").point("A", position_m=(0, 0, 0)).point("B", position_m=(1, 0, 0))
    made.point("C", position_m=(0, 1, 0))
    inertia = {"mass_kg": 1, "centre_m": (0.5, 0, 0), "inertia_kg_m2": (1, 1, 1)}
    made.rigid_body("plate", points=["A", "B", "C"], **inertia)
    getattr(made, table)("wrong", **keys)
    with pytest.raises(MechanismError) as caught:
        made.build()
    assert f"{table}.wrong.{key}" in [m.key for m in caught.value.mistakes]

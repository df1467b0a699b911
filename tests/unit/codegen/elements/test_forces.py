"""Forces and expressions against their laws, one element at a time."""

import math

import numpy as np
import pytest

from codegen.description.builder import MechanismBuilder
from codegen.description.mechanism import MechanismError
from codegen.expressions.dag import Graph, evaluate
from codegen.expressions.smooth import exp, tanh


def wheel():
    return MechanismBuilder("m").angle("a").inertia("a", angle="a", inertia_kg_m2=2.0)


def test_spring_laws(force_on):
    linear = wheel().spring(
        "s", angle="a", stiffness_nm_per_rad=10, damping_nms_per_rad=2, rest_rad=0.5
    )
    assert force_on(linear, [0.8], [3.0])[0] == pytest.approx(-10 * 0.3 - 2 * 3)
    table = wheel().spring("s", angle="a", table=[(-1, -5), (0, 0), (1, 2), (2, 10)])
    for deflection, force in ((-2, -10), (-0.5, -2.5), (0.5, 1.0), (1.5, 6.0), (3, 18)):
        assert force_on(table, [deflection])[0] == pytest.approx(-force)


def test_spring_between_points_pulls_along_their_line(force_on):
    made = (
        MechanismBuilder("m")
        .point("P", position_m=(3, 4, 0), moves="xy")
        .mass("P", point="P", mass_kg=1)
    )
    made.spring_between(
        "s", points=[(0, 0, 0), "P"], stiffness_n_per_m=10, rest_m=4, damping_ns_per_m=2
    )
    # stretched by 1 m, lengthening at 0.6 m/s
    np.testing.assert_allclose(force_on(made, (), (1.0, 0.0)), [-11.2 * 0.6, -11.2 * 0.8])


@pytest.mark.parametrize("rate", [-3.0, -0.02, 0.0, 0.01, 0.5, 100.0])
def test_friction_follows_its_law(rate, force_on):
    made = wheel().friction(
        "f", angle="a", coulomb=5, static=8, stribeck_speed=0.3, transition_speed=0.02, viscous=0.1
    )
    law = (5 + 3 * math.exp(-((rate / 0.3) ** 2))) * math.tanh(rate / 0.02) + 0.1 * rate
    assert force_on(made, (), [rate])[0] == pytest.approx(-law, rel=1e-12, abs=1e-12)


@pytest.mark.slow
def test_smooth_functions_against_the_library():
    graph = Graph()
    x = graph.var("x")
    for value in np.linspace(-39.5, 39.5, 400):
        assert evaluate(exp(x), {"x": value}) == pytest.approx(
            math.exp(value), rel=3e-14, abs=1e-15
        )
        assert evaluate(tanh(x), {"x": value}) == pytest.approx(math.tanh(value), rel=1e-14)
        slope = evaluate(graph.diff(tanh(x), x), {"x": value})
        assert slope == pytest.approx(1 / math.cosh(value) ** 2, rel=1e-9, abs=1e-14)


def test_lugre_settles_on_coulomb_friction(twin, tmp_path):
    made = wheel().lugre(
        "f",
        angle="a",
        coulomb=1,
        static=1.5,
        stribeck_speed=0.1,
        bristle_stiffness=1e3,
        bristle_damping=2,
    )
    made.guide("a", coordinate="a").output("drag_nm", "lugre.f.drag_nm")
    module = twin(made.save(tmp_path))
    stepper = module.Kernel()
    stepper.reset(0.0, 0.5, 0.0)
    for k in range(1, 200):
        stepper.step(0.5e-3 * k, 0.5, 0.0)
    settled = 1 + 0.5 * math.exp(-25.0)
    assert stepper.outputs["drag_nm"] == pytest.approx(settled, rel=1e-6)
    assert stepper.reaction[0] == pytest.approx(settled, rel=1e-5)


def test_motor_force_and_expression(force_on):
    motor = wheel().motor(
        "m", angle="a", torque_constant_nm_per_a=0.2, current_a={"input": 3.0}, gear_ratio=5
    )
    assert force_on(motor)[0] == pytest.approx(3.0)
    push = wheel().force("f", angle="a", torque_nm=-4.0)
    assert force_on(push)[0] == -4.0
    written = wheel().parameter("k", 2.0)
    written.expression_force(
        "f", coordinate="a", force="-k * sin(a) ** 3 - 0.1 * rate(a * a) + tanh(a)"
    )
    exact = -2 * math.sin(0.5) ** 3 - 0.1 * 2 * 0.5 * 3.0 + math.tanh(0.5)
    assert force_on(written, [0.5], [3.0])[0] == pytest.approx(exact)


@pytest.mark.parametrize(
    "text", ["__import__('os')", "a.b", "a if a else 1", "rat(a)", "b + 1", "a ** a", "("]
)
def test_an_expression_that_is_not_arithmetic_is_a_mistake(text):
    with pytest.raises(MechanismError, match=r"expression_force\.f\.force"):
        wheel().expression_force("f", coordinate="a", force=text).build()


def test_energy_pose_and_expressions_are_outputs(twin, tmp_path):
    made = wheel().spring("s", angle="a", stiffness_nm_per_rad=8.0)
    made.guide("a", coordinate="a")
    made.output("energy_j", "energy").output("sine", "= sin(a) + 0.5 * rate(a)")
    stepper = twin(made.save(tmp_path)).Kernel()
    stepper.reset(0.0, 3.0, 0.0)
    stepper.step(3e-3, 3.0, 0.0)
    shown = stepper.outputs
    assert shown["energy_j"] == pytest.approx(9.0 + 4.0 * 9e-6)
    assert shown["sine"] == pytest.approx(math.sin(3e-3) + 1.5)


def test_a_table_has_the_energy_of_its_force(force_on):
    made = wheel().spring("s", angle="a", table=[(-1, -5), (0.5, 1), (1, 2), (2, 10)], rest_rad=0.3)
    system = made.build().system
    potential = system.potential

    def energy(x):
        return evaluate(potential, {system.coordinates[0].q.name: x})

    assert energy(0.3) == pytest.approx(0.0, abs=1e-15)
    for x in (-2.0, -0.4, 0.6, 1.1, 2.0, 4.0):
        slope = (energy(x + 1e-5) - energy(x - 1e-5)) / 2e-5
        assert force_on(made, [x])[0] == pytest.approx(-slope, rel=1e-8)


@pytest.mark.slow
def test_a_distance_that_nothing_acts_on_is_a_clock(twin, tmp_path):
    # an oscillator of 2 kg and 50 N/m under 3 N sin 4t, against its closed form
    made = MechanismBuilder("driven").distance("x")
    made.point("P", position_m=(0, 0, 0), moves="xy").mass("P", point="P", mass_kg=2)
    made.slide("x", point="P", start_m=(0, 0, 0), along=(1, 0, 0), by="x")
    made.distance("t", initial_rate_m_s=1.0).mass("t", distance="t", mass_kg=1)
    made.spring("x", distance="x", stiffness_n_per_m=50)
    made.expression_force("drive", coordinate="x", force="3 * sin(4 * t)")
    made.output("x_m", "x").output("t_m", "t")
    path, errors = made.save(tmp_path), []
    for h in (4e-3, 2e-3):
        stepper = twin(path, step_s=h).Kernel()
        stepper.reset()
        for _ in range(round(2.0 / h)):
            stepper.step()
        assert stepper.outputs["t_m"] == pytest.approx(2.0, abs=1e-9)
        exact = 3 / (50 - 2 * 16) * (math.sin(8.0) - 4 / 5 * math.sin(10.0))
        errors.append(abs(stepper.outputs["x_m"] - exact))
    assert 1.9 < math.log2(errors[0] / errors[1]) < 2.2


@pytest.mark.parametrize("text", [
    "sin(a)", "cos(a)", "sqrt(1 + a * a)", "abs(a - 0.9)", "abs(0.2 - a)", "exp(a)", "tanh(a)",
    "deg(a)", "1 / (2 + a)", "-a ** 5", "rate(a * a)",
])  # fmt: skip
def test_every_function_of_an_expression_has_its_derivative(text):
    made = wheel().expression_force("f", coordinate="a", force=text)
    system = made.build().system
    (c,) = system.coordinates
    force = system.force[0]
    rate = 0.4

    def at(x):
        return {c.q.name: x, c.qd.name: rate}

    for x in (-0.7, 0.3, 1.4):
        slope = evaluate(system.graph.diff(force, c.q), at(x))
        ahead, behind = (evaluate(force, at(x + d)) for d in (1e-5, -1e-5))
        assert slope == pytest.approx((ahead - behind) / 2e-5, rel=1e-8, abs=1e-9)


def test_every_function_is_among_those_tested():
    from codegen.system.symbolic import FUNCTIONS

    assert set(FUNCTIONS) == {"sin", "cos", "sqrt", "abs", "exp", "tanh", "deg"}

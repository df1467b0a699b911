"""Stops that a step is too long for are found, and the step that is named does."""

import math

import numpy as np
import pytest

from codegen.description.builder import MechanismBuilder
from codegen.description.contact import STEPS, contacts_s, too_short
from codegen.description.plausible import doubts
from codegen.options.options import KernelOptions


def bouncing(stiffness, mass=1.0):
    made = MechanismBuilder("b").distance("x", initial_m=0.1).mass("x", distance="x", mass_kg=mass)
    made.force("weight", distance="x", force_n=-9.81 * mass)
    table = [(-1.0, -stiffness), (0.0, 0.0), (1.0, 0.0)]
    return made.spring("stop", distance="x", table=table)


def most_energy(module, start_m):
    """Largest energy of a free flight within a second, over that at the start."""
    stepper, step_s = module.Kernel(), module.model_info()["step_s"]
    assert stepper.reset(q=[start_m], qd=[0.0]) == 0
    most = 0.0
    for _ in range(round(1.0 / step_s)):
        assert stepper.step() == 0
        x, v = stepper.q[0], stepper.qd[0]
        if x > 0.0:
            most = max(most, (0.5 * v * v + 9.81 * x) / (9.81 * start_m))
    return most


def test_a_contact_of_three_steps_is_refused_and_the_substeps_named_are_enough(kernel, tmp_path):
    made = bouncing(1e6)
    ((key, problem, remedy),) = too_short(made.build(), KernelOptions())
    assert key == "spring.stop.table"
    assert "3.14 ms, 3.1 steps" in problem
    assert remedy == "step_s = 0.0002 or less, or substeps = 6"
    path = made.save(tmp_path)
    assert any("spring.stop.table" in line for line in doubts(made.build(), path))
    starts = np.linspace(0.09, 0.11, 9)
    coarse = max(most_energy(kernel(path), x) for x in starts)
    fine = max(most_energy(kernel(path, substeps=6), x) for x in starts)
    assert coarse > 1.1
    assert fine < 1.01
    assert not too_short(made.build(), KernelOptions(substeps=6))


@pytest.mark.parametrize(("stiffness", "mass"), [(1e6, 1.0), (100.0, 1e-4), (5e4, 20.0)])
def test_a_contact_lasts_half_a_period(stiffness, mass):
    found = contacts_s(bouncing(stiffness, mass).build())
    assert found["spring.stop.table"] == pytest.approx(math.pi * math.sqrt(mass / stiffness))


def test_soft_stops_smooth_tables_and_guided_coordinates_pass():
    assert not too_short(bouncing(1e4).build(), KernelOptions())
    assert contacts_s(bouncing(1e4).build())["spring.stop.table"] > STEPS * 1e-3
    straight = MechanismBuilder("b").distance("x").mass("x", distance="x", mass_kg=1.0)
    straight.spring("s", distance="x", table=[(-1.0, -1e9), (0.0, 0.0), (1.0, 1e9)])
    assert not too_short(straight.build(), KernelOptions())
    guided = bouncing(1e6).guide("x", coordinate="x")
    assert not too_short(guided.build(), KernelOptions())


def test_the_mass_behind_a_gear_counts():
    # 2 kg m^2 that turn twice as fast are 8 kg m^2 on the angle of the stop
    made = MechanismBuilder("m").angle("a").angle("b").inertia("b", angle="b", inertia_kg_m2=2.0)
    made.inertia("a", angle="a", inertia_kg_m2=1e-9)
    made.gear("g", first="b", second="a", ratio=2.0)
    made.spring("stop", angle="a", table=[(-1.0, -900.0), (0.0, 0.0), (1.0, 0.0)])
    lasts = contacts_s(made.build())["spring.stop.table"]
    exact = [math.pi * math.sqrt(j / 900.0) for j in (8.0, 0.5)]
    assert min(abs(lasts - e) for e in exact) < 1e-6


def falling(force, mass=1.0):
    made = MechanismBuilder("b").distance("x", initial_m=0.1).mass("x", distance="x", mass_kg=mass)
    made.force("weight", distance="x", force_n=-9.81 * mass)
    return made.expression_force("stop", coordinate="x", force=force)


def test_a_stop_written_as_an_expression_is_refused_and_the_substeps_named_are_enough(
    kernel, tmp_path
):
    made = falling("5e5 * (abs(x) - x)")
    ((key, problem, remedy),) = too_short(made.build(), KernelOptions())
    assert key == "expression_force.stop.force"
    assert "3.14 ms, 3.1 steps" in problem
    assert remedy == "step_s = 0.0002 or less, or substeps = 6"
    path = made.save(tmp_path)
    assert any(key in line for line in doubts(made.build(), path))
    starts = np.linspace(0.09, 0.11, 9)
    assert max(most_energy(kernel(path), x) for x in starts) > 1.1
    assert max(most_energy(kernel(path, substeps=6), x) for x in starts) < 1.01
    assert not too_short(made.build(), KernelOptions(substeps=6))


@pytest.mark.parametrize(
    ("force", "jump"),
    [
        ("5e5 * (abs(x - 0.3) - (x - 0.3))", 1e6),
        ("5e5 * (abs(x + 0.3) - x) - 5e5 * (abs(x - 0.3) + x)", 1e6),  # a stop on either side
        ("-1e6 * sqrt(1 + x^2) * abs(x^2 - 0.25)", 2e6 * math.sqrt(1.25)),  # at x = 0.5
        ("5e5 * (abs(x) - x) * (1 - 0.1 * rate(x))", 1e6),
    ],
)
def test_the_jump_is_taken_where_the_expression_has_it(force, jump):
    lasts = contacts_s(falling(force.replace("^", "**")).build())["expression_force.stop.force"]
    assert lasts == pytest.approx(math.pi / math.sqrt(jump))


@pytest.mark.parametrize(
    "force",
    ["-1e6 * x", "-1e3 * rate(x) * abs(rate(x))", "-1e6 * x * abs(x)", "-1e6 * abs(1 + x**2)",
     "-1e3 * tanh(50 * x)", "-1e6 * abs(x) / x"],
)  # fmt: skip
def test_expressions_without_a_jump_of_stiffness_pass(force):
    assert not too_short(falling(force).build(), KernelOptions())

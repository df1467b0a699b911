"""LuGre friction against its differential equations, integrated to ten digits: order, stick-slip,
slopes, and every way to step it.
"""

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from codegen.description.builder import MechanismBuilder
from codegen.expressions.dag import evaluate

WAYS = [
    ("ali3p", "generalized_alpha"), ("ali3p", "newmark"), ("ali3p", "trapezoidal"),
    ("index1", "rk4"), ("index1", "trapezoidal"), ("penalty", "rk4"), ("penalty", "trapezoidal"),
    ("hamiltonian", "trapezoidal"), ("hamiltonian", "rk4"),
    ("independent", "rk4"), ("independent", "trapezoidal"),
]  # fmt: skip
FIRST_ORDER = [("index1", "semi_implicit_euler"), ("penalty", "semi_implicit_euler"),
               ("index1", "forward_euler"), ("independent", "semi_implicit_euler")]  # fmt: skip
STEPS_S = (8e-3, 4e-3, 2e-3, 1e-3)
# the published case: a block of 1 kg, pulled through a spring of 2 N/m at 0.1 m/s
BLOCK = {
    "coulomb": 1.0, "static": 1.5, "stribeck_speed": 1e-3,
    "bristle_stiffness": 1e5, "bristle_damping": math.sqrt(1e5), "viscous": 0.4,
}  # fmt: skip
SOFT = {
    "coulomb": 1.0, "static": 1.6, "stribeck_speed": 0.1,
    "bristle_stiffness": 300.0, "bristle_damping": 1.5, "viscous": 0.4,
}  # fmt: skip


def bristle_rate(law, v, z):
    g = law["coulomb"] + (law["static"] - law["coulomb"]) * math.exp(
        -((v / law["stribeck_speed"]) ** 2)
    )
    return v - law["bristle_stiffness"] * abs(v) / g * z


def drag(law, v, z):
    s0, s1, s2 = law["bristle_stiffness"], law["bristle_damping"], law["viscous"]
    return s0 * z + s1 * bristle_rate(law, v, z) + s2 * v


def block(push, law, x=0.0, v=0.0):
    """1 kg on a line under `push`, an expression of its place x and the time t."""
    made = MechanismBuilder("block").distance("x", initial_m=x, initial_rate_m_s=v)
    made.mass("x", distance="x", mass_kg=1)
    made.distance("t", initial_rate_m_s=1.0).mass("t", distance="t", mass_kg=1)
    made.expression_force("push", coordinate="x", force=push)
    made.lugre("f", distance="x", **law)
    made.output("x_m", "x").output("v_m_s", "= rate(x)").output("z_m", "lugre.f.bristle_m")
    return made


@pytest.fixture(scope="module")
def swinging(tmp_path_factory):
    """A driven block whose rate turns round several times, and its exact state at 0.8 s."""
    path = block("4 * sin(9 * t) - 12 * x", SOFT, 0.1, 0.3).save(tmp_path_factory.mktemp("lugre"))

    def rates(t, y):
        x, v, z = y
        return [v, 4 * math.sin(9 * t) - 12 * x - drag(SOFT, v, z), bristle_rate(SOFT, v, z)]

    at = np.arange(1, 61) * STEPS_S[0]
    found = solve_ivp(
        rates, (0, at[-1]), [0.1, 0.3, 0.0], "DOP853", at, rtol=1e-11, atol=1e-14, max_step=2e-3
    )
    return path, found.y.T


def order(module_of, path, exact, **options):
    """Slope of the RMS error over the whole motion, and the error at the smallest step."""
    found = []
    for step_s in STEPS_S:
        stepper, every = module_of(path, step_s=step_s, **options).Kernel(), STEPS_S[0] / step_s
        assert stepper.reset() == 0
        seen = []
        for k in range(1, round(len(exact) * every) + 1):
            assert stepper.step() == 0
            if k % round(every) == 0:
                shown = stepper.outputs
                seen.append([shown["x_m"], shown["v_m_s"], shown["z_m"]])
        found.append(
            np.sqrt(np.mean((np.array(seen) - exact) ** 2, axis=0)) / np.std(exact, axis=0)
        )
    levels = np.log2(np.array(found))
    return -np.polyfit(np.arange(len(STEPS_S)), levels, 1)[0], found[-1]


@pytest.mark.slow
@pytest.mark.parametrize(("formulation", "integrator"), WAYS)
def test_order_two_over_four_steps(formulation, integrator, swinging, twin):
    options = {"formulation": formulation, "integrator": integrator}
    if integrator != "rk4":
        options |= {"iterations": 6}
    slopes, finest = order(twin, *swinging, **options)
    assert np.all(slopes > 1.85), slopes
    assert np.all(finest < 1e-3), finest


@pytest.mark.slow
@pytest.mark.parametrize(("formulation", "integrator"), FIRST_ORDER)
def test_euler_rules_converge_with_their_own_order(formulation, integrator, swinging, twin):
    slopes, finest = order(twin, *swinging, formulation=formulation, integrator=integrator)
    assert np.all(slopes > 0.9), slopes
    assert np.all(finest < 2e-2), finest


@pytest.fixture(scope="module")
def period_s():
    """Stick-slip period of the published case, by an implicit method of order five."""

    def rates(t, y):
        x, v, z = y
        return [v, 2 * (0.1 * t - x) - drag(BLOCK, v, z), bristle_rate(BLOCK, v, z)]

    def lets_go(t, y):
        return y[1] - 0.05

    lets_go.direction = 1
    found = solve_ivp(
        rates,
        (0, 15),
        [0.0, 0.0, 0.0],
        "Radau",
        rtol=1e-8,
        atol=1e-11,
        max_step=5e-2,
        events=lets_go,
    )
    first, second = found.t_events[0]
    return second - first


def test_the_published_case_has_the_known_period(period_s):
    assert period_s == pytest.approx(6.362, abs=1.5e-3)


@pytest.mark.parametrize(("formulation", "integrator", "substeps"), [
    ("ali3p", "generalized_alpha", 1), ("ali3p", "trapezoidal", 1), ("ali3p", "generalized_alpha", 3),
    ("index1", "rk4", 2), ("independent", "rk4", 2),
])  # fmt: skip
@pytest.mark.slow
def test_stick_slip_period_at_one_millisecond(
    formulation, integrator, substeps, period_s, kernel, tmp_path
):
    path = block("2 * (0.1 * t - x)", BLOCK).save(tmp_path)
    options = {"formulation": formulation, "integrator": integrator, "substeps": substeps}
    stepper = kernel(path, **options).Kernel()
    assert stepper.reset() == 0
    let_go, before = [], 0.0
    for k in range(1, 21001):
        assert stepper.step() == 0
        now = stepper.outputs["v_m_s"]
        if before < 0.05 <= now:
            let_go.append((k - 1 + (0.05 - before) / (now - before)) * 1e-3)
        before = now
    assert np.diff(let_go) == pytest.approx(period_s, rel=5e-3)


@pytest.mark.parametrize("since", [0.0, 1e-3, 0.1])
@pytest.mark.parametrize("start", [-0.4, -1e-3, 0.0, 2e-3, 0.3])
@pytest.mark.parametrize("rate", [-2.0, -3e-3, 1e-7, 5e-3, 1.0])
def test_the_slope_is_that_of_the_force(rate, start, since):
    system = block("0", BLOCK).build().system
    (c,) = [c for c in system.coordinates if c.name == "x"]
    force = system.force[c.index]

    def at(v):
        return {
            c.q.name: 0.0, c.qd.name: v, "since_s": since,
            "lugre/f/bristle_start_m": 3e-6, "lugre/f/rate_start": start,
            "q t": 0.0, "qd t": 1.0,
            **{p.path: p.default for p in system.parameters},
        }  # fmt: skip

    slope = evaluate(system.graph.diff(force, c.qd), at(rate))
    d = 1e-4 * abs(rate)
    values = [evaluate(force, at(rate + k * d)) for k in (-2, -1, 1, 2)]
    exact = (values[0] - 8 * values[1] + 8 * values[2] - values[3]) / (12 * d)
    assert slope == pytest.approx(exact, rel=1e-5, abs=1e-5)


def test_the_update_is_the_law_at_a_constant_rate():
    # no step is too long for it: at a constant rate the update is the exact solution
    system = block("0", BLOCK).build().system
    bristle = system.values["lugre/f/bristle_m"]
    for v, h in ((1e-9, 1.0), (2e-4, 1e-3), (-0.3, 1e-3), (-5.0, 1.0), (0.0, 1.0)):
        z = evaluate(bristle, {
            "qd x": v, "since_s": h, "lugre/f/bristle_start_m": 4e-6, "lugre/f/rate_start": v,
            **{p.path: p.default for p in system.parameters},
        })  # fmt: skip
        g = 1.0 + 0.5 * math.exp(-((v / 1e-3) ** 2))
        r = 1e5 * abs(v) / g
        exact = math.exp(-h * r) * 4e-6 - (math.expm1(-h * r) / r * v if v else 0.0)
        assert z == pytest.approx(exact, rel=1e-12, abs=1e-20)
        assert abs(z) <= 1.5 / 1e5


def test_a_start_takes_the_bristles_as_they_are(twin, tmp_path):
    # the force at a start is that of the state given, not that of a step later
    stepper = twin(block("0", SOFT, v=0.5).save(tmp_path)).Kernel()
    stepper.reset()
    assert stepper.outputs["z_m"] == 0.0
    assert stepper.qdd[0] == pytest.approx(-drag(SOFT, 0.5, 0.0), rel=1e-9)

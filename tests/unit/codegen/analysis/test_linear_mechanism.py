"""Equilibria, poles and modes beside exact mechanics, and beside central differences of kernels."""

import math

import numpy as np
import pytest

from codegen.analysis.linear_mechanism import linearise_mechanism
from codegen.analysis.linearise import LinearisationError, linearise_step
from codegen.analysis.modes import modes
from codegen.description.builder import MechanismBuilder
from codegen.description.mechanism import load, parse

G = 9.81
DOWN = (0, -G, 0)


def poles_of(mechanism, **given):
    return np.sort_complex(np.linalg.eigvals(linearise_mechanism(mechanism, **given).a))


def chain(lengths, masses, angles):
    """Point masses on massless rods, angles from the downward vertical."""
    made = MechanismBuilder("chain", gravity_m_s2=DOWN)
    place, before = np.zeros(3), (0, 0, 0)
    for k, (length, mass, angle) in enumerate(zip(lengths, masses, angles, strict=True)):
        place = place + length * np.array([math.sin(angle), -math.cos(angle), 0.0])
        made.point(f"P{k}", position_m=tuple(place), moves="xy")
        made.mass(f"m{k}", point=f"P{k}", mass_kg=mass)
        made.constant_distance(f"rod{k}", points=[before, f"P{k}"])
        before = f"P{k}"
    return made.build()


def test_a_pendulum_is_found_hanging_from_wherever_it_starts():
    for angle in (0.3, 2.0, -3.1):
        mechanism = chain([0.7], [2.0], [angle])
        linear = linearise_mechanism(mechanism)
        assert linear.equilibrium.moment.q == pytest.approx([0.0, -0.7], abs=1e-10)
        assert poles_of(mechanism) == pytest.approx(
            np.array([-1j, 1j]) * math.sqrt(G / 0.7), abs=1e-9
        )


def test_a_pendulum_that_stands_on_its_head_stays_there_and_is_unstable():
    mechanism = chain([0.7], [2.0], [math.pi])
    linear = linearise_mechanism(mechanism)
    assert linear.equilibrium.steps == 0
    assert poles_of(mechanism) == pytest.approx(np.array([-1, 1]) * math.sqrt(G / 0.7), rel=1e-12)
    assert [m.kind for m in modes(mechanism, linear)] == ["decays", "grows"]


def test_a_double_pendulum_has_its_exact_frequencies_and_shapes():
    (l1, l2), (m1, m2) = (0.5, 0.8), (1.5, 0.4)
    mechanism = chain([l1, l2], [m1, m2], [0.4, -0.9])
    linear = linearise_mechanism(mechanism)
    mass = np.array([[(m1 + m2) * l1**2, m2 * l1 * l2], [m2 * l1 * l2, m2 * l2**2]])
    stiffness = np.diag([(m1 + m2) * G * l1, m2 * G * l2])
    squares, angles = np.linalg.eig(np.linalg.solve(mass, stiffness))
    order = np.argsort(squares)
    found = modes(mechanism, linear)
    for mode, k in zip(found, order, strict=True):
        assert mode.frequency_hz == pytest.approx(math.sqrt(squares[k]) / (2 * math.pi), rel=1e-9)
        assert mode.damping_ratio == 0.0
        shape = {p.signal: p.amplitude * math.cos(math.radians(p.phase_deg)) for p in mode.shape}
        first, second = angles[:, k]
        exact = l1 * first / (l1 * first + l2 * second)
        assert shape["P0_x"] / shape["P1_x"] == pytest.approx(exact, rel=1e-8)


CARTS = """
name = "carts"
[point.A]
position_m = [0, 0, 0]
[distance.first]
[slide.first]
point = "A"
start_m = [0, 0, 0]
along = [1, 0, 0]
by = "first"
[mass.first]
distance = "first"
mass_kg = 2.0
[spring.first]
distance = "first"
stiffness_n_per_m = 50.0
rest_m = 0.1
[damper.first]
distance = "first"
damping_ns_per_m = 3.0
[force.push]
distance = "first"
force_n = { input = 0.0 }
[outputs]
"cart/place_m" = "first"
"cart/rate_m_s" = "first.rate"
"cart/acceleration_m_s2" = "first.acceleration"
"""


def test_a_spring_and_a_damper_have_a_closed_form():
    mechanism = parse(CARTS, "carts.toml")
    linear = linearise_mechanism(mechanism, {"input/force/push/force_n": 20.0})
    assert linear.at["cart/place_m"] == pytest.approx(0.1 + 20.0 / 50.0, abs=1e-12)
    assert linear.states == ("first", "first rate")
    assert linear.a == pytest.approx(np.array([[0, 1], [-25, -1.5]]), abs=1e-12)
    assert linear.b == pytest.approx(np.array([[0], [0.5]]), abs=1e-12)
    assert linear.c == pytest.approx(np.array([[1, 0], [0, 1], [-25, -1.5]]), abs=1e-12)
    assert linear.d == pytest.approx(np.array([[0], [0], [0.5]]), abs=1e-12)
    (mode,) = modes(mechanism, linear)
    assert mode.frequency_hz == pytest.approx(5.0 / (2 * math.pi))
    assert mode.damping_ratio == pytest.approx(1.5 / 10.0)
    hz = np.array([0.3, 2.0])
    s = 2j * np.pi * hz
    assert linear.response(hz)[:, 0, 0] == pytest.approx(1.0 / (2 * s**2 + 3 * s + 50))


def test_parameters_are_those_that_are_given():
    mechanism = parse(CARTS, "carts.toml")
    path = next(p.path for p in mechanism.system.parameters if "stiffness" in p.path)
    linear = linearise_mechanism(mechanism, {}, {path: 200.0})
    assert linear.a[1, 0] == pytest.approx(-100.0)
    with pytest.raises(LinearisationError, match="no parameter"):
        linearise_mechanism(mechanism, {}, {"stiff": 2.0})


def test_a_guided_rod_shows_gravity_inertia_and_damping():
    linear = linearise_mechanism(load("guided_rod"))
    row = linear.outputs.index("guide/torque_nm")
    # rod 0.3 m, 2 kg about its end, 0.05 kg m^2 on the angle; 0.2 Nms/rad; it lies level
    assert linear.d[row] == pytest.approx([0.0, 0.2, 2.0 * 0.3**2 / 3 + 0.05], abs=1e-12)
    assert linear.at["guide/torque_nm"] == pytest.approx(2.0 * G * 0.15)
    up = linearise_mechanism(load("guided_rod"), {"guide/rod/position_rad": math.pi / 2})
    assert up.d[row][0] == pytest.approx(-2.0 * G * 0.15, rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["five_bar", "bricard", "squeezer", "four_bar"])
def test_accelerations_beside_the_equilibrium_are_those_of_the_kernel(kernel, name):
    mechanism = load(name)
    linear = linearise_mechanism(mechanism)
    own = kernel(name, formulation="index1", integrator="rk4", step_s=1e-4).Kernel()
    names = [n for n, _ in own_names(kernel, name)]
    places = [names.index(s) for s in linear.states[: linear.equilibrium.dof]]
    at, dof = linear.equilibrium.moment.q, linear.equilibrium.dof
    found = np.zeros((dof, 2 * dof))
    for k in range(2 * dof):
        sides = []
        for size in (1e-6, -1e-6):
            change = size * linear.shape[:, k % dof]
            q, qd = (at + change, 0 * at) if k < dof else (at, change)
            assert own.reset(q=q.tolist(), qd=qd.tolist()) == 0
            sides.append(np.array(own.qdd)[places])
        found[:, k] = (sides[0] - sides[1]) / 2e-6
    exact = linear.a[dof:]
    assert np.max(np.abs(found - exact)) < 2e-5 * np.max(np.abs(exact))


def own_names(kernel, name):
    return kernel(name, formulation="index1", integrator="rk4", step_s=1e-4).model_info()[
        "coordinates"
    ]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["steering_26", "steering_rack_guided"])
def test_a_short_step_of_the_kernel_answers_as_the_mechanism(kernel, name):
    # tyres with a state of their own, springs and friction; the step is held to a tenth of a millisecond
    mechanism = load(name)
    linear = linearise_mechanism(mechanism)
    step = linearise_step(kernel(name, step_s=1e-4), ["guide/torque_nm"])
    hz = np.array([0.3, 2.0, 10.0])
    w = 2 * np.pi * hz
    row = linear.outputs.index("guide/torque_nm")
    answers = [lin.response(hz)[:, r, :3] for lin, r in ((linear, row), (step, 0))]
    ours, theirs = (g[:, 0] + 1j * w * g[:, 1] - w**2 * g[:, 2] for g in answers)
    assert np.abs(ours / theirs - 1.0) == pytest.approx(np.zeros(3), abs=5e-3)


def test_bristles_at_rest_are_a_spring():
    text = CARTS.replace("[damper.first]\ndistance = \"first\"\ndamping_ns_per_m = 3.0", """
[lugre.grip]
distance = "first"
coulomb = 1.0
static = 1.5
stribeck_speed = 0.01
bristle_stiffness = 1e5
bristle_damping = 30.0
viscous = 0.4""")  # fmt: skip
    linear = linearise_mechanism(parse(text, "carts.toml"))
    assert linear.states[2] == "lugre/grip/bristle_m"
    # z' = v at rest; -(s0 z + s1 v + s2 v) on 2 kg
    exact = [[0, 1, 0], [-25, -15.2, -5e4], [0, 1, 0]]
    assert linear.a == pytest.approx(np.array(exact), rel=1e-9, abs=1e-9)


def test_nothing_that_can_rest_is_refused_with_the_coordinate():
    made = MechanismBuilder("falling", gravity_m_s2=DOWN)
    made.point("P", position_m=(0, 0, 0), moves="xy")
    made.mass("m", point="P", mass_kg=1.0)
    with pytest.raises(LinearisationError, match=r"no equilibrium .*'P_y' is pushed on"):
        linearise_mechanism(made.build())


def test_a_mechanism_that_rests_in_a_singular_pose_is_refused():
    with pytest.raises(LinearisationError, match="singular: 2 motions"):
        linearise_mechanism(load("slider_crank"))


def test_inputs_that_there_are_not_are_named():
    with pytest.raises(LinearisationError, match="guide/rod/position_rad"):
        linearise_mechanism(load("guided_rod"), {"rod": 0.0})
    with pytest.raises(LinearisationError, match="finite"):
        linearise_mechanism(load("guided_rod"), {"guide/rod/position_rad": math.nan})


def test_a_free_cart_is_no_oscillator():
    made = MechanismBuilder("cart")
    made.angle("a").inertia("rotor", angle="a", inertia_kg_m2=0.3)
    mechanism = made.build()
    assert [m.kind for m in modes(mechanism, linearise_mechanism(mechanism))] == ["free", "free"]


def test_soft_and_stiff_directions_are_searched_each_by_its_own_step():
    # a hinge so nearly balanced that it hardly turns, and a stiff spring far from rest
    made = MechanismBuilder("mixed", gravity_m_s2=DOWN)
    made.angle("soft").inertia("rotor", angle="soft", inertia_kg_m2=0.3)
    made.expression_force("weak", coordinate="soft", force="-1e-5 * sin(soft - 2)")
    made.distance("stiff", initial_m=0.7).mass("block", distance="stiff", mass_kg=2.0)
    made.spring("home", distance="stiff", stiffness_n_per_m=3e4, rest_m=0.1)
    linear = linearise_mechanism(made.build())
    assert linear.equilibrium.moment.q == pytest.approx([2.0, 0.1], abs=1e-6)
    assert linear.equilibrium.steps < 30

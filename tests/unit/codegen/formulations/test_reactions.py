"""Reactions of joints and rows as outputs: against Newton and Euler, and against exact references."""

import csv
import itertools
import math
from pathlib import Path

import numpy as np
import pytest

from codegen.description.builder import MechanismBuilder
from codegen.expressions.dag import evaluate
from codegen.pose.assembly import Rows

REFERENCES = Path(__file__).parents[3] / "data" / "references"
GRAVITY = np.array([0.5, -9.81, 1.0])
MASS, CENTRE, POINT = 3.0, np.array([0.2, -0.1, 0.3]), (0.3, 0.2, 0.1)
INERTIA = (0.5, 0.4, 0.3, 0.02, -0.03, 0.01)
TENSOR = np.array([[0.5, 0.02, -0.03], [0.02, 0.4, 0.01], [-0.03, 0.01, 0.3]])
AXIS = (0, 0.6, 0.8)


def body(made, name):
    made.point(f"{name}P", position_m=(0, 0, 0))
    for k, direction in enumerate([(0, 0, 1), (0, 0.6, 0.8), (0.8, 0, 0.6)]):
        made.unit_vector(f"{name}v{k}", direction=direction)
    made.rigid_body(
        name,
        points=[f"{name}P"],
        vectors=[f"{name}v{k}" for k in range(3)],
        mass_kg=MASS,
        centre_m=CENTRE,
        inertia_kg_m2=INERTIA,
    )
    return made


class Instant:
    """A system at one position and rate: accelerations and multipliers by dense linear algebra."""

    def __init__(self, system, q, qd, push=()):
        graph, rows = system.graph, Rows(system)
        coordinates = system.coordinates
        at = {c.q.name: v for c, v in zip(coordinates, q, strict=True)}
        at |= {c.qd.name: v for c, v in zip(coordinates, qd, strict=True)}
        at |= {p.var.name: p.default for p in [*system.parameters, *system.signals]}
        moving = {c.q: c.qd for c in coordinates}
        for guide, acceleration in zip(system.guides, push, strict=True):
            index = guide.coordinate.index
            start = (q[index], qd[index], acceleration)
            at |= {var.name: v for var, v in zip(guide.inputs, start, strict=True)}
            moving |= dict(itertools.pairwise(guide.inputs))
        jac = rows.phi_q(np.array(q))
        gamma = np.array([
            evaluate(graph.tangent(graph.tangent(row.phi, moving), moving), at)
            for row in system.rows
        ])  # fmt: skip
        n = len(q)
        mass = np.zeros((n, n))
        for (i, j), entry in system.mass.items():
            mass[i, j] = mass[j, i] = evaluate(entry, at)
        force = np.array([evaluate(system.force.get(i, graph.zero), at) for i in range(n)])
        block = np.block([[mass, jac.T], [jac, np.zeros((len(jac), len(jac)))]])
        solution = np.linalg.lstsq(block, np.concatenate([force, -gamma]), rcond=1e-12)[0]
        self.system, self.qd, self.qdd = system, np.array(qd), solution[:n]
        self.at = at | {system.row_multiplier(r).name: lam for r, lam in enumerate(solution[n:])}

    def value(self, path):
        return evaluate(self.system.values[path], self.at)

    def vector(self, table, keys):
        return np.array([self.value(f"{table}/{key}") for key in keys])

    def linear(self, path, rates):
        """Rate of a value that is linear in the coordinates, for given rates of them."""
        graph = self.system.graph
        slopes = [graph.diff(self.system.values[path], c.q).value for c in self.system.coordinates]
        return np.array(slopes) @ rates


def somewhere(system, seed=3, far=0.3):
    """A closed position away from the file's, and rates that the constraints allow."""
    rows, rng = Rows(system), np.random.default_rng(seed)

    def allowed(q):
        jac, wish = rows.phi_q(q), rng.normal(size=len(q))
        return wish - np.linalg.lstsq(jac, jac @ wish, rcond=1e-9)[0]

    q = np.array([c.initial for c in system.coordinates])
    for _ in range(6):
        q = q + far / 6 * allowed(q)
        for _ in range(8):
            q = q - np.linalg.lstsq(rows.phi_q(q), rows.phi(q), rcond=1e-9)[0]
    return Instant(system, q, 2.0 * allowed(q))


def start(system):
    """Coordinates and rates as assembled."""
    return ([getattr(c, key) for c in system.coordinates] for key in ("initial", "initial_rate"))


R_KEYS = [f"r_{row}{column}" for row in "xyz" for column in "xyz"]
JOINTS = [
    ("spherical", {}), ("revolute", {"axis": AXIS}), ("revolute", {"axis": AXIS, "angle": "a"}),
    ("prismatic", {"axis": AXIS}), ("prismatic", {"axis": AXIS, "travel": "s"}),
    ("cylindrical", {"axis": AXIS, "angle": "a", "travel": "s"}),
    ("screw", {"axis": AXIS, "angle": "a", "lead_m": 0.3}),
    ("universal", {"pins": [(1, 0, 0), AXIS]}), ("planar", {"axis": AXIS}), ("rigid", {}),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("joint", "keys"), JOINTS)
@pytest.mark.parametrize("other", ["ground", "c"])
@pytest.mark.parametrize("is_first", [True, False])
def test_a_joint_carries_what_newton_and_euler_ask_for(joint, keys, other, is_first):
    made = body(MechanismBuilder("m", gravity_m_s2=GRAVITY), "a")
    if other == "c":
        body(made, "c").spring_between(
            "pull", points=[(1, 2, 3), "cP"], stiffness_n_per_m=40.0, damping_ns_per_m=1.0
        )
    # what acts on a measuring coordinate reaches the body through the joint
    if "angle" in keys:
        made.angle("a").spring("turn", angle="a", stiffness_nm_per_rad=7, rest_rad=1)
        made.inertia("rotor", angle="a", inertia_kg_m2=0.3)
    if "travel" in keys:
        made.distance("s").spring("lift", distance="s", stiffness_n_per_m=9, rest_m=-2)
    bodies = ["a", other] if is_first else [other, "a"]
    getattr(made, joint)("j", bodies=bodies, point_m=POINT, **keys)
    now = somewhere(made.build().system)

    turn = now.vector("rigid_body/a", R_KEYS).reshape(3, 3)
    spin = np.array([now.linear(f"rigid_body/a/{k}", now.qd) for k in R_KEYS]).reshape(3, 3)
    bend = np.array([now.linear(f"rigid_body/a/{k}", now.qdd) for k in R_KEYS]).reshape(3, 3)
    omega_cross = spin @ turn.T
    alpha_cross = bend @ turn.T - omega_cross @ omega_cross
    omega, alpha = (np.array([m[2, 1], m[0, 2], m[1, 0]]) for m in (omega_cross, alpha_cross))
    centre_keys = ("x_m", "y_m", "z_m")
    centre = now.vector("rigid_body/a", centre_keys)
    speedup = np.array([now.linear(f"rigid_body/a/{k}", now.qdd) for k in centre_keys])
    inertia = turn @ TENSOR @ turn.T
    force = MASS * (speedup - GRAVITY)
    moment = inertia @ alpha + np.cross(omega, inertia @ omega)

    carried = now.vector(f"{joint}/j", ("fx_n", "fy_n", "fz_n"))
    turned = now.vector(f"{joint}/j", ("tx_nm", "ty_nm", "tz_nm"))
    at = centre + turn @ (np.array(POINT) - CENTRE)
    if not is_first:
        # the values are those of the other body, about its own point
        other_at = np.array(POINT)
        if other == "c":
            other_turn = now.vector("rigid_body/c", R_KEYS).reshape(3, 3)
            other_at = now.vector("rigid_body/c", centre_keys)
            other_at = other_at + other_turn @ (np.array(POINT) - CENTRE)
        turned = -turned + np.cross(other_at - at, -carried)
        carried = -carried
    size = 1.0 + np.abs(force).max()
    np.testing.assert_allclose(carried, force, atol=1e-9 * size)
    # a row that looks along the other body's axis acts at the first body's point
    np.testing.assert_allclose(turned + np.cross(at - centre, carried), moment, atol=1e-9 * size)


def test_tension_of_rods_and_measured_lengths():
    # a mass on a rod 30 degrees from the vertical, turning at 2 rad/s
    angle, omega, mass, length = math.radians(30), 2.0, 1.5, 0.8
    place = length * np.array([math.sin(angle), -math.cos(angle), 0])
    speed = omega * length * np.array([math.cos(angle), math.sin(angle), 0])
    exact = mass * (omega**2 * length + 9.81 * math.cos(angle))
    for rod in ("constant_distance", "length"):
        made = MechanismBuilder("m", gravity_m_s2=(0, -9.81, 0))
        made.point("P", position_m=place, velocity_m_s=speed, moves="xy")
        made.mass("P", point="P", mass_kg=mass)
        if rod == "length":
            made.distance("l", initial_m=length).guide("l", coordinate="l")
            made.length("rod", points=[(0, 0, 0), "P"], by="l")
        else:
            made.constant_distance("rod", points=[(0, 0, 0), "P"])
        system = made.build().system
        now = Instant(system, *start(system), push=[0.0] * len(system.guides))
        assert now.value(f"{rod}/rod/force_n") == pytest.approx(exact, rel=1e-12)


def test_gears_racks_belts_and_rotations_show_what_acts_on_their_first_coordinate():
    # a torque of 6 Nm on the last wheel of a train at rest: a gives b, b gives c, c gives rack s
    made = MechanismBuilder("m")
    for name, inertia in (("a", 0.5), ("b", 0.2), ("c", 0.1)):
        made.angle(name).inertia(name, angle=name, inertia_kg_m2=inertia)
    made.distance("s").mass("s", distance="s", mass_kg=4)
    made.gear("ab", first="a", second="b", ratio=-2)
    made.belt("bc", first="b", second="c", first_radius_m=0.3, second_radius_m=0.1)
    made.rack_and_pinion("cs", rack="s", pinion="c", radius_m=0.05)
    made.unit_vector("v", direction=(1, 0, 0)).perpendicular("v", vectors=["v", (0, 0, 1)])
    made.rotation("a", angle="a", vector="v", axis=(0, 0, 1), zero=(1, 0, 0))
    made.vector_inertia("v", vector="v", inertia_kg_m2=0.7)
    made.force("drive", angle="a", torque_nm=6.0)
    system = made.build().system
    now = Instant(system, *start(system))
    b, c, s = -1 / 2, -3 / 2, -3 / 40  # turns for one of a
    acceleration = 6.0 / (0.5 + 0.7 + 0.2 * b**2 + 0.1 * c**2 + 4 * s**2)
    assert now.value("rack_and_pinion/cs/force_n") == pytest.approx(4 * s * acceleration)
    assert now.value("rack_and_pinion/cs/torque_nm") == pytest.approx(-4 * s * acceleration * 0.05)
    on_c = (0.1 * c + 4 * s * 0.05) * acceleration
    assert now.value("belt/bc/torque_nm") == pytest.approx(-3 * on_c)
    on_b = 0.2 * b * acceleration + 3 * on_c
    assert now.value("gear/ab/torque_nm") == pytest.approx(on_b / 2)
    assert now.value("rotation/a/torque_nm") == pytest.approx(-0.7 * acceleration)


def test_points_on_lines_planes_curves_and_slides_show_the_normal_force():
    # each carries a mass of 2 kg at rest under a sloping gravity
    made = MechanismBuilder("m", gravity_m_s2=(1, -9, 2))
    for name in "PQRS":
        made.point(name, position_m=(1, 1, 0)).mass(name, point=name, mass_kg=2)
    made.distance("r", initial_m=1.0).distance("s")
    made.point_on_line("P", point="P", start_m=(0, 1, 0), along=(1, 0, 0))
    made.point_on_plane("Q", point="Q", start_m=(1, 1, 0), normal=(0, 0.6, 0.8))
    made.point_on_curve("R", point="R", by="r", curve_m=["r", "r ** 2", "0"])
    made.slide("S", point="S", start_m=(1, 1, 0), along=(0, 0.6, 0.8), by="s")
    made.spring("s", distance="s", stiffness_n_per_m=5, rest_m=-1)
    system = made.build().system
    now = Instant(system, *start(system))
    axes = ("fx_n", "fy_n", "fz_n")
    np.testing.assert_allclose(now.vector("point_on_line/P", axes), [0, 18, -4], atol=1e-12)
    weight = 2 * np.array([1, -9, 2])
    normal = np.array([0, 0.6, 0.8])
    assert now.value("point_on_plane/Q/force_n") == pytest.approx(-weight @ normal)
    tangent = np.array([1, 2, 0]) / math.sqrt(5)
    expected = -weight + (weight @ tangent) * tangent
    np.testing.assert_allclose(now.vector("point_on_curve/R", axes), expected, atol=1e-12)
    # the spring pulls the distance with -5 N; all of it moves the mass
    pulled = -5.0
    expected = -weight + (weight @ normal) * normal + pulled * normal
    np.testing.assert_allclose(now.vector("slide/S", axes), expected, atol=1e-12)
    assert now.value("slide/S/force_n") == pytest.approx(-pulled)


def test_a_row_shared_by_two_joints_counts_once():
    made = body(MechanismBuilder("m", gravity_m_s2=(0, -9.81, 0)), "a")
    for k in range(2):
        made.revolute(f"hinge_{k}", bodies=["a", "ground"], point_m=(0, 0, k), axis=(0, 0, 1))
    now = somewhere(made.build().system)
    speedup = np.array([now.linear(f"rigid_body/a/{k}", now.qdd) for k in ("x_m", "y_m", "z_m")])
    carried = sum(now.vector(f"revolute/hinge_{k}", ("fx_n", "fy_n", "fz_n")) for k in (0, 1))
    np.testing.assert_allclose(carried, MASS * (speedup - [0, -9.81, 0]), atol=1e-9)
    turned = now.vector("revolute/hinge_1", ("tx_nm", "ty_nm", "tz_nm"))
    np.testing.assert_allclose(turned, 0.0)


def exact(name):
    with (REFERENCES / f"{name}.csv").open() as file:
        head, *rows = csv.reader(file)
    return dict(zip(head, np.array(rows, dtype=float).T, strict=True))


def pendulum():
    made = MechanismBuilder("pendulum_rod", gravity_m_s2=(0, -9.81, 0))
    made.point("P", position_m=(-1, 0, 0), moves="xy").mass("P", point="P", mass_kg=1)
    made.constant_distance("rod", points=[(0, 0, 0), "P"])
    return made.output("tension_n", "constant_distance.rod.force_n")


def slider_crank(name="crank_line", theta=math.pi / 4, omega=20.0, is_guided=False):
    """The crank of the references; its slider is on a line, its crank in a hinge."""
    r, reach = 0.12, 0.25
    a = np.array([r * math.cos(theta), r * math.sin(theta), 0])
    b = np.array([a[0] + math.sqrt(reach**2 - a[1] ** 2), 0, 0])
    made = MechanismBuilder(name, gravity_m_s2=(0, -9.81, 0))
    for point, at in (("O", (0, 0, 0)), ("A", a), ("B", b)):
        made.point(point, position_m=at, moves="xy")
    made.angle("theta", initial_rad=theta, initial_rate_rad_s=omega)
    for body_name, points, mass, inertia, centre in (
        ("crank", ["O", "A"], 0.75, 0.0009, a / 2),
        ("conrod", ["A", "B"], 1.56, 0.008125, (a + b) / 2),
    ):
        made.rigid_body(
            body_name, points=points, axis=(0, 0, 1), mass_kg=mass, centre_m=centre,
            inertia_kg_m2=inertia,
        )  # fmt: skip
    made.mass("slider", point="B", mass_kg=1.2)
    made.revolute(
        "hinge", bodies=["crank", "ground"], point_m=(0, 0, 0), axis=(0, 0, 1), angle="theta"
    )
    made.point_on_line("guide", point="B", start_m=(0, 0, 0), along=(1, 0, 0))
    if is_guided:
        made.guide("crank", coordinate="theta")
    made.output("N_guide_n", "point_on_line.guide.fy_n")
    return made.output("torque_crank_nm", "revolute.hinge.tz_nm")


def guided(t):
    turn = 4.0 * math.pi
    angle = math.pi / 4 + 6 * math.pi * t + 0.5 * math.sin(turn * t)
    rate = 6 * math.pi + 0.5 * turn * math.cos(turn * t)
    return angle, rate, -0.5 * turn**2 * math.sin(turn * t)


def test_forces_of_a_guided_slider_crank_are_the_closed_form():
    reference = exact("slider_crank_guided")
    for k in (0, 3, 11, 17):
        angle, rate, acceleration = guided(reference["t"][k])
        system = slider_crank("m", angle, rate, is_guided=True).build().system
        now = Instant(system, *start(system), push=[acceleration])
        assert now.value("point_on_line/guide/fy_n") == pytest.approx(
            reference["N_guide"][k], abs=1e-10
        )
        assert now.value("revolute/hinge/tz_nm") == pytest.approx(
            reference["torque_crank"][k], abs=1e-10
        )


def largest_errors(stepper, h, watch, guide):
    found = {}
    for port, (name, column, seconds) in watch.items():
        reference, steps, worst = exact(name), 0, 0.0
        assert stepper.reset(*guide(0.0)) == 0
        for t, value in zip(reference["t"], reference[column], strict=True):
            if t > seconds + 1e-9:
                break
            while steps < round(t / h):
                steps += 1
                assert stepper.step(*guide(steps * h)) == 0
            worst = max(worst, abs(stepper.outputs[port] - value))
        found[port] = worst
    return found


@pytest.mark.parametrize("made", ["kernel", "twin"])
@pytest.mark.parametrize(("mechanism", "step_s", "watch"), [
    (pendulum, 4e-3, {"tension_n": ("pendulum", "tension", 2.0)}),
    (slider_crank, 5e-4, {"N_guide_n": ("slider_crank_free", "N_guide", 1.0)}),
])  # fmt: skip
@pytest.mark.slow
def test_reactions_in_a_run_are_of_second_order(
    kernel, twin, tmp_path, made, mechanism, step_s, watch
):
    path, module = mechanism().save(tmp_path), kernel if made == "kernel" else twin
    coarse, fine = (
        largest_errors(module(path, step_s=h).Kernel(), h, watch, lambda t: ())
        for h in (step_s, step_s / 2)
    )
    for port in watch:
        assert 1.8 < math.log2(coarse[port] / fine[port]) < 2.7, (coarse, fine)


@pytest.mark.slow
def test_reactions_of_a_guided_run_are_exact(kernel, tmp_path):
    # every motion is given: what is left is 1/kappa of the reaction (17 Nm, 60 N), not h^2
    path = slider_crank("crank_hinge", omega=guided(0.0)[1], is_guided=True).save(tmp_path)
    watch = {
        "torque_crank_nm": ("slider_crank_guided", "torque_crank", 2.0),
        "N_guide_n": ("slider_crank_guided", "N_guide", 2.0),
    }
    found = largest_errors(kernel(path, step_s=2e-3).Kernel(), 2e-3, watch, guided)
    assert found["torque_crank_nm"] < 1e-5
    assert found["N_guide_n"] < 3e-5

"""Bodies, joints and forces one by one: masses against the integral, joints against the motions they
leave, forces against their law.
"""

import math

import numpy as np
import pytest

from codegen.description.builder import MechanismBuilder
from codegen.description.mechanism import MechanismError
from codegen.expressions.dag import Graph, evaluate
from codegen.expressions.smooth import exp, tanh
from codegen.pose.assembly import Rows, assemble
from codegen.pose.built import built_pose

MASS, CENTRE = 3.0, (0.2, -0.1, 0.3)
INERTIA = (0.5, 0.4, 0.3, 0.02, -0.03, 0.01)


def spatial(made, name, points, vectors):
    """A body on `points` moving points and `vectors` moving unit vectors."""
    places = [(0, 0, 0), (1, 0.1, 0), (0.2, 0.8, 0.1), (0.1, 0.2, 0.9)]
    directions = [(0, 0, 1), (0, 0.6, 0.8), (0.8, 0.0, 0.6)]
    for k in range(points):
        made.point(f"{name}P{k}", position_m=places[k])
    for k in range(vectors):
        made.unit_vector(f"{name}v{k}", direction=directions[k])
    made.rigid_body(
        name,
        points=[f"{name}P{k}" for k in range(points)],
        vectors=[f"{name}v{k}" for k in range(vectors)],
        mass_kg=MASS,
        centre_m=CENTRE,
        inertia_kg_m2=INERTIA,
    )
    return made


def rigid_rates(system, velocity, omega):
    """Coordinates' rates in a rigid motion about the origin."""
    rates = np.zeros(len(system.coordinates))
    for group, base in ((system.points, velocity), (system.vectors, (0, 0, 0))):
        for vector in group.values():
            place = [system.initial(c) for c in vector]
            speed = np.array(base) + np.cross(omega, place)
            for component, value in zip(vector, speed, strict=True):
                owner = system.owner(component)
                if owner is not None:
                    rates[owner.index] = value
    return rates


MIXES = [(2, 2), (3, 1), (1, 3), (4, 0)]


@pytest.mark.parametrize(("points", "vectors"), MIXES)
def test_kinetic_energy_is_that_of_the_rigid_body(points, vectors):
    system = spatial(MechanismBuilder("m"), "b", points, vectors).build().system
    jac, mass = built_pose(system)
    i = INERTIA
    inertia = np.array([[i[0], i[3], i[4]], [i[3], i[1], i[5]], [i[4], i[5], i[2]]])
    rng = np.random.default_rng(1)
    for _ in range(3):
        velocity, omega = rng.normal(size=3), rng.normal(size=3)
        rates = rigid_rates(system, velocity, omega)
        at_centre = velocity + np.cross(omega, CENTRE)
        exact = (MASS * at_centre @ at_centre + omega @ inertia @ omega) / 2.0
        assert rates @ mass @ rates / 2.0 == pytest.approx(exact, rel=1e-12)
        # a rigid motion meets no constraint
        np.testing.assert_allclose(jac @ rates, 0.0, atol=1e-12)


@pytest.mark.parametrize(("points", "vectors"), [*MIXES, (2, 3), (4, 1), (4, 3)])
def test_a_free_body_has_six_freedoms_and_no_redundant_row(points, vectors):
    found = assemble(spatial(MechanismBuilder("m"), "b", points, vectors).build())
    assert found.dof == 6
    assert found.redundant == ()


@pytest.mark.parametrize("second", ["point", "vector"])
def test_planar_body_has_the_planar_energy(second):
    made = MechanismBuilder("m").point("P", position_m=(0, 0, 0), moves="xy")
    if second == "point":
        made.point("R", position_m=(0.5, 0.2, 0), moves="xy")
        named = {"points": ["P", "R"]}
    else:
        made.unit_vector("v", direction=(0.6, 0.8, 0))
        named = {"points": ["P"], "vectors": ["v"]}
    made.rigid_body(
        "b", **named, axis=(0, 0, 1), mass_kg=2.0, centre_m=(0.3, 0.1, 0), inertia_kg_m2=0.07
    )
    built = made.build()
    jac, mass = built_pose(built.system)
    velocity, omega = np.array([0.4, -0.7, 0.0]), np.array([0.0, 0.0, 1.3])
    rates = rigid_rates(built.system, velocity, omega)
    at_centre = velocity + np.cross(omega, [0.3, 0.1, 0.0])
    exact = (2.0 * at_centre @ at_centre + 0.07 * 1.3**2) / 2.0
    assert rates @ mass @ rates / 2.0 == pytest.approx(exact, rel=1e-12)
    np.testing.assert_allclose(jac @ rates, 0.0, atol=1e-12)
    assert assemble(built).dof == 3


def test_a_body_outside_its_span_is_refused():
    made = MechanismBuilder("m")
    made.point("P", position_m=(0, 0, 0)).point("R", position_m=(1, 0, 0))
    made.rigid_body(
        "rod", points=["P", "R"], mass_kg=1, centre_m=(0.5, 0, 0), inertia_kg_m2=(0.1, 0.1, 0.1)
    )
    with pytest.raises(MechanismError, match="extends beyond what the body's points"):
        made.build()


JOINTS = [
    ("spherical", {}, 3), ("revolute", {"axis": (0, 0.6, 0.8)}, 1),
    ("prismatic", {"axis": (0, 0.6, 0.8)}, 1), ("cylindrical", {"axis": (0, 0.6, 0.8)}, 2),
    ("universal", {"pins": [(1, 0, 0), (0, 0.6, 0.8)]}, 2), ("planar", {"axis": (0, 0.6, 0.8)}, 3),
    ("rigid", {}, 0),
]  # fmt: skip


@pytest.mark.parametrize(("joint", "keys", "left"), JOINTS)
@pytest.mark.parametrize("other", ["ground", "body"])
def test_a_joint_leaves_its_freedoms(joint, keys, left, other):
    made = spatial(MechanismBuilder("m"), "a", 1, 3)
    if other == "body":
        spatial(made, "c", 2, 2)
    bodies = ["a", "c" if other == "body" else "ground"]
    getattr(made, joint)("j", bodies=bodies, point_m=(0.3, 0.2, 0.1), **keys)
    found = assemble(made.build())
    assert found.dof == left + (6 if other == "body" else 0)
    assert found.redundant == ()


def screwed(made=None):
    made = spatial(made or MechanismBuilder("m"), "a", 1, 3).angle("turn", initial_rad=0.4)
    made.screw(
        "s",
        bodies=["a", "ground"],
        point_m=(0.3, 0.2, 0.1),
        axis=(0, 0, 1),
        angle="turn",
        lead_m=0.05,
    )
    return made.build()


def test_a_screw_advances_by_its_lead():
    built = screwed()
    assert assemble(built).dof == 1
    system, rows = built.system, Rows(built.system)
    null = np.linalg.svd(rows.phi_q(np.array([c.initial for c in system.coordinates])))[2][-1]
    at = {c.name: null[c.index] for c in system.coordinates}
    assert at["aP0_z"] / at["turn"] == pytest.approx(0.05 / (2 * math.pi))
    # the turn is measured right-handed about the axis: v2 = (0.8, 0, 0.6) moves along y
    assert at["av2_y"] / at["turn"] == pytest.approx(0.8)


def test_measured_angle_and_travel_start_from_their_initial_values():
    made = (
        spatial(MechanismBuilder("m"), "a", 1, 3)
        .angle("t", initial_rad=0.7)
        .distance("s", initial_m=2)
    )
    made.cylindrical(
        "c", bodies=["a", "ground"], point_m=(0, 0, 0), axis=(1, 0, 0), angle="t", travel="s"
    )
    found = assemble(made.build())
    assert found.moved == {}
    assert found.dof == 2


def test_points_on_line_plane_and_curve():
    made = MechanismBuilder("m")
    for name in "PQR":
        made.point(name, position_m=(1, 1, 0)).mass(name, point=name, mass_kg=1)
    made.distance("s", initial_m=1.0)
    made.point_on_line("P", point="P", start_m=(0, 1, 0), along=(1, 0, 0))
    made.point_on_plane("Q", point="Q", start_m=(0, 0, 0), normal=(0, 0, 1))
    made.point_on_curve("R", point="R", by="s", curve_m=["s", "s ** 2", "0"])
    built = made.build()
    assert assemble(built).dof == 1 + 2 + 1
    rows = Rows(built.system)
    q = np.array([c.initial for c in built.system.coordinates])
    at = {c.name: c.index for c in built.system.coordinates}
    q[[at["P_x"], at["Q_y"], at["R_x"], at["R_y"], at["s"]]] = 7, 5, 3, 9, 3
    np.testing.assert_allclose(rows.phi(q), 0.0, atol=1e-15)
    q[at["R_y"]] = 8
    assert np.max(np.abs(rows.phi(q))) == pytest.approx(1.0)


def test_rack_and_belt_keep_their_ratios():
    made = MechanismBuilder("m").angle("a").angle("b").distance("s")
    made.rack_and_pinion("r", rack="s", pinion="a", radius_m=0.1)
    made.belt("b", first="a", second="b", first_radius_m=0.2, second_radius_m=0.1, crossed=True)
    made.inertia("a", angle="a", inertia_kg_m2=1)
    rows = Rows(made.build().system)
    np.testing.assert_allclose(rows.phi(np.array([1.0, -2.0, 0.1])), 0.0, atol=1e-15)
    assert np.all(np.abs(rows.phi(np.array([1.0, 2.0, 0.2]))) > 0.5)


def force_on(made, q=(), qd=(), **inputs):
    """Generalised forces at given coordinates and rates."""
    system = made.build().system
    at = {c.q.name: c.initial for c in system.coordinates} | {
        c.qd.name: 0.0 for c in system.coordinates
    }
    at |= {p.var.name: p.default for p in [*system.parameters, *system.signals, *system.internals]}
    at |= {system.step_s.name: 1e-3}
    for c, value in zip(system.coordinates, q, strict=False):
        at[c.q.name] = value
    for c, value in zip(system.coordinates, qd, strict=False):
        at[c.qd.name] = value
    at |= {held.var.name: evaluate(held.value, at) for held in system.held}
    return np.array(
        [evaluate(system.force.get(c.index, system.graph.zero), at) for c in system.coordinates]
    )


def wheel():
    return MechanismBuilder("m").angle("a").inertia("a", angle="a", inertia_kg_m2=2.0)


def test_spring_laws():
    linear = wheel().spring(
        "s", angle="a", stiffness_nm_per_rad=10, damping_nms_per_rad=2, rest_rad=0.5
    )
    assert force_on(linear, [0.8], [3.0])[0] == pytest.approx(-10 * 0.3 - 2 * 3)
    table = wheel().spring("s", angle="a", table=[(-1, -5), (0, 0), (1, 2), (2, 10)])
    for deflection, force in ((-2, -10), (-0.5, -2.5), (0.5, 1.0), (1.5, 6.0), (3, 18)):
        assert force_on(table, [deflection])[0] == pytest.approx(-force)


def test_spring_between_points_pulls_along_their_line():
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
def test_friction_follows_its_law(rate):
    made = wheel().friction(
        "f", angle="a", coulomb=5, static=8, stribeck_speed=0.3, transition_speed=0.02, viscous=0.1
    )
    law = (5 + 3 * math.exp(-((rate / 0.3) ** 2))) * math.tanh(rate / 0.02) + 0.1 * rate
    assert force_on(made, (), [rate])[0] == pytest.approx(-law, rel=1e-12, abs=1e-12)


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


def test_a_wrench_has_the_power_of_its_force_and_torque():
    made = spatial(MechanismBuilder("m"), "b", 2, 2)
    made.wrench(
        "w",
        body="b",
        point_m=(0.5, 0.4, 0.3),
        force_n=[1, -2, {"input": 3.0}],
        torque_nm=[0.4, 0, -0.7],
    )
    system = made.build().system
    rng = np.random.default_rng(2)
    velocity, omega = rng.normal(size=3), rng.normal(size=3)
    rates = rigid_rates(system, velocity, omega)
    power = np.array([1, -2, 3]) @ (velocity + np.cross(omega, (0.5, 0.4, 0.3)))
    power += np.array([0.4, 0, -0.7]) @ omega
    assert force_on(made) @ rates == pytest.approx(power, rel=1e-12)


def test_motor_force_and_expression():
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


def test_a_body_hung_by_a_general_revolute_swings_like_one_about_an_axis(twin, tmp_path):
    # the same physical pendulum in 12 coordinates with a joint, and in one angle
    general = MechanismBuilder("general", gravity_m_s2=(0, -9.81, 0)).point(
        "P", position_m=(1, 0, 0)
    )
    for name, direction in (("u", (1, 0, 0)), ("v", (0, 1, 0)), ("w", (0, 0, 1))):
        general.unit_vector(name, direction=direction)
    lean = MechanismBuilder("lean", gravity_m_s2=(0, -9.81, 0)).unit_vector(
        "v", direction=(0, 1, 0)
    )
    body = {"mass_kg": 2.0, "centre_m": (0.4, 0, 0), "inertia_kg_m2": (0.01, 0.05, 0.06)}
    general.rigid_body("b", points=["P"], vectors=["u", "v", "w"], **body)
    lean.rigid_body("b", points=[(0, 0, 0)], vectors=["v"], axis=(0, 0, 1), angle="a", **body)
    general.revolute("r", bodies=["b", "ground"], point_m=(0, 0, 0), axis=(0, 0, 1), angle="a")
    swung = []
    for made in (general, lean):
        made.angle("a").output("a_rad", "a").output("e_j", "energy").output(
            "y_m", "rigid_body.b.y_m"
        )
        stepper = twin(made.save(tmp_path), step_s=1e-3).Kernel()
        stepper.reset()
        for _ in range(300):
            stepper.step()
        assert stepper.outputs["e_j"] == pytest.approx(0.0, abs=1e-3)
        assert stepper.outputs["y_m"] == pytest.approx(
            0.4 * math.sin(stepper.outputs["a_rad"]), abs=1e-9
        )
        swung.append(stepper.outputs["a_rad"])
    assert swung[0] == pytest.approx(swung[1], abs=2e-5)  # both of order two at 1 ms
    assert swung[0] < -0.5


def test_a_door_on_two_hinges_names_its_redundant_rows_and_swings_like_on_one(kernel, tmp_path):
    swung = []
    for hinges in (1, 2):
        made = spatial(MechanismBuilder(f"door_{hinges}", gravity_m_s2=(0, -9.81, 0)), "a", 1, 3)
        for k in range(hinges):
            made.revolute(f"hinge_{k}", bodies=["a", "ground"], point_m=(0, 0, k), axis=(0, 0, 1))
        made.output("x_m", "rigid_body.a.x_m").output("e_j", "energy")
        found = assemble(made.build())
        assert found.dof == 1
        # the axis rows are the same ones and there once; the points are held twice
        assert len(found.redundant) == 3 * (hinges - 1)
        if found.redundant:
            assert str(found.redundant[-1]).startswith(
                "row 'revolute/hinge_1 meet z' is redundant with"
            )
        stepper = kernel(made.save(tmp_path)).Kernel()
        assert stepper.reset() == 0
        begin = stepper.outputs["e_j"]
        for _ in range(500):
            assert stepper.step() == 0
        assert stepper.residual < 1e-10
        assert stepper.outputs["e_j"] == pytest.approx(begin, abs=1e-3)
        swung.append(stepper.outputs["x_m"])
    assert swung[0] == pytest.approx(swung[1], abs=1e-6)


def test_bricard_always_redundant_moves_and_keeps_its_energy(twin, tmp_path):
    # six bars of 1 m, hinges across; bodies share points and hinge axes, so there is no joint at all
    joints = [(0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1)]
    axes = [(0, 1, 0), (0, 0, 1), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 0, 0)]
    made = MechanismBuilder("bricard", gravity_m_s2=(0, -9.81, 0))
    for k in range(1, 5):
        made.point(f"P{k}", position_m=joints[k]).unit_vector(f"a{k}", direction=axes[k])
    points = [joints[0], "P1", "P2", "P3", "P4", joints[5]]
    hinges = [axes[0], "a1", "a2", "a3", "a4", axes[5]]
    for k in range(5):
        begin, end = np.array(joints[k]), np.array(joints[k + 1])
        across = np.ones(3) - np.abs(end - begin)
        made.rigid_body(
            f"bar_{k}",
            points=points[k : k + 2],
            vectors=hinges[k : k + 2],
            mass_kg=1.0,
            centre_m=(begin + end) / 2,
            inertia_kg_m2=across / 12,
        )
    made.output("e_j", "energy").output("P2_x_m", "P2_x")
    found = assemble(made.build())
    assert found.dof == 1
    assert len(found.redundant) == 1
    stepper = twin(made.save(tmp_path)).Kernel()
    stepper.reset()
    begin, away = stepper.outputs["e_j"], 0.0
    for _ in range(2000):
        stepper.step()
        assert stepper.residual < 1e-8
        # second order: some 1e-5 of the 40 J that swing to and fro
        assert stepper.outputs["e_j"] == pytest.approx(begin, abs=2e-3)
        away = max(away, abs(stepper.outputs["P2_x_m"] - 1.0))
    assert away > 0.5


@pytest.mark.parametrize(("table", "keys", "key"), [
    ("point_on_line", {"point": "P", "body": "rod", "start_m": (0, 1, 0), "along": (1, 0, 0)}, "start_m"),
    ("point_on_plane", {"point": "P", "start_m": (0, 0, 0), "normal": (0, 2, 0)}, "normal"),
    ("point_on_plane", {"point": "P", "body": "rad", "start_m": (0, 0, 0), "normal": (0, 1, 0)}, "body"),
    ("body_point", {"body": "rod", "position_m": (0, 1, 0)}, "position_m"),
    ("revolute", {"bodies": ["rod", "ground"], "point_m": (0, 0, 0), "axis": (0, 2, 0)}, "axis"),
    ("revolute", {"bodies": ["rod", "rod"], "point_m": (0, 0, 0), "axis": (0, 1, 0)}, "bodies"),
    ("spring", {"angle": "a"}, ""), ("friction", {"coulomb": 1, "transition_speed": 1}, ""),
    ("spring", {"angle": "a", "stiffness_n_per_m": 1}, "stiffness_n_per_m"),
    ("belt", {"first": "a", "second": "a", "first_radius_m": 0, "second_radius_m": 1}, "first_radius_m"),
    ("rigid_body", {"points": ["P"], "axis": (0, 0, 1), "angle": "a", "mass_kg": 1, "centre_m": "P"}, "angle"),
])  # fmt: skip
def test_a_wrong_element_names_its_key(table, keys, key):
    made = (
        MechanismBuilder("m")
        .point("P", position_m=(0, 0, 0))
        .point("R", position_m=(1, 0, 0))
        .angle("a")
    )
    body = {"mass_kg": 1, "centre_m": (0.5, 0, 0), "inertia_kg_m2": (0, 0.1, 0.1)}
    made.rigid_body("rod", points=["P", "R"], **body)
    getattr(made, table)("wrong", **keys)
    with pytest.raises(MechanismError) as caught:
        made.build()
    named = f"{table}.wrong" + (f".{key}" if key else "")
    assert named in [m.key for m in caught.value.mistakes]


def test_a_table_has_the_energy_of_its_force():
    made = wheel().spring("s", angle="a", table=[(-1, -5), (0.5, 1), (1, 2), (2, 10)], rest_rad=0.3)
    system = made.build().system
    potential = system.potential

    def energy(x):
        return evaluate(potential, {system.coordinates[0].q.name: x})

    assert energy(0.3) == pytest.approx(0.0, abs=1e-15)
    for x in (-2.0, -0.4, 0.6, 1.1, 2.0, 4.0):
        slope = (energy(x + 1e-5) - energy(x - 1e-5)) / 2e-5
        assert force_on(made, [x])[0] == pytest.approx(-slope, rel=1e-8)


@pytest.mark.parametrize("frame", ["general", "axis"])
def test_a_curve_moves_with_its_body(frame):
    # a pin in a parabolic groove of a plate that has turned by 0.8 rad and moved
    made = MechanismBuilder("m").distance("s", initial_m=0.5)
    made.point("pin", position_m=(0.5, 0.25, 0)).mass("pin", point="pin", mass_kg=1)
    made.point("O", position_m=(0, 0, 0))
    axes = {"u": (1, 0, 0), "v": (0, 1, 0), "w": (0, 0, 1)}
    named = axes if frame == "general" else {"u": axes["u"]}
    for name, direction in named.items():
        made.unit_vector(name, direction=direction)
    about = {} if frame == "general" else {"axis": (0, 0, 1)}
    made.rigid_body(
        "plate", points=["O"], vectors=list(named), mass_kg=1, centre_m=(0, 0, 0),
        inertia_kg_m2=(1, 1, 1), **about,
    )  # fmt: skip
    made.point_on_curve("groove", point="pin", body="plate", by="s", curve_m=["s", "s ** 2", "0"])
    rows = Rows(made.build().system)
    c, s = math.cos(0.8), math.sin(0.8)
    turn = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    origin = np.array([3.0, -1.0, 0.0])
    at = {"s": 0.7}
    at |= dict(zip(("pin_x", "pin_y", "pin_z"), origin + turn @ [0.7, 0.49, 0], strict=True))
    at |= dict(zip(("O_x", "O_y", "O_z"), origin, strict=True))
    for k, name in enumerate(named):
        at |= {f"{name}_{axis}": turn[i, k] for i, axis in enumerate("xyz")}
    q = np.array([at[coordinate.name] for coordinate in rows.system.coordinates])
    np.testing.assert_allclose(rows.phi(q), 0.0, atol=1e-14)
    q[[coordinate.name for coordinate in rows.system.coordinates].index("s")] = 0.6
    assert np.max(np.abs(rows.phi(q))) > 0.05


def test_a_curve_of_a_slender_body_is_refused():
    made = MechanismBuilder("m").distance("s")
    made.point("A", position_m=(0, 0, 0)).point("B", position_m=(1, 0, 0))
    made.rigid_body(
        "rod", points=["A", "B"], mass_kg=1, centre_m=(0.5, 0, 0), inertia_kg_m2=(0, 0.1, 0.1)
    )
    made.point_on_curve("c", point="A", body="rod", by="s", curve_m=["s", "s", "0"])
    with pytest.raises(MechanismError, match=r"point_on_curve\.c\.curve_m.*lies outside"):
        made.build()


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
    from codegen.description.symbolic import FUNCTIONS

    assert set(FUNCTIONS) == {"sin", "cos", "sqrt", "abs", "exp", "tanh", "deg"}


@pytest.mark.parametrize(("table", "keys", "key", "told"), [
    ("mass", {"point": "P", "mass_kg": -1}, "mass_kg", "below 0"),
    ("mass", {"point": "P", "mass_kg": {"input": 1.0}}, "mass_kg", "cannot be an input"),
    ("mass", {"point": "P", "mass_kg": math.nan}, "mass_kg", "not finite"),
    ("inertia", {"angle": "a", "inertia_kg_m2": -0.1}, "inertia_kg_m2", "below 0"),
    ("uniform_rod", {"points": ["P", (0, 0, 0)], "mass_kg": -2}, "mass_kg", "below 0"),
    ("motor", {"angle": "a", "torque_constant_nm_per_a": 1, "current_a": 1, "rotor_inertia_kg_m2": -1},
     "rotor_inertia_kg_m2", "below 0"),
    ("friction", {"angle": "a", "coulomb": 1, "transition_speed": 0}, "transition_speed", "above 0"),
    ("lugre", {"angle": "a", "coulomb": 0, "static": 1, "stribeck_speed": 1, "bristle_stiffness": 1},
     "coulomb", "above 0"),
    ("slide", {"point": "P", "start_m": "P", "along": (0, 0, 0), "by": "s"}, "along", "length 1"),
    ("rotation", {"angle": "a", "point": "P", "centre_m": (0, 0, 0), "axis": (0, 0, 1), "zero": (0, 0.6, 0.8)},
     "zero", "not perpendicular"),
])  # fmt: skip
def test_numbers_that_no_mechanism_has_are_refused(table, keys, key, told):
    made = MechanismBuilder("m").point("P", position_m=(1, 0, 0)).angle("a").distance("s")
    text = getattr(made, table)("wrong", **keys)
    if math.nan in keys.values():  # the builder itself asks for finite numbers
        with pytest.raises(ValueError, match="not finite"):
            text.build()
        return
    with pytest.raises(MechanismError) as caught:
        text.build()
    (found,) = [m for m in caught.value.mistakes if m.key == f"{table}.wrong.{key}"]
    assert told in found.problem


@pytest.mark.parametrize("inertia", [(1, 1, 2.1), (-0.1, 0.1, 0.1), (1, 1, 1, 0.9, 0.9, -0.9)])
def test_an_inertia_that_no_body_has_is_refused(inertia):
    made = MechanismBuilder("m").point("P", position_m=(0, 0, 0))
    for letter, direction in (("u", (1, 0, 0)), ("v", (0, 1, 0)), ("w", (0, 0, 1))):
        made.unit_vector(letter, direction=direction)
    made.rigid_body(
        "b", points=["P"], vectors=["u", "v", "w"], mass_kg=1, centre_m=(0, 0, 0),
        inertia_kg_m2=inertia,
    )  # fmt: skip
    with pytest.raises(MechanismError, match="belongs to no body"):
        made.build()

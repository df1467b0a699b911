"""A bushing against the energy of its deflections, and against two springs by hand."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from codegen.description.builder import MechanismBuilder
from codegen.description.mechanism import MechanismError
from codegen.expressions.dag import evaluate

DIAGONAL = [1e4, 2e4, 3e4, 100.0, 200.0, 300.0]
COUPLED = np.zeros((6, 6))
COUPLED[0, 4] = COUPLED[4, 0] = COUPLED[1, 3] = COUPLED[3, 1] = 400.0
FULL = (np.diag(DIAGONAL) + COUPLED).tolist()


def held(add_spatial, stiffness, damping=(0.0,) * 6, **keys):
    made = add_spatial(MechanismBuilder("m"), "b", 1, 3)
    at = {"bodies": ["b", "ground"], "point_m": (0.3, 0.1, -0.2)} | keys
    return made.bushing("rubber", stiffness=stiffness, damping=damping, **at)


def placed(made, rotation, travel):
    """Values of all coordinates with the body turned about the origin and moved."""
    system = made.build().system
    at = {p.var.name: p.default for p in system.parameters}
    for name, (x, y, z) in (*system.points.items(), *system.vectors.items()):
        start = np.array([system.initial(c) for c in (x, y, z)])
        now = rotation @ start + (travel if name in system.points else 0.0)
        at |= {c.name: float(v) for c, v in zip((x, y, z), now, strict=True)}
    at |= {c.qd.name: 0.0 for c in system.coordinates}
    return system, at


@pytest.mark.parametrize("stiffness", [DIAGONAL, FULL], ids=["six", "six rows"])
def test_energy_and_moment_of_a_bushing(stiffness, spatial):
    turn = np.array([0.02, -0.03, 0.04])
    rotation, travel = Rotation.from_rotvec(turn).as_matrix(), np.array([1e-3, 2e-3, -3e-3])
    made = held(spatial, stiffness)
    for axis in "xyz":
        made.output(f"f{axis}_n", f"bushing.rubber.f{axis}_n")
    system, at = placed(made, rotation, travel)
    point = np.array([0.3, 0.1, -0.2])
    angle = np.linalg.norm(turn)
    u = np.concatenate([rotation @ point + travel - point, turn * np.sin(angle) / angle])
    matrix = np.diag(stiffness) if np.ndim(stiffness) == 1 else np.array(stiffness)
    assert evaluate(system.potential, at) == pytest.approx(0.5 * u @ matrix @ u, rel=1e-12)
    shown = [evaluate(system.values[f"bushing/rubber/f{a}_n"], at) for a in "xyz"]
    np.testing.assert_allclose(shown, -(matrix @ u)[:3], rtol=1e-12)
    moment = [evaluate(system.values[f"bushing/rubber/t{a}_nm"], at) for a in "xyz"]
    # the axial vector's rate is that of the turn but for squares of the angle
    np.testing.assert_allclose(moment, -(matrix @ u)[3:], rtol=0.06, atol=0.5)


def test_a_bushing_only_takes_energy_when_it_is_damped(spatial):
    made = held(spatial, DIAGONAL, (10.0, 20.0, 30.0, 1.0, 2.0, 3.0))
    system, at = placed(made, np.eye(3), np.zeros(3))
    rng = np.random.default_rng(1)
    for _ in range(5):
        omega, v = rng.normal(size=(2, 3))
        power = 0.0
        for name, vector in (*system.points.items(), *system.vectors.items()):
            start = np.array([at[c.name] for c in vector])
            rate = np.cross(omega, start) + (v if name in system.points else 0.0)
            at |= {f"qd {c.name[2:]}": float(r) for c, r in zip(vector, rate, strict=True)}
        for c in system.coordinates:
            pushes = [(1.0, e) for e in system.pushes.get(c.index, [])]
            power += at[c.qd.name] * evaluate(system.graph.total(pushes), at)
        point = v + np.cross(omega, [0.3, 0.1, -0.2])
        drag = (
            point @ np.diag([10.0, 20.0, 30.0]) @ point + omega @ np.diag([1.0, 2.0, 3.0]) @ omega
        )
        assert power == pytest.approx(-drag, rel=1e-10)


LARGE = np.array([0.9, -1.3, 1.6])  # 2.25 rad


def test_a_bushing_of_the_rotation_vector_holds_at_any_turn(spatial):
    """Against its energy by SciPy's rotation vector: the moment is its slope by turns about global axes."""
    before = np.array([0.1, 0.2, -0.3])
    made = held(spatial, FULL, turn="vector", initial_turn_rad=before.tolist())
    for axis in "xyz":
        made.output(f"t{axis}_nm", f"bushing.rubber.t{axis}_nm")
    travel, point = np.array([0.01, 0.02, -0.03]), np.array([0.3, 0.1, -0.2])

    def energy(turn):
        # the body turns about its point, which stays where it is
        u = np.concatenate([travel, (turn * Rotation.from_rotvec(before)).as_rotvec()])
        return 0.5 * u @ np.array(FULL) @ u

    turn = Rotation.from_rotvec(LARGE)
    move = travel + point - turn.apply(point)
    system, at = placed(made, turn.as_matrix(), move)
    assert evaluate(system.potential, at) == pytest.approx(energy(turn), rel=1e-12)
    step = 1e-4
    slopes = [
        (
            energy(Rotation.from_rotvec(step * e) * turn)
            - energy(Rotation.from_rotvec(-step * e) * turn)
        )
        / (2 * step)
        for e in np.eye(3)
    ]
    moment = [evaluate(system.values[f"bushing/rubber/t{a}_nm"], at) for a in "xyz"]
    np.testing.assert_allclose(moment, -np.array(slopes), rtol=1e-6)  # central differences


@pytest.mark.parametrize("keys", [{}, {"initial_turn_rad": [0.4, 0.1, -0.2]}])
def test_damping_of_the_rotation_vector_is_that_of_the_angular_velocity(spatial, keys):
    damping = np.diag([0.0, 0.0, 0.0, 1.0, 2.0, 3.0])
    damping[3, 4] = damping[4, 3] = 0.5
    made = held(spatial, (0.0,) * 6, damping.tolist(), turn="vector", **keys)
    for axis in "xyz":
        made.output(f"t{axis}_nm", f"bushing.rubber.t{axis}_nm")
    system, at = placed(made, Rotation.from_rotvec(LARGE).as_matrix(), np.zeros(3))
    omega = np.array([1.0, -2.0, 0.5])
    power = 0.0
    for vector in (*system.points.values(), *system.vectors.values()):
        rate = np.cross(omega, [at[c.name] for c in vector])
        at |= {f"qd {c.name[2:]}": float(r) for c, r in zip(vector, rate, strict=True)}
    for c in system.coordinates:
        pushes = [(1.0, e) for e in system.pushes.get(c.index, [])]
        power += at[c.qd.name] * evaluate(system.graph.total(pushes), at)
    expected = -damping[3:, 3:] @ omega
    assert power == pytest.approx(omega @ expected, rel=1e-12)
    moment = [evaluate(system.values[f"bushing/rubber/t{a}_nm"], at) for a in "xyz"]
    np.testing.assert_allclose(moment, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(("key", "values", "told"), [
    ("stiffness", [1, 1, 1, 1, 1, -1], "gives energy"),
    ("stiffness", [[1, 2, 0, 0, 0, 0], *np.eye(6)[1:].tolist()], "not symmetric"),
    ("damping", [-1, 1, 1, 1, 1, 1], "gives energy"),
    ("damping", (np.eye(6) + 2.0 * np.eye(6)[::-1]).tolist(), "gives energy"),
])  # fmt: skip
def test_a_bushing_that_gives_energy_is_refused(key, values, told, spatial):
    keys = {"stiffness": DIAGONAL} | {key: values}
    made = spatial(MechanismBuilder("m"), "b", 1, 3)
    made.bushing("rubber", bodies=["b", "ground"], point_m=(0.3, 0.1, -0.2), **keys)
    with pytest.raises(MechanismError) as caught:
        made.build()
    assert any(m.key == f"bushing.rubber.{key}" and told in str(m) for m in caught.value.mistakes)

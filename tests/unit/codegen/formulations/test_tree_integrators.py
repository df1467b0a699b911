"""Every integrator with every formulation in joint coordinates: its order on an exact motion, or a refusal by name."""

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from codegen.description.builder import MechanismBuilder
from codegen.options.options import EXPLICIT, INTEGRATORS, WITHOUT_ROWS, KernelOptions
from rt_core.settings import SettingsError

OF_JOINTS = ("articulated", "riccati", "composite", "semi_recursive")
EVERY = sorted({name for names in INTEGRATORS.values() for name in names})
ORDER = {"forward_euler": 1, "semi_implicit_euler": 1, "trapezoidal": 2, "newmark": 2, "rk4": 4}
TAKEN = [(f, i) for f in OF_JOINTS for i in EVERY if i in INTEGRATORS[f]]
REFUSED = [(f, i) for f in OF_JOINTS for i in EVERY if i not in INTEGRATORS[f]]
# two rods on pins in a plane: mass, centre, inertia about it, length; spring and damper of the second one; torque
MASS, CENTRE, TURN, LENGTH = (1.2, 0.8), (0.2, 0.25), (0.02, 0.03), 0.4
STIFF, DRAG, TORQUE, GRAVITY = 4.0, 0.3, 1.5, 9.81
# a body on a ball joint: mass, where its centre is, inertia about it, and how it turns at the start
HEAVY, HANGS, INERTIA, SPIN = 0.9, (0.05, 0.1, -0.3), (0.02, 0.03, 0.015), (1.0, -2.0, 3.0)
TIP = np.array((0.0, 0.3, -0.4))
SECONDS = 0.08
PORTS = ("first/angle_rad", "second/angle_rad", "tip/x_m", "tip/y_m", "tip/z_m")


@pytest.fixture(scope="module")
def mechanisms(tmp_path_factory):
    """Files of the rods alone, and with the top beside them."""
    folder = tmp_path_factory.mktemp("rods_and_top")
    return [written(is_whole).save(folder) for is_whole in (False, True)]


def written(is_whole):
    name = "rods_and_top" if is_whole else "rods"
    made = MechanismBuilder(name, gravity_m_s2=(0, -GRAVITY, 0))
    before = "ground"
    for k, name in enumerate(("first", "second")):
        at = (k * LENGTH, 0.0, 0.0)
        made.point(f"{name}_a", position_m=at, moves="xy")
        made.point(f"{name}_b", position_m=(at[0] + LENGTH, 0.0, 0.0), moves="xy")
        made.rigid_body(
            name, points=[f"{name}_a", f"{name}_b"], axis=(0, 0, 1), mass_kg=MASS[k],
            centre_m=(at[0] + CENTRE[k], 0, 0), inertia_kg_m2=TURN[k],
        )  # fmt: skip
        made.angle(name).revolute(
            name, bodies=[name, before], point_m=at, axis=(0, 0, 1), angle=name
        )
        made.output(f"{name}/angle_rad", name)
        before = name
    made.spring("spring", angle="second", stiffness_nm_per_rad=STIFF)
    made.damper("damper", angle="second", damping_nms_per_rad=DRAG)
    made.force("motor", angle="first", torque_nm=TORQUE)
    if not is_whole:
        return made
    for name, way in zip("uvw", np.eye(3).tolist(), strict=True):
        made.unit_vector(name, direction=way, angular_velocity_rad_s=SPIN)
    made.rigid_body(
        "top", points=[(0, 0, 0)], vectors=["u", "v", "w"], mass_kg=HEAVY, centre_m=HANGS, inertia_kg_m2=INERTIA
    )  # fmt: skip
    made.body_point("tip", body="top", position_m=tuple(TIP.tolist()))
    for axis in "xyz":
        made.output(f"tip/{axis}_m", f"body_point.tip.{axis}_m")
    return made


@pytest.fixture(scope="module")
def exact():
    """Lagrange's equations of the rods and Euler's of the top, to 1e-12."""
    centre = np.array(HANGS)
    inertia = np.diag(INERTIA) + HEAVY * (centre @ centre * np.eye(3) - np.outer(centre, centre))

    def rods(q, qd):
        (m1, m2), (c1, c2), (i1, i2) = MASS, CENTRE, TURN
        arm = m2 * LENGTH * c2
        m22 = i2 + m2 * c2**2
        m12 = m22 + arm * math.cos(q[1])
        m11 = i1 + m1 * c1**2 + m2 * LENGTH**2 + m12 + arm * math.cos(q[1])
        far = m2 * c2 * GRAVITY * math.cos(q[0] + q[1])
        bend = arm * math.sin(q[1])
        push = [
            TORQUE + bend * qd[1] * (2 * qd[0] + qd[1]) - (m1 * c1 + m2 * LENGTH) * GRAVITY * math.cos(q[0]) - far,
            -STIFF * q[1] - DRAG * qd[1] - bend * qd[0] ** 2 - far,
        ]  # fmt: skip
        return np.linalg.solve([[m11, m12], [m12, m22]], push)

    def rate(t, y):
        turn, omega = y[4:13].reshape(3, 3), y[13:]
        weight = HEAVY * turn.T @ (0.0, -GRAVITY, 0.0)
        bent = np.cross(np.eye(3), omega)  # rows e_k x omega: turn' = turn skew(omega)
        moment = np.cross(centre, weight) - np.cross(omega, inertia @ omega)
        return [*y[2:4], *rods(y[:2], y[2:4]), *(turn @ bent).ravel(), *np.linalg.solve(inertia, moment)]  # fmt: skip

    start = [0.0, 0.0, 0.0, 0.0, *np.eye(3).ravel(), *SPIN]
    end = solve_ivp(rate, (0.0, SECONDS), start, method="DOP853", rtol=1e-12, atol=1e-13).y[:, -1]
    return dict(zip(PORTS, (*end[:2], *(end[4:13].reshape(3, 3) @ TIP)), strict=True))


@pytest.mark.slow
@pytest.mark.parametrize(("formulation", "integrator"), TAKEN)
def test_an_integrator_moves_pins_and_a_ball_with_its_order(
    twin, mechanisms, exact, formulation, integrator
):
    options = {}
    if integrator in ("trapezoidal", "newmark"):  # by Newton, or fixed-point iteration
        most = 4 if formulation == "semi_recursive" else 12
        options = {"iterations": most, "tolerance": 1e-10}
    # twins whose mass matrix follows the pose are slow: those formulations take the rods alone
    whole = formulation in WITHOUT_ROWS
    ports = PORTS if whole else PORTS[:2]
    found = []
    for step_s in (1e-2, 5e-3):
        given = options | {"formulation": formulation, "integrator": integrator}
        stepper = twin(mechanisms[whole], step_s=step_s, **given).Kernel()
        stepper.reset()
        for _ in range(round(SECONDS / step_s)):
            stepper.step()
        found.append(math.hypot(*(stepper.outputs[port] - exact[port] for port in ports)))
    # some more where the next order still shows
    order = math.log2(found[0] / found[1])
    assert ORDER[integrator] - 0.3 < order < ORDER[integrator] + 0.8, found


@pytest.mark.parametrize(("formulation", "integrator"), REFUSED)
def test_an_integrator_that_a_formulation_does_not_take_is_refused_with_those_that_it_takes(
    formulation, integrator
):
    with pytest.raises(SettingsError) as caught:
        KernelOptions(formulation=formulation, integrator=integrator)
    told = str(caught.value)
    assert f"integrator = {integrator!r}" in told
    assert f"{formulation} goes with" in told
    assert all(repr(name) in told for name in INTEGRATORS[formulation])


def test_each_formulation_in_joint_coordinates_takes_what_makes_sense():
    # without rows, or with rows on accelerations: all explicit rules; on positions: those that hold at a step's end
    for formulation in ("articulated", "riccati", "composite"):
        assert set(INTEGRATORS[formulation]) == set(EXPLICIT)
    assert set(INTEGRATORS["semi_recursive"]) == {"trapezoidal", "newmark"}

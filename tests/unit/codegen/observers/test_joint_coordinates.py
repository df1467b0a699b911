"""Observer models over joint coordinates: proved by complex step, beside those of natural coordinates, and refused."""

from pathlib import Path

import numpy as np
import pytest

from codegen.description.builder import MechanismBuilder
from codegen.description.mechanism import MechanismError, load
from codegen.importers.robot_file import import_file
from codegen.kernels.build import build_kernel
from codegen.observers.build import build_observer
from codegen.observers.resolve import resolve
from codegen.observers.spec import OF_JOINTS, ObserverSpec
from codegen.options.options import KernelOptions

pytestmark = pytest.mark.slow

ARM = Path(__file__).parents[3] / "data" / "robots" / "desk_arm.xml"
JOINTS = ("waist", "lift", "roll", "elbow", "twist", "nod", "spin")
STEP_S = 1e-3


def two_rods(tmp_path, *, spatial=False):
    """Two pins, the second one turned out of the plane where `spatial`; a motor torque on the first."""
    made = MechanismBuilder("two_rods", gravity_m_s2=(0, -9.81, 0))
    before = "ground"
    for k, axis in enumerate([(0, 0, 1), (1, 0, 0) if spatial else (0, 0, 1)]):
        at = (0.5 * k, 0.0, 0.0)
        made.point(f"p{k}", position_m=at)
        ways = [f"b{k}_{n}" for n in "uvw"]
        for name, way in zip(ways, np.eye(3).tolist(), strict=True):
            made.unit_vector(name, direction=way)
        made.rigid_body(
            f"b{k}", points=[f"p{k}"], vectors=ways, mass_kg=1.0, centre_m=(0.5 * k + 0.25, 0.05, 0.02),
            inertia_kg_m2=(0.01, 0.02, 0.02),
        )  # fmt: skip
        made.angle(f"a{k}").revolute(
            f"j{k}", bodies=[f"b{k}", before], point_m=at, axis=axis, angle=f"a{k}"
        )
        before = f"b{k}"
    made.force("motor", angle="a0", torque_nm={"input": 0.0})
    made.damper("bearing", angle="a1", damping_nms_per_rad=0.1)
    made.body_point("tip", body="b1", position_m=(1.0, 0.0, 0.0))
    return made.output("a0/angle_rad", "a0").save(tmp_path)


SENSORS = {
    "first": {"kind": "encoder", "angle": "a0"},
    "turning": {"kind": "gyroscope", "body": "b1", "axis": "b1_w"},
    "felt": {"kind": "accelerometer", "point": "tip", "axis": "b1_v"},
    "bearing": {"kind": "force_cell", "of": "damper.bearing.torque_nm"},
    "hinge": {"kind": "force_cell", "of": "revolute.j0.fx_n"},
}
TWO_RODS = ObserverSpec(SENSORS, ("a0", "a1"), ("force/motor/torque_nm",))


@pytest.mark.parametrize("spatial", [False, True])
def test_joint_and_natural_coordinates_say_the_same_of_a_tree(tmp_path, spatial):
    path = two_rods(tmp_path, spatial=spatial)
    found = []
    for formulation in ("ali3p", "semi_recursive"):
        built = build_observer(path, TWO_RODS, KernelOptions(STEP_S, formulation))
        found.append(built.module.Model().at([0.4, -0.7, 1.5, -2.0, 3.0]))
        info = built.module.model_info()
        assert info["state_names"] == ["a0", "a1", "a0.rate", "a1.rate", "force/motor/torque_nm"]
    natural, joints = found
    assert natural["status"] == joints["status"] == 0
    assert len(joints["q"]) == 2 < len(natural["q"])
    for key in ("zdd", "zdd_x", "y", "y_x"):
        # both solve for least squares of some dozen rows
        assert np.array(joints[key]) == pytest.approx(np.array(natural[key]), rel=1e-8, abs=1e-8)


def test_a_loop_is_observed_in_joint_coordinates_as_in_those_of_the_file():
    spec = ObserverSpec(
        {
            "angle": {"kind": "encoder", "angle": "crank"},
            "rate": {"kind": "gyroscope", "points": ["A", "B"]},
            "felt": {"kind": "accelerometer", "point": "B", "axis": [0, 1, 0]},
        },
        ("crank",),
    )
    found = [
        build_observer("four_bar", spec, KernelOptions(5e-3, formulation))
        .module.Model()
        .at([0.7, 2.0])
        for formulation in ("ali3p", "composite")
    ]
    for key in ("zdd", "zdd_x", "y", "y_x"):
        assert np.array(found[0][key]) == pytest.approx(np.array(found[1][key]), rel=1e-8, abs=1e-8)


def test_balls_and_free_bodies_have_quaternions_in_their_state(tmp_path):
    made = MechanismBuilder("swing", gravity_m_s2=(0, 0, -9.81))
    made.point("p", position_m=(0, 0, 0))
    for name, way in zip("uvw", np.eye(3).tolist(), strict=True):
        made.unit_vector(name, direction=way)
    made.rigid_body(
        "b", points=["p"], vectors=["u", "v", "w"], mass_kg=1.0, centre_m=(0.2, 0, -0.3),
        inertia_kg_m2=(0.02, 0.03, 0.01),
    )  # fmt: skip
    made.spherical("ball", bodies=["b", "ground"], point_m=(0, 0, 0))
    made.body_point("tip", body="b", position_m=(0, 0, -1))
    spec = ObserverSpec(
        {"turning": {"kind": "gyroscope", "body": "b", "axis": "u"}}, ("b_e1", "b_e2", "b_e3")
    )
    path = made.save(tmp_path)
    for formulation in ("semi_recursive", "articulated"):
        built = build_observer(path, spec, KernelOptions(STEP_S, formulation))
        assert built.module.model_info()["state_names"][:3] == ["b_e1", "b_e2", "b_e3"]


@pytest.mark.parametrize("formulation", OF_JOINTS)
def test_the_kernel_inside_steps_as_the_kernel_alone(tmp_path, formulation):
    path, options = two_rods(tmp_path, spatial=True), KernelOptions(STEP_S, formulation)
    alone = build_kernel(path, options).module.Kernel()
    assert alone.reset() == 0
    inside = build_observer(path, TWO_RODS, options).module.Model()
    assert inside.kernel_start(inside.info["start"]) == 0
    for _ in range(100):
        assert alone.step() == 0
        status, x = inside.kernel_step()
        assert status == 0
    # two texts of the same sums: only their rounding differs
    assert x[:2] == pytest.approx(alone.q, abs=1e-12)
    assert x[2:4] == pytest.approx(alone.qd, abs=1e-10)


@pytest.mark.parametrize("formulation", ["articulated", "composite"])
def test_an_explicit_step_after_a_correction_begins_with_the_accelerations_of_the_corrected_state(
    tmp_path, formulation
):
    path = two_rods(tmp_path)
    options = KernelOptions(STEP_S, formulation, "forward_euler")
    model = build_observer(path, TWO_RODS, options).module.Model()
    assert model.kernel_start([0.4, -0.7, 1.5, -2.0, 0.0]) == 0
    _, x = model.kernel_step()
    dx = np.array([0.01, -0.02, 0.3, -0.2, 2.0])
    assert model.nudge(dx.tolist())["status"] == 0
    corrected = np.array(x) + dx
    zdd = build_observer(path, TWO_RODS, options).module.Model().at(corrected.tolist())["zdd"]
    _, after = model.kernel_step()
    # forward Euler: exactly the rate of the corrected state, under the corrected torque
    expected = corrected[2:4] + STEP_S * np.array(zdd)
    assert after[2:4] == pytest.approx(expected, abs=1e-12)


def test_what_an_observer_has_no_kernel_for_is_named_with_what_would_do():
    arm = import_file(ARM).mechanism
    encoders = ObserverSpec({"at": {"kind": "encoder", "angle": "elbow"}}, JOINTS)

    def told(mechanism, formulation, spec=encoders):
        with pytest.raises(MechanismError) as caught:
            resolve(load(mechanism), spec, formulation)
        return str(caught.value)

    words = told(arm, "hamiltonian")
    assert "options.formulation = 'hamiltonian'" in words
    assert "'semi_recursive'" in words
    assert "'ali3p'" in words
    # 81 coordinates of the file
    assert "observers take 64: try options.formulation = 'semi_recursive'" in told(arm, "ali3p")
    crank = ObserverSpec({"a": {"kind": "encoder", "angle": "crank"}}, ("crank",))
    words = told("four_bar", "articulated", crank)
    assert "closes a loop" in words
    assert "'semi_recursive'" in words

import math

import numpy as np
import pytest

from codegen.description.builder import MechanismBuilder
from codegen.description.mechanism import MechanismError, load
from codegen.kernels.build import build_kernel, load_reference
from codegen.kernels.verify import VerificationError
from codegen.observers.build import build_observer
from codegen.observers.resolve import describe, resolve
from codegen.observers.spec import ObserverSpec
from codegen.observers.verify import verify
from codegen.options.options import KernelOptions

pytestmark = pytest.mark.slow

STEP_S = 5e-3


def test_slope_of_the_acceleration_is_the_published_exact_one(four_bar):
    # crank at 1 rad, rate 0: 7.82 1/s^2 where approximations give 1.75 and 0.26
    found = four_bar.module.Model().at([1.0, 0.0])
    assert found["status"] == 0
    assert found["zdd_x"][0][0] == pytest.approx(7.82, abs=0.005)


def test_a_build_proves_every_slope_by_complex_step(four_bar):
    assert set(four_bar.checks) >= {"q", "qdd", "y", "zdd_x", "y_x", "phi_dot_q"}
    assert max(four_bar.checks[key] for key in ("zdd_x", "y_x")) < 1e-9


def test_a_model_with_other_equations_than_its_twin_is_refused(four_bar):
    twin = load_reference(four_bar.path)
    right = twin.force
    twin.force = lambda q, qd, *rest: right(q, qd, *rest) * 1.001
    with pytest.raises(VerificationError, match="qdd"):
        verify(four_bar.module, twin)


def test_a_velocity_map_moves_along_the_constraints(four_bar):
    model = four_bar.module.Model()
    found = model.at([0.7, 2.0])
    open_ = model.at_coordinates(found["q"], found["qd"])
    assert np.max(np.abs(np.array(open_["phi_q"]) @ np.array(found["vel_map"])[0])) < 1e-12
    assert np.max(np.abs(open_["phi"])) < 1e-10
    assert np.max(np.abs(open_["phi_dot"])) < 1e-10
    assert found["qd"][four_bar.module.Model().info["coordinates"].index(("crank", "rad"))] == 2.0


def test_acceleration_is_that_of_the_kernel(four_bar):
    options = KernelOptions(step_s=1e-4, formulation="independent")
    kernel = build_kernel("four_bar", options).module.Kernel()
    kernel.reset()
    for _ in range(4000):
        assert kernel.step() == 0
    found = four_bar.module.Model().at([kernel.q[4], kernel.qd[4]])
    assert found["qdd"] == pytest.approx(kernel.qdd, abs=1e-9)


def test_the_kernel_inside_steps_as_the_kernel_alone(four_bar):
    alone = build_kernel("four_bar", KernelOptions(step_s=STEP_S)).module.Kernel()
    alone.reset()
    inside = four_bar.module.Model()
    assert inside.kernel_start(inside.info["start"]) == 0
    for _ in range(200):
        alone.step()
        status, x = inside.kernel_step()
        assert status == 0
    assert x == pytest.approx([alone.q[4], alone.qd[4]], abs=1e-9)


def test_a_correction_leaves_constraints_open_by_its_square_only(four_bar):
    def opened(dz):
        model = four_bar.module.Model()
        model.kernel_start(model.info["start"])
        model.kernel_step()
        assert model.nudge([dz, 0.0])["status"] == 0
        _, x = model.kernel_step()  # accepted: the kernel closes what is left
        return x[0]

    model = four_bar.module.Model()
    model.kernel_start(model.info["start"])
    model.kernel_step()
    _, free = model.kernel_step()
    for dz in (1e-2, 1e-3):
        assert opened(dz) - free[0] == pytest.approx(dz, rel=0.05)


@pytest.fixture
def moving(four_bar):
    """A model whose kernel has made a step, and its state then."""
    model = four_bar.module.Model()
    assert model.kernel_start([0.7, 2.0]) == 0
    status, x = model.kernel_step()
    assert status == 0
    return model, np.array(x)


def test_what_is_sensed_at_the_kernels_state_is_what_is_sensed_there(four_bar, moving):
    model, x = moving
    at, there = model.kernel_senses(), four_bar.module.Model().at(list(x))
    assert at["status"] == 0
    # two iterations leave the kernel's constraints a little open
    for key in ("q", "qd", "vel_map", "y", "y_x"):
        assert np.array(at[key]) == pytest.approx(np.array(there[key]), rel=1e-7, abs=1e-6)


@pytest.mark.parametrize("dz", [1e-4, 1e-3, 3e-3, 1e-2, 2e-2, 0.1, 0.3])
def test_a_correction_of_any_size_leaves_no_more_open_than_the_kernel_takes(four_bar, moving, dz):
    model, x = moving
    after = model.nudge([dz, 0.1])
    assert after["status"] == 0
    twin = load_reference(four_bar.path)
    # 10 um, as `LEFT_OPEN` says
    assert np.max(np.abs(twin.phi(np.array(after["q"]), []))) < 1.2e-5
    assert after["q"][4] == pytest.approx(x[0] + dz, abs=1e-12)
    assert after["qd"][4] == pytest.approx(x[1] + 0.1, abs=1e-12)
    assert model.kernel_step()[0] == 0


def test_rates_after_a_correction_are_off_by_its_square_only(four_bar, moving):
    _, x = moving

    def off(size):
        model = four_bar.module.Model()
        assert model.kernel_start([0.7, 2.0]) == 0
        model.kernel_step()
        change = np.array([size, 10.0 * size])
        found = model.nudge(list(change))["qd"]
        return np.max(np.abs(np.array(found) - four_bar.module.Model().at(list(x + change))["qd"]))

    # small ones: the path that does not evaluate anything at the new position
    assert off(1e-3) < 0.3 * off(2e-3)
    # of the change itself, 0.01 rad/s
    assert off(1e-3) < 0.01 * 0.01


def pendulum(tmp_path):
    m = MechanismBuilder("driven", gravity_m_s2=(0, -9.81, 0))
    m.point("P", position_m=(0.5, 0, 0), moves="xy")
    m.angle("turn", initial_rad=0.0)
    m.constant_distance("rod", points=[(0, 0, 0), "P"])
    m.rotation("turn", angle="turn", axis=(0, 0, 1), zero=(1, 0, 0), point="P", centre_m=(0, 0, 0))
    m.mass("ball", point="P", mass_kg=2.0)
    m.motor(
        "drive",
        angle="turn",
        torque_constant_nm_per_a=0.3,
        current_a={"input": 0.0},
        gear_ratio=5.0,
    )
    m.output("turn/angle_rad", "turn")
    return m.save(tmp_path)


def test_an_unknown_current_is_a_state_with_exact_slopes(tmp_path):
    spec = ObserverSpec(
        {
            "angle": {"kind": "encoder", "angle": "turn"},
            "current": {"kind": "motor_current", "motor": "drive"},
        },
        ("turn",),
        ("motor/drive/current_a",),
    )
    model = build_observer(pendulum(tmp_path), spec, KernelOptions(step_s=1e-3)).module.Model()
    found = model.at([0.3, 1.0, 2.0])
    inertia = 2.0 * 0.5**2
    torque = 5.0 * 0.3 * 2.0
    weight = -2.0 * 9.81 * 0.5 * math.cos(0.3)
    assert found["zdd"][0] == pytest.approx((torque + weight) / inertia, rel=1e-10)
    slope = [2.0 * 9.81 * 0.5 * math.sin(0.3) / inertia, 0.0, 5.0 * 0.3 / inertia]
    assert found["zdd_x"][0] == pytest.approx(slope, rel=1e-10, abs=1e-10)
    assert np.array(found["y_x"]) == pytest.approx(np.array([[1, 0, 0], [0, 0, 1]]), abs=1e-12)


def test_every_mistake_of_a_specification_is_told_at_once():
    sensors = {
        "a": {"kind": "encoder", "angle": "crnk"},
        "b": {"kind": "gyro"},
        "c": {"kind": "encoder", "angel": "crank"},
        "d": {"kind": "force_cell", "of": "constant_distance.coupler.force"},
        "e": {"kind": "motor_current", "motor": "drive"},
    }
    with pytest.raises(MechanismError) as caught:
        build_observer("four_bar", ObserverSpec(sensors, ("crank", "A_x"), ("force/x/torque_nm",)))
    told = str(caught.value)
    for word in (
        "did you mean 'crank'", "did you mean 'gyroscope'", "sensors.c.angel", "did you mean "
        "'constant_distance.coupler.force_n'", "sensors.e.motor", "2 coordinates for 1 freedoms",
        "unknown = 'force/x/torque_nm'",
    ):  # fmt: skip
        assert word in told


def test_forces_with_a_memory_are_refused():
    spec = ObserverSpec({"a": {"kind": "encoder", "angle": "th_sw"}})
    with pytest.raises(MechanismError, match="forces with a memory"):
        build_observer("steering_26", spec)


def test_what_a_model_says_of_itself_is_known_without_building_it(four_bar, four_bar_spec):
    mechanism = load("four_bar")
    told = describe(resolve(mechanism, ObserverSpec.of_text(four_bar_spec.text())))
    assert told.items() <= four_bar.module.model_info().items()
    assert told["reads_acceleration"] is True
    angle = ObserverSpec({"angle": {"kind": "encoder", "angle": "crank"}}, ("crank",))
    assert describe(resolve(mechanism, angle))["reads_acceleration"] is False

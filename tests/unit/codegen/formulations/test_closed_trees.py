"""Loops in the coordinates of their trees as kernels: exact motions, reactions, stiff springs, and what is refused."""

import numpy as np
import pytest
from mechanisms.bennett import bennett
from mechanisms.exact_solutions import REFERENCES, errors, exact, second_order
from mechanisms.reference_motions import (
    STEERING,
    coordinates,
    crank_guide,
    driver_torque,
    four_bar,
    index,
    wheel_guide,
)

from codegen.description.builder import MechanismBuilder
from codegen.description.mechanism import MechanismError
from codegen.kernels.build import build_kernel
from codegen.kernels.generate import program
from codegen.options.options import KernelOptions
from rt_core.settings import SettingsError

SEMI = {"formulation": "semi_recursive"}


def joined(module, columns):
    """The columns whose coordinates the tree has."""
    known = index(module)
    return {k: name for k, name in columns.items() if name.removeprefix("d_") in known}


def test_a_guided_slider_crank_has_the_exact_torque(kernel):
    # its guided slider is no joint of the tree: a coordinate of its own, bound by a row
    module = kernel(REFERENCES / "crank_guided.toml", step_s=2e-3, **SEMI)
    watch = {"torque_crank": lambda s: s.reaction[0], "N_guide": lambda s: s.reaction[1]}
    found, violation = errors(module, exact("slider_crank_guided"), watch, crank_guide, seconds=1.0)
    assert violation < 1e-9
    assert found["torque_crank"] < 1e-5
    assert found["N_guide"] < 3e-5


def test_mass_of_composite_bodies_moves_a_free_slider_crank(kernel):
    module = kernel(REFERENCES / "crank_free.toml", step_s=5e-4, formulation="composite")
    watch = coordinates(module, theta="theta", omega="d_theta")
    watch["N_guide"] = lambda s: s.reaction[0]
    still = (0.0, 0.0, 0.0)
    reference = exact("slider_crank_free")
    found, violation = errors(module, reference, watch, lambda t: still, seconds=0.5)
    # of 12 rad, 23 rad/s and 700 N; rk4 at 1/600 of a turn
    assert found["theta"] < 1e-6
    assert found["omega"] < 1e-5
    assert found["N_guide"] < 1e-2
    assert violation < 1e-7


@pytest.mark.parametrize("count", [1, 10])
@pytest.mark.slow
def test_four_bars_pass_all_singular_positions(kernel, tmp_path, count):
    made = four_bar(count).output("B0_m", "B0_x").output("B0_m_s", "B0_x.rate")
    path, found = made.save(tmp_path), []
    for step_s in (2e-3, 1e-3):
        module = kernel(path, step_s=step_s, **SEMI)
        watch = {
            "x_B0": lambda s: s.outputs["B0_m"],
            "vx_B0": lambda s: s.outputs["B0_m_s"],
            "theta": lambda s: s.outputs["crank/angle_rad"],
        }
        mine, violation = errors(module, exact(f"four_bar_{count}"), watch)
        assert violation < 1e-9
        found.append(mine)
    assert second_order(*found)
    # measured 7e-6 and 5e-6 rad; in natural coordinates 4e-4
    assert found[1]["theta"] < 1e-5


@pytest.mark.slow
def test_the_steering_follows_its_exact_motions(kernel):
    module = kernel("steering_rack_guided", **SEMI)
    watch = coordinates(module, **joined(module, STEERING))
    watch["wheel_torque"] = lambda s: s.reaction[0]
    found, _ = errors(module, exact("steering_guided"), watch, wheel_guide)
    assert found.pop("wheel_torque") < 1e-7
    assert max(found.values()) < 1e-10
    driven = []
    for step_s in (2e-3, 1e-3):
        module = kernel("steering_rack", step_s=step_s, **SEMI)
        watch = coordinates(module, **joined(module, {"theta": "wheel", "omega": "d_wheel", **STEERING}))  # fmt: skip
        reference = exact("steering_torque_driven")
        driven.append(errors(module, reference, watch, signal=driver_torque)[0])
    assert second_order(*driven)


def frame(rate_rad_s=5.0):
    """A crank, a coupler and a rocker on hinges between bodies with points of their own."""
    made = MechanismBuilder("frame", gravity_m_s2=(0, -9.81, 0))
    places = {
        "crank": ((0, 0, 0), (0, 0.3, 0)),
        "coupler": ((0, 0.3, 0), (0.8, 0.5, 0)),
        "rocker": ((0.8, 0.5, 0), (0.7, 0, 0)),
    }
    for name, (begin, end) in places.items():
        for letter, at in (("a", begin), ("b", end)):
            made.point(f"{name}_{letter}", position_m=at, moves="xy")
        centre = tuple((a + b) / 2 for a, b in zip(begin, end, strict=True))
        made.rigid_body(
            name, points=[f"{name}_a", f"{name}_b"], axis=(0, 0, 1), mass_kg=1.0, centre_m=centre, inertia_kg_m2=0.02
        )  # fmt: skip
    made.angle("crank", initial_rate_rad_s=rate_rad_s)
    for name, bodies, at in (
        ("foot", ["crank", "ground"], (0, 0, 0)),
        ("knee", ["coupler", "crank"], (0, 0.3, 0)),
        ("head", ["rocker", "coupler"], (0.8, 0.5, 0)),
        ("heel", ["rocker", "ground"], (0.7, 0, 0)),
    ):
        angle = {"angle": "crank"} if name == "foot" else {}
        made.revolute(name, bodies=bodies, point_m=at, axis=(0, 0, 1), **angle)
        for axis in "xy":
            made.output(f"{name}/f{axis}_n", f"revolute.{name}.f{axis}_n")
    return made.output("crank/acceleration_rad_s2", "crank.acceleration")


@pytest.mark.parametrize("formulation", ["semi_recursive", "composite"])
def test_joints_that_are_cut_and_joints_that_are_not_show_their_forces(tmp_path, formulation):
    options = KernelOptions(formulation=formulation, step_s=1e-3)
    built = build_kernel(frame().save(tmp_path), options)
    assert len(built.module.model_info()["coordinates"]) == 3
    # the twin has them from the multipliers of the file's own rows
    assert built.checks["outputs"] < 1e-5  # 1 / kappa, and what a stabilised row leaves
    stepper = built.module.Kernel()
    stepper.reset()
    for _ in range(20):
        assert stepper.step() == 0
    shown = stepper.outputs
    assert abs(shown["knee/fy_n"]) > 1.0
    # massless hinges hand on what they take: the coupler's weight and its acceleration lie between
    assert all(np.isfinite(list(shown.values())))


@pytest.mark.slow
def test_a_stiff_spring_is_implicit(kernel, tmp_path):
    # 1e6 Nm/rad on some 0.1 kg m2: half a period of 500 Hz a step
    made = frame(0.1).spring("stiff", angle="crank", stiffness_nm_per_rad=1e6)
    path = made.output("crank/angle_rad", "crank").save(tmp_path)
    damped = {"integrator": "newmark", "newmark_beta": 0.36, "newmark_gamma": 0.7}
    stepper = kernel(path, step_s=1e-3, **damped, **SEMI).Kernel()
    stepper.reset()
    for _ in range(300):
        assert stepper.step() == 0
        assert abs(stepper.outputs["crank/angle_rad"]) < 1e-3


def test_what_joint_coordinates_do_not_carry_is_named():
    made = frame().output("gained_j", "energy.gain").build()
    with pytest.raises(MechanismError, match=r"outputs\.gained_j: the gain of a step"):
        program(made, KernelOptions(**SEMI))
    with pytest.raises(SettingsError, match="semi_recursive goes with 'trapezoidal', 'newmark'"):
        KernelOptions(integrator="rk4", **SEMI)


def test_more_coordinates_than_are_written_out_are_refused():
    made = MechanismBuilder("many")
    for k in range(65):
        made.distance(f"x{k}").mass(f"x{k}", distance=f"x{k}", mass_kg=1.0)
    with pytest.raises(
        MechanismError, match="has 65 joint coordinates; 'composite' takes up to 64"
    ):
        program(made.build(), KernelOptions(formulation="composite"))


def test_a_twin_of_an_overconstrained_loop_stays_where_it_is_built(twin, tmp_path):
    stepper = twin(bennett().save(tmp_path), formulation="composite").Kernel()
    stepper.reset(parts=1)
    # rows that depend on each other to round-off are closed already: nothing is left to solve for
    assert np.max(np.abs(stepper.q)) < 1e-12
    assert stepper.residual < 1e-12


@pytest.mark.slow
def test_an_overconstrained_loop_moves_as_in_natural_coordinates(tmp_path):
    path, found = bennett().save(tmp_path), []
    for options in (
        {"formulation": "index1", "integrator": "rk4"},
        {"formulation": "composite"},
        SEMI,
    ):
        stepper = build_kernel(path, KernelOptions(step_s=1e-3, **options)).module.Kernel()
        assert stepper.reset() == 0
        for _ in range(400):
            assert stepper.step() == 0
        found.append(np.array(list(stepper.outputs.values())))
    natural, composite, semi_recursive = found
    # twice what was seen, of 0.5 m and some J: order four, and order two
    assert np.max(np.abs(composite - natural)) < 1.5e-7
    assert np.max(np.abs(semi_recursive - natural)) < 1e-6


@pytest.mark.slow
def test_a_kernel_with_a_fast_light_ball_is_that_of_its_twin(tmp_path):
    made = MechanismBuilder("bob", gravity_m_s2=(0, 0, -9.81))
    spin = (0.0, 30.0, 20.0)
    for letter, way in zip("uvw", np.eye(3).tolist(), strict=True):
        made.unit_vector(letter, direction=way, angular_velocity_rad_s=spin)
    made.rigid_body(
        "bob", points=[(0, 0, 0)], vectors=["u", "v", "w"], mass_kg=0.3, centre_m=(0, 0.02, -0.15),
        inertia_kg_m2=(0.002, 0.002, 0.001),
    )  # fmt: skip
    made.output("total_j", "energy")
    # between two projections the quaternion's length changes: both must mean the same forces there
    assert build_kernel(made.save(tmp_path), KernelOptions(step_s=1e-3, **SEMI))

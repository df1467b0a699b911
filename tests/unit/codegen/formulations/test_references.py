"""Mechanisms against exact solutions: errors and orders of convergence of positions, rates and
guide reactions when the step is halved. Sources: tests/data/references/README.md.
"""

import pytest
from mechanisms.exact_solutions import REFERENCES, errors, exact, second_order
from mechanisms.reference_motions import (
    STEERING,
    coordinates,
    crank_guide,
    driver_torque,
    four_bar,
    wheel_guide,
)


@pytest.mark.slow
def test_pendulum_angle_rate_and_rod_force(kernel):
    found = []
    for step_s in (4e-3, 2e-3):
        module = kernel(REFERENCES / "pendulum.toml", step_s=step_s)
        watch = coordinates(module, x="P_x", vx="d_P_x", theta="theta", omega="d_theta")
        watch["tension"] = lambda s: -s.reaction[0]
        found.append(errors(module, exact("pendulum"), watch, lambda t: (1.0, 0.0, 0.0))[0])
    assert second_order(*found)
    # h^2 g/L t/48 sums up to some 6e-4 rad in 10 s for 1 rad/s^2 scales; measured 5.0e-4 and 9e-3 N
    assert found[1]["theta"] < 6e-4
    assert found[1]["tension"] < 1e-2


@pytest.mark.parametrize("count", [1, 10])
@pytest.mark.slow
def test_four_bars_pass_all_singular_positions(kernel, tmp_path, count):
    path = four_bar(count).save(tmp_path)
    found = []
    for step_s in (2e-3, 1e-3):
        module = kernel(path, step_s=step_s)
        watch = coordinates(module, x_B0="B0_x", vx_B0="d_B0_x", theta="theta", omega="d_theta")
        made, violation = errors(module, exact(f"four_bar_{count}"), watch)
        assert violation < 1e-9  # what two Newton iterations leave at 2 ms
        found.append(made)
    # ten passages through positions of rank N + 1 less than elsewhere, each on the right branch
    assert second_order(*found)
    assert found[1]["theta"] < 4e-4


@pytest.mark.slow
def test_free_slider_crank_with_the_force_of_its_guide(kernel):
    found = []
    for step_s in (5e-4, 2.5e-4):
        module = kernel(REFERENCES / "crank_free.toml", step_s=step_s)
        watch = coordinates(module, theta="theta", omega="d_theta", x_B="B_x", vx_B="d_B_x")
        watch["N_guide"] = lambda s: s.reaction[0]
        reference = exact("slider_crank_free")
        found.append(errors(module, reference, watch, lambda t: (0.0, 0.0, 0.0), seconds=2.0)[0])
    assert second_order(*found)
    assert found[1]["theta"] < 2.5e-3  # of 52 rad in 2 s


@pytest.mark.slow
def test_guided_slider_crank_has_the_exact_torque(kernel):
    # every motion is given: what is left is 1/kappa of the reaction (17 Nm, 60 N), not h^2
    module = kernel(REFERENCES / "crank_guided.toml", step_s=2e-3)
    watch = coordinates(module, x_B="B_x", vx_B="d_B_x")
    watch |= {"torque_crank": lambda s: s.reaction[0], "N_guide": lambda s: s.reaction[1]}
    found, _ = errors(module, exact("slider_crank_guided"), watch, crank_guide)
    assert found["x_B"] < 1e-9
    assert found["vx_B"] < 1e-7
    assert found["torque_crank"] < 1e-5
    assert found["N_guide"] < 3e-5


@pytest.mark.slow
def test_guided_steering_has_the_exact_torque(kernel):
    module = kernel("steering_rack_guided")
    watch = coordinates(module, ELx="EL_x", ELz="EL_z", **STEERING)
    watch["wheel_torque"] = lambda s: s.reaction[0]
    found, violation = errors(module, exact("steering_guided"), watch, wheel_guide)
    assert violation < 1e-12
    assert found.pop("wheel_torque") < 1e-7  # of 5.9 Nm; 1/kappa
    assert max(found.values()) < 1e-10


@pytest.mark.slow
def test_driven_steering_follows_the_exact_motion(kernel, twin):
    found = []
    for step_s, made in ((2e-3, twin), (1e-3, kernel)):
        module = made("steering_rack", step_s=step_s, integrator="trapezoidal")
        watch = coordinates(module, theta="wheel", omega="d_wheel", **STEERING)
        reference = exact("steering_torque_driven")
        mine, violation = errors(module, reference, watch, signal=driver_torque)
        assert violation < 1e-10
        found.append(mine)
    assert second_order(*found)
    assert found[1]["theta"] < 1e-5

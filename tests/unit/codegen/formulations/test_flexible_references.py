"""Flexible mechanisms against exact solutions: a beam that is spun up, and a slider-crank whose rod bends."""

import math

import pytest
from mechanisms.exact_solutions import errors, exact, second_order
from mechanisms.flexible_mechanisms import flexible_crank, spin_up

SPUN_UP_S = 15.0


def shown(**ports):
    return {column: (lambda s, port=port: s.outputs[port]) for column, port in ports.items()}


def hub_torque(t):
    return {"input/force/hub/torque_nm": 120.0 * math.sin(math.pi * t / 2.0)}


def spin_up_guide(speed_rad_s):
    def guide(t):
        a, w = 2.0 * math.pi / SPUN_UP_S, speed_rad_s / SPUN_UP_S
        if t > SPUN_UP_S:
            return speed_rad_s * (t - SPUN_UP_S / 2.0), speed_rad_s, 0.0
        turned = w * (t * t / 2.0 - (1.0 - math.cos(a * t)) / a**2)
        return turned, w * (t - math.sin(a * t) / a), w * (1.0 - math.cos(a * t))

    return guide


@pytest.mark.slow
def test_driven_beam_and_its_hub_follow_the_exact_motion_with_stiffening(kernel, tmp_path):
    path = spin_up(is_driven=True).save(tmp_path)
    watch = shown(
        w_tip="tip/w_m",
        theta="hub/angle_rad",
        omega="hub/rate_rad_s",
        energy_total="beam/energy_j",
    )
    found = [
        errors(kernel(path, step_s=h), exact("spin_up_torque"), watch, signal=hub_torque)[0]
        for h in (4e-3, 2e-3)
    ]
    assert second_order(*found)
    # (h omega)^2 / 12 of the motion of every mode, summed over 10 s: measured 1.3e-4 m of 0.19 m
    assert found[1]["w_tip"] < 2e-4
    assert found[1]["theta"] < 2e-5


def test_guided_beam_spins_up_beyond_its_first_frequency(kernel, tmp_path):
    # 6 rad/s are above the 3.8 rad/s of the beam at rest: without stiffening it diverges
    watch = shown(w_tip="tip/w_m", drive_torque="hub/torque_nm")
    module = kernel(spin_up().save(tmp_path), step_s=4e-3)
    found, _ = errors(module, exact("spin_up_fast"), watch, spin_up_guide(6.0))
    assert found["w_tip"] < 2e-4  # of 0.574 m; 1.5e-4 of h^2
    assert found["drive_torque"] < 0.12  # of 250 Nm


def test_rod_of_a_guided_crank_bends_as_it_should(kernel, tmp_path):
    watch = shown(w_mid="rod/w_mid_m")
    module = kernel(flexible_crank().save(tmp_path), step_s=1e-4)
    reference = exact("flexible_crank_guided")
    found, _ = errors(module, reference, watch, lambda t: (150.0 * t, 150.0, 0.0))
    # of 2.0e-3 m; 6.7e-5 of h^2, and a quarter at half the step: 203 Hz for 20 periods at 49 steps each
    assert found["w_mid"] < 8e-5


@pytest.mark.slow
def test_trees_with_modes_follow_the_same_exact_motions(kernel, tmp_path):
    rules = {"formulation": "articulated", "integrator": "rk4", "step_s": 4e-3}
    module = kernel(spin_up().save(tmp_path), **rules)
    watch = shown(w_tip="tip/w_m", drive_torque="hub/torque_nm")
    found, _ = errors(module, exact("spin_up_fast"), watch, spin_up_guide(6.0))
    # (h omega)^4 / 120 of modes of up to 34 Hz that hardly move: measured 6.1e-8 m of 0.574 m, 2.2e-5 Nm of 250
    assert found["w_tip"] < 2e-7
    assert found["drive_torque"] < 6e-5
    rules = {"formulation": "composite", "integrator": "rk4", "step_s": 5e-5}
    module = kernel(flexible_crank().save(tmp_path), **rules)
    watch = shown(w_mid="rod/w_mid_m")
    reference = exact("flexible_crank_guided")
    found, _ = errors(module, reference, watch, lambda t: (150.0 * t, 150.0, 0.0))
    # measured 1.2e-7 m of 2.0e-3 m, as by index1 in natural coordinates
    assert found["w_mid"] < 3e-7

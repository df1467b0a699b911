"""The slider-crank of the two-stage benchmark, and what the observers make of it."""

import numpy as np
import pytest

from rigloop.bench.two_stage.slider_crank import SliderCrank
from rigloop.bench.two_stage.two_stage import (
    CASES,
    NOMINAL,
    OWN_NOISE,
    PERIOD_S,
    SLOW,
    TUNED,
    TWO_STAGE,
    rms_errors,
    run_case,
    simulate,
    single_stage,
    two_stage,
)


@pytest.fixture(scope="module")
def smooth():
    return simulate(CASES["smooth"], 1)


def energy(angle, rate, crank_m, rod_m, crank_kg, rod_kg, slider_kg):
    """Kinetic and potential energy from the places of the bodies, differentiated numerically."""

    def places(th):
        phi = np.arcsin(-crank_m / rod_m * np.sin(th))
        slider = crank_m * np.cos(th) + rod_m * np.cos(phi)
        return np.array(
            [
                crank_m * np.cos(th) + 0.5 * rod_m * np.cos(phi),
                crank_m * np.sin(th) + 0.5 * rod_m * np.sin(phi),
                phi,
                slider,
            ]
        )

    h = 1e-5
    vx, vy, phi_d, slider_d = rate * (places(angle + h) - places(angle - h)) / (2 * h)
    kinetic = 0.5 * (
        crank_kg * crank_m**2 / 3 * rate**2
        + rod_kg * (vx**2 + vy**2 + rod_m**2 / 12 * phi_d**2)
        + slider_kg * slider_d**2
    )
    height = crank_kg * 0.5 * crank_m * np.sin(angle) + rod_kg * places(angle)[1]
    return kinetic, 9.81 * height, slider_d / rate


@pytest.mark.parametrize("angle", [0.3, 1.2, 2.9, 4.4, 6.0])
def test_dynamics_are_those_of_the_energies(angle):
    model = SliderCrank(*NOMINAL)
    s, sd, j, jd, g = model.place(angle)
    kinetic, _, sens = energy(angle, 1.0, *NOMINAL)
    h = 1e-5
    # central differences: h^2, and round-off over h
    assert s == pytest.approx(sens, abs=1e-9)
    assert j == pytest.approx(2 * kinetic, rel=1e-8)
    above, below = model.place(angle + h), model.place(angle - h)
    assert sd == pytest.approx((above[0] - below[0]) / (2 * h), abs=1e-8)
    assert jd == pytest.approx((above[2] - below[2]) / (2 * h), abs=1e-8)
    slope = (energy(angle + h, 1.0, *NOMINAL)[1] - energy(angle - h, 1.0, *NOMINAL)[1]) / (2 * h)
    assert g == pytest.approx(slope, abs=1e-8)


def test_motion_of_the_smooth_case_is_within_the_accepted_errors(smooth):
    found, force = two_stage(smooth, CASES["smooth"].two_stage_walk_n)
    rate, acceleration, unknown = rms_errors(smooth, found, force)
    assert rate < 0.02
    assert acceleration < 0.6
    assert unknown < 0.6


def test_no_tuning_of_the_forces_changes_a_bit_of_the_motion(smooth):
    first, force = two_stage(smooth, 3.0)
    second, other = two_stage(smooth, 1e-4, balance_nm=5.0)
    assert np.array_equal(first, second)
    assert not np.allclose(force, other)


def test_badly_tuned_single_stage_filter_is_wrong_about_motion_and_force(smooth):
    good = rms_errors(smooth, *single_stage(smooth, CASES["smooth"].tuned_walk_n))
    bad = rms_errors(smooth, *single_stage(smooth, 1e-2))
    assert all(b > 5 * g for b, g in zip(bad, good, strict=True))


def test_dead_centres_are_passed_with_the_guard():
    case = CASES["rotations"]
    motion = simulate(case, 2)
    assert np.ptp(motion.angle_rad) > 4 * np.pi
    found = two_stage(motion, case.two_stage_walk_n, acceleration_noise=case.acceleration_noise)
    rate, acceleration, force = rms_errors(motion, *found)
    assert rate < 0.1
    assert acceleration < 6.0
    assert force < 4.0


@pytest.mark.parametrize("name", list(CASES))
@pytest.mark.slow
def test_benchmark_agrees_with_the_reference(name):
    rows = {row.filter: row for row in run_case(name, 10)}
    assert set(rows) == {TWO_STAGE, OWN_NOISE, TUNED, SLOW}
    assert rows[TUNED].rms == pytest.approx(rows[TUNED].reference, rel=0.15)
    # the reference takes motion and forces of the cycle before: where the force steps it is far worse
    assert all(
        found < 1.15 * limit
        for found, limit in zip(rows[TWO_STAGE].rms, rows[TWO_STAGE].reference, strict=True)
    )


def test_a_step_of_the_force_is_found_as_fast_as_by_a_tuned_single_stage():
    motion = simulate(CASES["step"], 0)
    two = rms_errors(motion, *two_stage(motion, CASES["step"].two_stage_walk_n))
    one = rms_errors(motion, *single_stage(motion, CASES["step"].tuned_walk_n))
    assert all(a < 1.5 * b for a, b in zip(two, one, strict=True))


def test_plant_obeys_its_equation_of_motion(smooth):
    # recorded acceleration against differences of the recorded rate, which leave out h^2 / 6 of its second derivative
    middle = (smooth.rate_rad_s[2:] - smooth.rate_rad_s[:-2]) / (2 * PERIOD_S)
    error = middle - smooth.acceleration_rad_s2[1:-1]
    assert np.sqrt(np.mean(error[300:] ** 2)) < 1e-4 * np.ptp(smooth.acceleration_rad_s2[300:])

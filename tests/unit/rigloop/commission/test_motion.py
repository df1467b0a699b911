"""An axis weighed by its motion: inertia, friction and delay of known ones, also with cycles missing."""

from dataclasses import replace

import numpy as np
import pytest

from rigloop.commission.motion import NoMotionError, fit_motion, free, pulses, share_of
from rigloop.commission.stand import Take
from rt_core.safety.trips import Trip

STEP_S = 2e-4


def a_take(
    inertia=0.06,
    viscous=0.05,
    coulomb=0.1,
    delay_s=0.002,
    torque_nm=0.6,
    keep=None,
    corner=0.05,
    steady_nm=0.0,
    spring_nm_rad=0.0,
    gives=1.0,
):
    """Integrate an axis at a fifth of the step."""
    command = pulses(torque_nm, STEP_S)
    n, fine = len(command), 5
    rate = angle = 0.0
    way = np.zeros(n)
    late = round(delay_s / STEP_S * fine)
    for k in range(n):
        way[k] = angle
        for i in range(fine):
            at = k * fine + i - late
            torque = gives * command[at // fine] if at >= 0 else 0.0
            torque += steady_nm - spring_nm_rad * angle
            drag = viscous * rate + coulomb * rate / np.hypot(rate, corner)
            rate += STEP_S / fine * (torque - drag) / inertia
            angle += STEP_S / fine * rate
    rows = np.arange(n) if keep is None else np.flatnonzero(keep(np.arange(n)))
    t, zeros = np.arange(n) * STEP_S, np.zeros(n)
    columns = (t, command, command, way, zeros + 1, zeros + 2, zeros + 1, zeros)
    return Take(*(column[rows] for column in columns), Trip.NO_TRIP)


@pytest.mark.parametrize("delay_s", [0.0, 0.0015, 0.006, 0.02])
def test_inertia_friction_and_delay_come_back(delay_s):
    found = fit_motion(a_take(delay_s=delay_s))
    # within what the coarse integration of the test leaves
    assert found.inertia_kg_m2 == pytest.approx(0.06, rel=0.01)
    assert found.coulomb_nm == pytest.approx(0.1, abs=0.01)
    assert found.delay_s == pytest.approx(delay_s, abs=3e-4)
    assert found.residual < 0.01


def test_missing_cycles_do_not_change_the_axis():
    found = fit_motion(a_take(keep=lambda k: (k % 97 != 5) & ((k < 900) | (k > 905))))
    assert found.inertia_kg_m2 == pytest.approx(0.06, rel=0.02)
    # a reversal of the torque is among the missing ones, and is seen a cycle late
    assert found.delay_s == pytest.approx(0.002, abs=6e-4)


def test_a_wrong_sense_is_a_negative_inertia():
    assert fit_motion(a_take(torque_nm=-0.6)).inertia_kg_m2 == pytest.approx(0.06, rel=0.02)
    take = a_take()
    turned = Take(
        take.t_s,
        -take.command_nm,
        take.reported_nm,
        take.angle_rad,
        take.operational,
        take.state,
        take.valid,
        take.statusword,
        take.trip,
    )
    assert fit_motion(turned).inertia_kg_m2 < 0.0


def test_a_weight_on_the_wheel_is_told_from_its_friction_and_inertia():
    found = fit_motion(a_take(steady_nm=0.05))
    assert found.inertia_kg_m2 == pytest.approx(0.06, rel=0.01)
    assert found.coulomb_nm == pytest.approx(0.1, abs=0.01)
    assert found.steady_nm == pytest.approx(0.05, abs=0.005)
    assert free(found, 0.6) is found


@pytest.mark.parametrize("corner", [0.005, 0.05, 0.1])
def test_dry_friction_may_be_sharp(corner):
    found = fit_motion(a_take(coulomb=0.25, corner=corner))
    assert found.inertia_kg_m2 == pytest.approx(0.06, rel=0.02)
    assert found.coulomb_nm == pytest.approx(0.25, abs=0.02)
    assert free(found, 0.6) is found


@pytest.mark.parametrize("counts", [1 << 12, 10_000])
def test_an_encoder_may_be_coarse(counts):
    take = a_take()
    unit = 2.0 * np.pi / counts
    found = fit_motion(replace(take, angle_rad=np.floor(take.angle_rad / unit) * unit))
    # 1.5 mrad of a way of 115
    assert found.inertia_kg_m2 == pytest.approx(0.06, rel=0.03)
    assert found.coulomb_nm == pytest.approx(0.1, abs=0.03)
    assert free(found, 0.6) is found


@pytest.mark.parametrize(
    ("moved_by", "words"),
    [
        ({"steady_nm": 0.2}, "a torque of 0.2 Nm acted on it all the time"),
        # it turned one way only: its friction looks like that torque
        ({"steady_nm": 0.4, "coulomb": 0.02}, "acted on it all the time"),
        ({"spring_nm_rad": 0.7}, "of its way are not that of a free wheel"),
    ],
)
def test_a_wheel_that_something_else_moves_is_not_free(moved_by, words):
    with pytest.raises(NoMotionError, match=words):
        free(fit_motion(a_take(**moved_by)), 0.6)


def test_the_share_of_a_torque_is_that_which_moved_a_known_axis():
    known = fit_motion(a_take(coulomb=0.2))
    for share in (0.5, 0.75, 1.0):
        assert share_of(a_take(coulomb=0.2, gives=share), known) == pytest.approx(share, abs=0.01)


def test_an_axis_at_rest_cannot_be_weighed():
    with pytest.raises(NoMotionError, match=r"it moved by 0\.0"):
        fit_motion(a_take(coulomb=1e3, inertia=1e6))

"""An axis weighed by its motion: inertia, friction and delay of known ones, also with cycles missing."""

import numpy as np
import pytest

from rigloop.commission.motion import NoMotionError, fit_motion, pulses
from rigloop.commission.stand import Take
from rt_core.safety.trips import Trip

STEP_S = 2e-4


def a_take(inertia=0.06, viscous=0.05, coulomb=0.1, delay_s=0.002, torque_nm=0.6, keep=None):
    """Integrate an axis at a tenth of the step."""
    command = pulses(torque_nm, STEP_S)
    n, fine = len(command), 5
    rate = angle = 0.0
    way = np.zeros(n)
    late = round(delay_s / STEP_S * fine)
    for k in range(n):
        way[k] = angle
        for i in range(fine):
            at = k * fine + i - late
            torque = command[at // fine] if at >= 0 else 0.0
            drag = viscous * rate + coulomb * rate / np.hypot(rate, 0.05)
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


def test_an_axis_at_rest_cannot_be_weighed():
    with pytest.raises(NoMotionError, match=r"it moved by 0\.0"):
        fit_motion(a_take(coulomb=1e3, inertia=1e6))

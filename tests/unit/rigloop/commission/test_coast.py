"""A wheel that coasts, is braked or is driven on, told by its way alone."""

import numpy as np
import pytest

from rigloop.commission.coast import is_driven
from rigloop.commission.motion import Motion

T_S = np.arange(0.0, 0.15, 1e-3)
COUNT_RAD = 2.0 * np.pi / 10_000


def way(rate_rad_s, torque_nm, inertia=0.06, coulomb=0.1, count_rad=COUNT_RAD):
    """Integrate a wheel at a fine step, and read it with an encoder."""
    rate, angle, fine = rate_rad_s, 0.0, 20
    seen = []
    for _ in T_S:
        seen.append(np.floor(angle / count_rad) * count_rad)
        for _ in range(fine):
            rate += (torque_nm - coulomb * rate / np.hypot(rate, 0.05)) / inertia * 1e-3 / fine
            angle += rate * 1e-3 / fine
    return np.array(seen)


def driven(rate_rad_s, torque_nm, inertia=0.06, coulomb=0.1):
    moved = way(rate_rad_s, torque_nm, inertia, coulomb)
    motion = Motion(inertia, 0.05, coulomb, 0.001, 0.01)
    return is_driven(T_S, moved, 0.3, motion, COUNT_RAD)


@pytest.mark.parametrize(
    ("rate_rad_s", "torque_nm"),
    [(-2.0, -0.3), (-0.1, 0.3), (-0.1, -0.3), (0.0, 0.3), (0.1, 0.3), (0.1, -0.3), (2.0, 0.3)],
)
def test_a_torque_that_goes_on_is_seen_by_the_speed_that_it_gives(rate_rad_s, torque_nm):
    assert driven(rate_rad_s, torque_nm)


@pytest.mark.parametrize("rate_rad_s", [-2.0, -0.1, 0.0, 0.1, 2.0])
@pytest.mark.parametrize(("inertia", "coulomb"), [(0.06, 0.0), (0.06, 0.29), (0.5, 0.05)])
def test_a_wheel_without_a_torque_is_not_driven(rate_rad_s, inertia, coulomb):
    assert not driven(rate_rad_s, 0.0, inertia, coulomb)


def test_a_wheel_that_is_braked_is_not_driven():
    # a holding brake falls in: at rest after 40 ms
    braked = np.interp(T_S, [0.0, 0.04], [0.0, 0.04])
    assert not is_driven(T_S, braked, 0.3, Motion(0.06, 0.05, 0.1, 0.001, 0.01), COUNT_RAD)


def test_a_short_look_says_nothing():
    assert not is_driven(T_S[:60], way(0.0, 0.3)[:60], 0.3, Motion(0.06, 0, 0, 0, 0), COUNT_RAD)
    assert not is_driven(T_S[:3], way(0.0, 0.3)[:3], 0.3, Motion(0.06, 0, 0, 0, 0), COUNT_RAD)

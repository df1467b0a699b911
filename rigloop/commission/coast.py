"""A wheel whose drive says that it has no torque any more: does it coast, or is it driven on?

Without a torque no wheel gains speed, nor turns round. So the word of the drive is not needed.
"""

from __future__ import annotations

import numpy as np

from rigloop.commission.motion import Motion
from rigloop.commission.stand import Array

LOOKED_S = 0.15
"""For so long a wheel is looked at."""
LEAST_S = 0.1
LEAST_LOOKS = 12
SHARE = 0.5  # of the speed that the torque would have given
FREE = 0.1  # of the torque, that must be left by friction


def is_driven(
    t_s: Array, angle_rad: Array, torque_nm: float, motion: Motion, count_rad: float
) -> bool:
    """Decide if a wheel gains speed as from a torque; where it was looked at too shortly, it is not said to.

    Parameters
    ----------
    torque_nm : float
        The one that acted before.
    motion : Motion
        The axis as it moves.
    count_rad : float
        Of one count of the encoder.
    """
    if len(t_s) < LEAST_LOOKS or t_s[-1] - t_s[0] < LEAST_S:
        return False
    thirds = np.array_split(np.arange(len(t_s)), 3)
    (early_s, before), (late_s, after) = (
        (float(np.mean(t_s[rows])), float(np.polyfit(t_s[rows], angle_rad[rows], 1)[0]))
        for rows in (thirds[0], thirds[2])
    )
    gained = abs(after) - (abs(before) if before * after > 0.0 else 0.0)
    torque_nm = abs(torque_nm)
    free_nm = torque_nm - abs(motion.coulomb_nm) - abs(motion.viscous_nms * after)
    if free_nm < FREE * torque_nm:
        return False
    coarse = 2.0 * count_rad / float(np.ptp(t_s[thirds[0]]))
    return gained > SHARE * free_nm * (late_s - early_s) / abs(motion.inertia_kg_m2) + coarse

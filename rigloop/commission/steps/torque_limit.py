"""The drive's own torque limit: is it kept, and is it that of the rig?"""

from __future__ import annotations

from io_bridge.slaves.moving_objects import AXIS_STEP
from io_bridge.slaves.own_scale import OwnScale
from rigloop.commission.motion import share_of
from rigloop.commission.stand import Array, StandError, whole
from rigloop.commission.step import Bench, Measured, Step
from rigloop.sign_off.twentieth import OVER_PEAK, higher_peak

MAX_TORQUE = 0x6072
SLACK = 0.3  # of what the limit takes away


def measure(bench: Bench) -> Measured:
    """Set the drive's limit to half the torque of the walk for a moment, and weigh what is left by the motion."""
    axis = bench.axis
    by = AXIS_STEP * axis.drive_config.axis
    limit = bench.stand.read(MAX_TORQUE + by)
    if not limit:
        return Measured(None, "Nm", words="The drive has no torque limit of its own (0x6072).")
    rated_nm = axis.drive_config.rated_torque_nm
    peak_nm = axis.drive_config.peak_torque_nm
    own = OwnScale(rated_nm, limit)
    if words := higher_peak(own, rated_nm, peak_nm):
        return Measured(own.most_nm(rated_nm), "Nm", 0.0, OVER_PEAK * peak_nm, f"{words}.")
    full = bench.motion
    # half of what friction leaves is enough to move it
    rubs = min(1.0, max(0.0, full.coulomb_nm / axis.walk_nm))
    level = 0.5 * (1.0 + rubs)
    slack = SLACK * (1.0 - level)
    share = _share(bench, by, limit, level)
    words = f"With 0x6072 at {100.0 * level:.0f} % of the torque of the walk, {100.0 * share:.0f} % of it was left."
    part = Measured(share, "of the torque", level - slack, level + slack, words)
    return part if full.inertia_kg_m2 > 0.0 else part._replace(value=None)


def _share(bench: Bench, by: int, limit: int, level: float) -> float:
    axis, stand = bench.axis, bench.stand
    low = max(1, round(1e3 * level * axis.walk_nm / axis.drive_config.rated_torque_nm))
    stand.write(MAX_TORQUE + by, 0, low, 2)
    try:
        played: Array = bench.pulses(1.0)
        take = whole(stand.play(played))
    finally:
        stand.write(MAX_TORQUE + by, 0, limit, 2)
    if stand.read(MAX_TORQUE + by) != limit:
        raise StandError(f"0x6072 did not go back to {limit}: set it by hand")
    return share_of(take, bench.motion)


STEP = Step(
    place=6,
    name="torque_limit",
    title="Torque limit of the drive",
    question="Does the drive keep a torque limit of its own?",
    commands="Pulses with the torque of the walk, once with the drive's limit at a part of it.",
    measure=measure,
    good="The drive keeps its own limit, and that is not above the rig's peak torque.",
    bad="The drive does not keep a torque limit that protects this rig.",
    remedy="Set 0x6072 to the peak torque of the rig with the maker's tool, or as `setup` of the drive in the rig "
    "file.",
)

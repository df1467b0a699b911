"""A twentieth of the torque: of a rig's own limits, and of what its drive says that it gives.

A rig file may state any limit, any rated torque and any peak. The drive knows its own: object 0x6076 is the torque of
1000 per mille, 0x6072 the most that it gives, in such per mille.
"""

from __future__ import annotations

from collections.abc import Mapping

from io_bridge.slaves.own_scale import OwnScale
from rig_configs.schema import Rig
from rigloop.blocks.axes import drives_of
from rigloop.compose.parts import drive_of, find_guards

SHARE = 0.05
"""Share of a rig's own limits that a guard without a signature has."""
MOST_RATED = 1.2
"""Largest ratio of the drive's rated torque to the rig's: every torque is larger than intended by this ratio."""
OVER_PEAK = 1.05
"""Largest ratio of the drive's peak torque to the rig's; one per mille of a small torque is a few per cent."""


def larger_rated(own: OwnScale, rated_nm: float) -> str:
    """Return a sentence on a rated torque that is larger than the rig means; empty: it is not, or unknown."""
    if own.rated_nm is None or own.rated_nm <= MOST_RATED * rated_nm:
        return ""
    return (
        f"The drive has a rated torque of {own.rated_nm:.3g} Nm (0x6076), the rig has {rated_nm:g}"
    )


def higher_peak(own: OwnScale, rated_nm: float, peak_nm: float) -> str:
    """Return a sentence on a limit of the drive above the peak torque of the rig; empty: it is not, or unknown."""
    most_nm = own.most_nm(rated_nm)
    if most_nm is None or most_nm <= OVER_PEAK * peak_nm:
        return ""
    return f"The drive's own limit (0x6072) is {most_nm:.3g} Nm; the rig has peak_torque_nm = {peak_nm:g}"


def twentieth_nm(limit_nm: float, peak_torque_nm: float) -> float:
    """Return the torque of a walk, and of a run without a signature: a share of the lesser limit, for a rig file may
    state any `limit_nm`."""
    return SHARE * min(limit_nm, peak_torque_nm)


def twentieth_of(rig: Rig, guard: str, own: Mapping[str, OwnScale]) -> float:
    """Return the torque of a guard that nobody has signed off.

    Parameters
    ----------
    own : mapping of bus and drive to OwnScale
        As the drives say it; where one says nothing, the rig counts.
    """
    limit_nm = find_guards(rig)[guard].limit_nm
    found = []
    for place in drives_of(rig, guard):
        drive = drive_of(rig, *place)
        rated_nm, peak_nm = drive.rated_torque_nm, drive.peak_torque_nm
        scale = own.get("/".join(place), OwnScale(None, None))
        most_nm = scale.most_nm(rated_nm)
        there_nm = twentieth_nm(limit_nm, peak_nm if most_nm is None else min(peak_nm, most_nm))
        # every torque is larger than the rig means by as much
        found.append(there_nm / max(1.0, (scale.rated_nm or 0.0) / rated_nm))
    return min(found)


def rescaled(rig: Rig, place: str, own: OwnScale | None) -> str:
    """Return what a drive that was signed off says of its torque today, and would not have passed the walk with."""
    if own is None:
        return ""
    bus, _, name = place.partition("/")
    drive = drive_of(rig, bus, name)
    problem = larger_rated(own, drive.rated_torque_nm) or higher_peak(
        own, drive.rated_torque_nm, drive.peak_torque_nm
    )
    return f"{place} has another scale than when it was signed off: {problem}" if problem else ""

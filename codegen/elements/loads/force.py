"""A force on a distance or a torque on an angle: constant, tunable or an input signal."""

from __future__ import annotations

from codegen.system import fields
from codegen.system.fields import Name, Tunable
from codegen.system.system import System


class Entry(fields.Entry):
    angle: Name | None = None
    torque_nm: Tunable | None = None
    distance: Name | None = None
    force_n: Tunable | None = None


def add(entry: Entry, name: str, system: System) -> None:
    if entry.angle and entry.torque_nm is not None and entry.distance is None is entry.force_n:
        coordinate = system.scalar("angle", entry.angle, "rad")
        value = system.tunable("torque_nm", entry.torque_nm)
    elif entry.distance and entry.force_n is not None and entry.angle is None is entry.torque_nm:
        coordinate = system.scalar("distance", entry.distance, "m")
        value = system.tunable("force_n", entry.force_n)
    else:
        remedy = "give `angle` and `torque_nm`, or `distance` and `force_n`"
        system.mistake("", None, "needs one coordinate and what acts on it", remedy)
        return
    system.add_force(coordinate, value)

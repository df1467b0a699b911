"""A linear viscous damper on an angle or a distance."""

from __future__ import annotations

from codegen.system import fields
from codegen.system.fields import Name, Tunable
from codegen.system.system import System


class Entry(fields.Entry):
    angle: Name | None = None
    damping_nms_per_rad: Tunable | None = None
    distance: Name | None = None
    damping_ns_per_m: Tunable | None = None


def add(entry: Entry, name: str, system: System) -> None:
    on_angle = (entry.angle, entry.damping_nms_per_rad)
    on_distance = (entry.distance, entry.damping_ns_per_m)
    if entry.angle and entry.damping_nms_per_rad is not None and on_distance == (None, None):
        coordinate = system.scalar("angle", entry.angle, "rad")
        damping = system.tunable("damping_nms_per_rad", entry.damping_nms_per_rad)
    elif entry.distance and entry.damping_ns_per_m is not None and on_angle == (None, None):
        coordinate = system.scalar("distance", entry.distance, "m")
        damping = system.tunable("damping_ns_per_m", entry.damping_ns_per_m)
    else:
        remedy = "give `angle` and `damping_nms_per_rad`, or `distance` and `damping_ns_per_m`"
        system.mistake("", None, "needs one coordinate and its damping", remedy)
        return
    force = -damping * coordinate.qd
    key, unit = ("torque_nm", "_nm") if coordinate.unit == "rad" else ("force_n", "_n")
    system.value(key, force, unit)
    system.add_force(coordinate, force)

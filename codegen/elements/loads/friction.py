"""Coulomb friction with Stribeck peak and viscous part on an angle or a distance, smooth at rest.

-(F_c + (F_s - F_c) exp(-(v/v_s)^2)) tanh(v/v_t) - c v
"""

from __future__ import annotations

from codegen.expressions import smooth
from codegen.system import fields
from codegen.system.fields import Name, Tunable
from codegen.system.system import System


class Entry(fields.Entry):
    angle: Name | None = None
    distance: Name | None = None
    coulomb: Tunable  # Nm or N, as the coordinate
    static: Tunable | None = None  # the peak; default: no peak
    stribeck_speed: Tunable | None = None  # rad/s or m/s
    transition_speed: Tunable  # where tanh turns
    viscous: Tunable = 0.0  # Nms/rad or Ns/m


def add(entry: Entry, name: str, system: System) -> None:
    if (entry.angle is None) == (entry.distance is None):
        system.mistake("", None, "needs one coordinate", "give `angle` or `distance`")
        return
    if (entry.static is None) != (entry.stribeck_speed is None):
        remedy = "give both `static` and `stribeck_speed`, or none"
        system.mistake("static", None, "a peak needs its speed", remedy)
        return
    key, unit = ("angle", "rad") if entry.angle is not None else ("distance", "m")
    coordinate = system.scalar(key, getattr(entry, key), unit)
    rate = coordinate.qd
    level = system.tunable("coulomb", entry.coulomb, least=0.0)
    if entry.static is not None and entry.stribeck_speed is not None:
        peak = system.tunable("static", entry.static)
        slip = rate / system.tunable("stribeck_speed", entry.stribeck_speed, above=0.0)
        level = level + (peak - level) * smooth.exp(-(slip * slip))
    width = system.tunable("transition_speed", entry.transition_speed, above=0.0)
    turn = smooth.tanh(rate / width)
    drag = system.graph.stem(level * turn, f"{name}_friction")
    if entry.viscous != 0.0:
        drag = drag + system.tunable("viscous", entry.viscous) * rate
    suffix = "_nm" if unit == "rad" else "_n"
    system.value(f"drag{suffix}", drag, suffix)
    system.add_force(coordinate, -drag)

"""LuGre friction on an angle or a distance, with the bristle deflection z as state.

    z' = v - r z,  r = s0 |v| / g,  g = F_c + (F_s - F_c) exp(-(v/v_s)^2)
    force = -(s0 z + s1 z' + s2 v)

At h after the start of the step z is its value by the law at the mean m of the rates then and
now, r and g taken at m, which is of order two and bounded by g/s0 however stiff the bristles are:

    z = e^(-h r) z_0 + (1 - e^(-h r)) m/r  =  z_0 + expm1(-h r) (z_0 - sign(m) g/s0)

The force takes z as this function of the present rate, so that Newton knows its exact slope.
Source: Canudas de Wit, Olsson, Astrom, Lischinsky 1995.
"""

from __future__ import annotations

from codegen.expressions import smooth
from codegen.expressions.dag import Expr
from codegen.system import fields
from codegen.system.fields import Name, Tunable
from codegen.system.system import System


class Entry(fields.Entry):
    angle: Name | None = None
    distance: Name | None = None
    coulomb: Tunable  # Nm or N, as the coordinate
    static: Tunable
    stribeck_speed: Tunable  # rad/s or m/s
    bristle_stiffness: Tunable  # s0
    bristle_damping: Tunable = 0.0  # s1
    viscous: Tunable = 0.0  # s2


# the divisor of the law
BOUNDS = {
    "coulomb": {"above": 0.0},
    "static": {"above": 0.0},
    "stribeck_speed": {"above": 0.0},
    "bristle_stiffness": {"above": 0.0},
}


def add(entry: Entry, name: str, system: System) -> None:
    if (entry.angle is None) == (entry.distance is None):
        system.mistake("", None, "needs one coordinate", "give `angle` or `distance`")
        return
    key, unit = ("angle", "rad") if entry.angle is not None else ("distance", "m")
    coordinate = system.scalar(key, getattr(entry, key), unit)
    rate = coordinate.qd
    tuned = {
        key: system.tunable(key, getattr(entry, key), **BOUNDS.get(key, {}))
        for key in list(Entry.model_fields)[2:]
    }
    level, s0 = tuned["coulomb"], tuned["bristle_stiffness"]
    graph = system.graph

    def grip(v: Expr) -> Expr:
        slip = v / tuned["stribeck_speed"]
        return level + (tuned["static"] - level) * smooth.exp(-(slip * slip))

    z = system.internal(f"bristle_{unit}", 0.0)
    start = system.hold(f"bristle_start_{unit}", z, is_start=True)
    rate_start = system.hold("rate_start", rate, is_start=True)
    mean = 0.5 * (rate_start + rate)
    span = graph.stem(grip(mean) / s0, f"{name}_span")  # where z settles
    aim = graph.where_less(mean, 0.0, -span, span)
    gone = smooth.expm1(-(system.since_s * (graph.call("abs", mean) / span)))
    bristle = graph.stem(start + gone * (start - aim), f"{name}_bristle")
    system.follow(z, bristle)
    relax = s0 * graph.call("abs", rate) / grip(rate)
    slipping = tuned["bristle_damping"] * (rate - relax * bristle)
    drag = s0 * bristle + slipping + tuned["viscous"] * rate
    suffix = "_nm" if unit == "rad" else "_n"
    system.value(f"drag{suffix}", drag, suffix)
    system.add_force(coordinate, -drag)

"""LuGre friction on an angle or a distance, with the bristle deflection z as state.

    z' = v - s0 |v| z / g,  g = F_c + (F_s - F_c) exp(-(v/v_s)^2),  force = -(s0 z + s1 z' + s2 v)

z advances once a step, implicitly, with the rate at its start; the force follows the rate inside
the step. Source: Canudas de Wit, Olsson, Astrom, Lischinsky 1995.
"""

from __future__ import annotations

from codegen.description import fields
from codegen.description.fields import Name, Tunable
from codegen.description.system import System
from codegen.expressions import smooth


class Entry(fields.Entry):
    angle: Name | None = None
    distance: Name | None = None
    coulomb: Tunable  # Nm or N, as the coordinate
    static: Tunable
    stribeck_speed: Tunable  # rad/s or m/s
    bristle_stiffness: Tunable  # s0
    bristle_damping: Tunable = 0.0  # s1
    viscous: Tunable = 0.0  # s2


# what the law divides by
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
    rate, h = coordinate.qd, system.step_s
    tuned = {
        key: system.tunable(key, getattr(entry, key), **BOUNDS.get(key, {}))
        for key in list(Entry.model_fields)[2:]
    }
    level, s0 = tuned["coulomb"], tuned["bristle_stiffness"]
    slip = rate / tuned["stribeck_speed"]
    g = level + (tuned["static"] - level) * smooth.exp(-(slip * slip))
    relax = system.graph.stem(s0 * system.graph.call("abs", rate) / g, f"{name}_relax")
    z = system.internal(f"bristle_{unit}", 0.0)
    z_next = (z + h * rate) / (1.0 + h * relax)
    system.update(z, z_next)
    held = system.hold(f"bristle_next_{unit}", z_next)
    slope = system.hold("relax_next", relax)
    drag = s0 * held + tuned["bristle_damping"] * (rate - slope * held) + tuned["viscous"] * rate
    suffix = "_nm" if unit == "rad" else "_n"
    system.value(f"drag{suffix}", drag, suffix)
    system.add_force(coordinate, -drag)

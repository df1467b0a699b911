"""A motor on an angle: torque constant times the current, an input signal or a constant."""

from __future__ import annotations

from codegen.system import fields
from codegen.system.fields import Name, Number, Tunable
from codegen.system.system import System


class Entry(fields.Entry):
    angle: Name
    torque_constant_nm_per_a: Tunable
    current_a: Tunable
    gear_ratio: Number = 1.0  # turns of the motor for one of the angle
    rotor_inertia_kg_m2: Tunable = 0.0


def add(entry: Entry, name: str, system: System) -> None:
    angle = system.scalar("angle", entry.angle, "rad")
    ratio = system.number("gear_ratio", entry.gear_ratio)
    constant = system.tunable("torque_constant_nm_per_a", entry.torque_constant_nm_per_a)
    torque = ratio * (constant * system.tunable("current_a", entry.current_a))
    system.value("torque_nm", torque, "_nm")
    system.add_force(angle, torque)
    if entry.rotor_inertia_kg_m2 != 0.0:
        rotor = system.inertial("rotor_inertia_kg_m2", entry.rotor_inertia_kg_m2)
        felt = (ratio * ratio) * rotor
        system.add_mass(angle, angle, felt)
        system.masses.of_scalars.append((angle, felt))

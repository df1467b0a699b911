"""Mechanisms and inputs that belong to the exact motions of tests/data/references."""

import math

from codegen.description.builder import MechanismBuilder


def index(module):
    return {name: i for i, (name, _) in enumerate(module.model_info()["coordinates"])}


def four_bar(count):
    """`count` four-bars in a row, written in Python."""
    made = MechanismBuilder(f"four_bar_{count}", gravity_m_s2=(0, -9.81, 0))
    for i in range(count + 1):
        made.point(f"B{i}", position_m=(i, 1, 0), velocity_m_s=(1, 0, 0), moves="xy")
        made.constant_distance(f"crank_{i}", points=[(i, 0, 0), f"B{i}"])
        made.uniform_rod(f"crank_{i}", points=[(i, 0, 0), f"B{i}"], mass_kg=1.0)
        if i:
            ends = [f"B{i - 1}", f"B{i}"]
            made.constant_distance(f"coupler_{i}", points=ends)
            made.uniform_rod(f"coupler_{i}", points=ends, mass_kg=1.0)
    made.angle("theta", initial_rad="pi / 2", initial_rate_rad_s=-1.0)
    made.rotation(
        "crank", angle="theta", point="B0", centre_m=(0, 0, 0), axis=(0, 0, 1), zero=(1, 0, 0)
    )
    return made.output("crank/angle_rad", "theta").output("energy/total_j", "energy")


def coordinates(module, **columns):
    """Watch coordinates by column name; a leading `d_` means the rate."""
    at = index(module)
    return {
        column: (
            (lambda s, i=at[name[2:]]: s.qd[i])
            if name.startswith("d_")
            else (lambda s, i=at[name]: s.q[i])
        )
        for column, name in columns.items()
    }


def crank_guide(t):
    turn = 4.0 * math.pi
    angle = math.pi / 4 + 6 * math.pi * t + 0.5 * math.sin(turn * t)
    rate = 6 * math.pi + 0.5 * turn * math.cos(turn * t)
    return angle, rate, -0.5 * turn**2 * math.sin(turn * t), 0.0, 0.0, 0.0


STEERING = {
    "phi2": "shaft", "phi3": "pinion", "delta_L": "delta_left", "delta_R": "delta_right",
    "phi3_dot": "d_pinion", "delta_L_dot": "d_delta_left", "y_rack": "rack",
}  # fmt: skip


def wheel_guide(t):
    rate, swing = 0.4 * math.pi, math.pi / 2
    s, c = math.sin(rate * t), math.cos(rate * t)
    return swing * s, swing * rate * c, -swing * rate**2 * s


def driver_torque(t):
    return {"input/force/driver/torque_nm": 6.0 * math.sin(math.pi * t)}

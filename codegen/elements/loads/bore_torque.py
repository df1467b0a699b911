"""TM-Easy bore torque of a tyre on its steering angle, with the torsional deflection `psi` of the
patch as state.

    f_G = dF0 / (1 + x (x + dF0 s_M/F_M - 2)),  x = |s_B|/s_M < 1;   F_M/|s_B| beyond
    s_B = -R_B w_n / v*,  v* = r_D |Omega| + v_n
    D = v* d + R_B^2 f_G;   psi <- (psi - h R_B^2 f_G w_n / D) / (1 + h v* c / D)
    T_B = c psi + d psi',   psi' = -(v* c psi + R_B^2 f_G w_n) / D

psi once a step, with the rate w_n at its start; T_B with the rate inside the step. Needs dF0 >= 2
F_M/s_M. Source: Hirschberg, Rill, Weinfurter 2007 (TM-Easy), dynamic bore torque; regularised by
v_n > 0.
"""

from __future__ import annotations

from codegen.system import fields
from codegen.system.fields import Name, Tunable
from codegen.system.system import System


class Entry(fields.Entry):
    angle: Name
    stiffness_nm_per_rad: Tunable
    damping_nms_per_rad: Tunable
    bore_radius_m: Tunable
    rolling_radius_m: Tunable
    spin_rad_s: Tunable
    maximum_force_n: Tunable
    initial_slope_n: Tunable
    slip_at_maximum: Tunable
    regularising_speed_m_s: Tunable


def add(entry: Entry, name: str, system: System) -> None:
    graph = system.graph
    angle = system.scalar("angle", entry.angle, "rad")
    tuned = {key: system.tunable(key, getattr(entry, key)) for key in list(Entry.model_fields)[1:]}
    c, d = tuned["stiffness_nm_per_rad"], tuned["damping_nms_per_rad"]
    radius, slope = tuned["bore_radius_m"], tuned["initial_slope_n"]
    maximum, slip_max = tuned["maximum_force_n"], tuned["slip_at_maximum"]
    rate = angle.qd

    spin = graph.call("abs", tuned["spin_rad_s"])
    speed = tuned["rolling_radius_m"] * spin + tuned["regularising_speed_m_s"]
    slip = graph.stem(graph.call("abs", rate) * (radius / speed), f"{name}_slip")
    x = slip / slip_max
    rising = slope / (1.0 + x * (x + slope * slip_max / maximum - 2.0))
    # F_M/s beyond the maximum; the bound on s keeps the unused branch finite at rest
    sliding = maximum / graph.where_less(slip, slip_max, slip_max, slip)
    f_g = graph.stem(graph.where_less(slip, slip_max, rising, sliding), f"{name}_f_g")
    grip = graph.stem(radius * radius * f_g, f"{name}_grip")
    inverse = graph.reciprocal(speed * d + grip)
    drag = grip * rate

    # psi advances once a step from the rate at its start; the torque follows the rate inside the
    # step
    psi = system.internal("psi_rad", 0.0)
    h = system.step_s
    psi_next = (psi - h * (drag * inverse)) / (1.0 + h * (speed * c * inverse))
    system.update(psi, psi_next)
    held = system.hold("psi_next_rad", psi_next)
    torque = c * held - d * ((speed * c * held + drag) * inverse)
    system.values["/".join([*system.at, "torque_nm"])] = torque
    system.add_force(angle, torque)

"""MuJoCo: the spatial steering as two trees, each closed by soft constraints."""

from __future__ import annotations

import ctypes
import math
from pathlib import Path

import numpy as np

from peers.exact import at_reference, largest_gap, reference
from peers.mujoco_models import stepped
from peers.row import Row
from peers.steering_parts import TORQUE_HZ, TORQUE_NM, WORK, Part, steering
from peers.timer import compiled

# 1 / (time constant * damping ratio) = 2400 rad/s; the error falls with its square, and beyond some
# 2600 it is unstable at 1 ms. Where MuJoCo's own limit on it (refsafe) stops, the error is 1.9e-3 rad
HARD = 'solref="8.333333e-4 0.5" solimp="0.9999 0.9999 0.001"'
# all that the model does not have is off, which saves a sixth of the time
OPTION = """<option timestep="1e-3" integrator="RK4" gravity="0 0 -9.81" jacobian="dense">
<flag refsafe="disable" contact="disable" island="disable" warmstart="disable" sensor="disable"
actuation="disable" limit="disable" frictionloss="disable"/></option>"""
# a torque on the column is one on every hinge below it, by its axis of now; the kingpins are last
FORCES = r"""
#include <math.h>
#include <mujoco/mujoco.h>
void forces(const mjModel *m, mjData *d)
{{
    const double torque = {torque} * sin({rate!r} * d->time);
    const double column[3] = {{{x!r}, {y!r}, {z!r}}};
    for (int k = 0; k < 5; k++)
        for (int i = 0; i < 3; i++) d->qfrc_passive[k] += torque * column[i] * d->xaxis[3 * k + i];
    for (int k = m->nv - 2; k < m->nv; k++)
        d->qfrc_passive[k] -= {coulomb} * tanh(d->qvel[k] / {transition});
}}
"""
SPIN = 1e-6  # of a slender rod


def row(folder: Path) -> Row:
    """Torque-driven, 1 ms. Pinion, shaft and column are one tree, rack and tie rods another; a
    Cardan joint is two hinges. Column, gear and outer ends of the rods close it: 12 coordinates, 13
    rows. Friction and torque are C, which MuJoCo calls at each of its four stages.
    """
    import mujoco

    s = steering()
    exact = reference("steering_torque_driven")
    x, y, z = (float(part) for part in s.a1)
    text = FORCES.format(
        torque=TORQUE_NM, rate=2.0 * math.pi * TORQUE_HZ, x=x, y=y, z=z,
        coulomb=s.coulomb, transition=s.transition_speed,
    )  # fmt: skip
    include = f"-I{Path(mujoco.HEADERS_DIR).parent}"
    library = compiled(folder, "mujoco_forces.c", text, include)
    passive = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(("forces", library))
    across = np.cross(s.a1, s.p1)

    def wheel(data) -> float:
        pin = data.body("column").xmat.reshape(3, 3) @ s.p1
        return math.atan2(pin @ across, pin @ s.p1)

    run, angles = stepped(_xml(), [0.0] * 12, angle=wheel, forces=passive)

    def error() -> float:
        return largest_gap(at_reference(angles(5000), exact["t"], 1e-3), exact["theta"][1:])

    return Row(WORK, "MuJoCo RK4, soft loops, friction in C", run, error, steps=2000)


def _xml() -> str:
    s = steering()

    def column_tree() -> str:
        column = f'<body name="column">{_hinge(s.p2, s.C1)}{_hinge(s.p1, s.C1)}{_turning(s.column)}</body>'
        shaft = f"<body>{_hinge(s.p3, s.C2)}{_hinge(s.p2_lower, s.C2)}{_turning(s.intermediate)}{column}</body>"
        pinion = _hinge(s.a3, s.C2, 'name="pinion"')
        return f"<body>{pinion}{_turning(s.pinion)}{shaft}</body>"

    def rod(side) -> str:
        middle, along, length = side.rod
        first = np.cross(along, [1.0, 0.0, 0.0])
        hinges = _hinge(first, side.inner) + _hinge(np.cross(along, first), side.inner)
        across = s.rod_kg * length**2 / 12.0
        inertia = _inertial(middle, s.rod_kg, [across, across, SPIN], f'zaxis="{_text(along)}"')
        return f'<body name="rod_{side.name}">{hinges}{inertia}</body>'

    def knuckle(side) -> str:
        part = side.knuckle
        linear = f'stiffness="{s.stiffness}" damping="{s.viscous}"'
        return (
            f'<body name="{side.name}">{_hinge(side.axis, side.lower, linear)}'
            f"{_inertial(part.centre_m, part.mass_kg, part.inertia_kg_m2)}</body>"
        )

    rack = (
        '<body><joint name="rack" type="slide" axis="0 1 0"/>'
        f"{_inertial(s.rack_centre, s.rack_kg, [1.0, 1.0, 1.0])}"
        f"{''.join(rod(side) for side in s.sides)}</body>"
    )
    knuckles = "".join(knuckle(side) for side in s.sides)
    loops = "".join(
        f'<connect body1="rod_{side.name}" body2="{side.name}" anchor="{_text(side.outer)}" {HARD}/>'
        for side in s.sides
    )
    bearings = "".join(
        f'<connect body1="column" anchor="{_text(at)}" {HARD}/>' for at in (s.C1, s.H)
    )
    gear = f'<joint joint1="rack" joint2="pinion" polycoef="0 {s.r_p} 0 0 0" {HARD}/>'
    return (
        f'<mujoco><compiler angle="radian"/>{OPTION}'
        f"<worldbody>{column_tree()}{rack}{knuckles}</worldbody>"
        f"<equality>{loops}{bearings}{gear}</equality></mujoco>"
    )


def _text(values) -> str:
    return " ".join(repr(float(value)) for value in values)


def _hinge(axis, at, more: str = "") -> str:
    return f'<joint type="hinge" axis="{_text(axis)}" pos="{_text(at)}" {more}/>'


def _turning(part: Part) -> str:
    """Inertia of a body whose axis is fixed: what it has about others takes no part."""
    return _inertial(part.centre_m, part.mass_kg, [part.inertia_kg_m2] * 3)


def _inertial(centre, mass_kg: float, inertia, more: str = "") -> str:
    return (
        f'<inertial pos="{_text(centre)}" mass="{mass_kg}" diaginertia="{_text(inertia)}" {more}/>'
    )

"""MuJoCo: loops closed by soft equality constraints, fourth-order Runge-Kutta."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

import numpy as np

from peers.exact import at_reference, chain_angle, largest_gap, reference
from peers.row import Row

INSTALL = "pip install mujoco"
OPTION = '<option timestep="{h}" integrator="RK4" gravity="0 0 -9.81"/>'
# a body's shape takes no part: its inertia is given, and nothing collides
BODY = '<inertial pos="{centre}" mass="{mass}" diaginertia="{inertia}"/>'


# loops as hard as 1 ms allows: with the softness that is its default, a four-bar turns over in its
# first flat position
HARD = 'solref="{stiff} 1" solimp="0.9999 0.9999 0.001"'


def stepped(
    xml: str,
    rates: list[float],
    *,
    angle: Callable | None = None,
    forces: Callable | None = None,
) -> tuple[Callable, Callable]:
    """`run(n)`, and `angles(n)` of the first joint, or what `angle(data)` finds; `forces` is C that
    MuJoCo calls for passive forces.
    """
    import mujoco

    model = mujoco.MjModel.from_xml_string(xml)
    data = mujoco.MjData(model)

    def restart() -> None:
        mujoco.set_mjcb_passive(forces)  # one for all models
        mujoco.mj_resetData(model, data)
        data.qvel[:] = rates

    def run(n: int) -> float:
        restart()
        begin = time.perf_counter()
        mujoco.mj_step(model, data, n)
        return time.perf_counter() - begin

    def angles(n: int) -> np.ndarray:
        restart()
        found = np.empty(n)
        for k in range(n):
            mujoco.mj_step(model, data)
            if angle is None:
                found[k] = data.qpos[0]
            else:
                mujoco.mj_kinematics(model, data)
                found[k] = angle(data)
        return found

    return run, angles


def chain(n_bars: int) -> Row:
    """N four-bar, 1 ms: angles about +y, which turns an upright link towards +x."""
    rod = BODY.format(centre="0 0 0.5", mass=1, inertia="0.0833333333333 0.0833333333333 1e-3")
    across = BODY.format(centre="0.5 0 0", mass=1, inertia="1e-3 0.0833333333333 0.0833333333333")
    hinge = '<joint type="hinge" axis="0 1 0"/>'
    parts, rates = [], []
    for k in range(n_bars + 1):
        inner = f'<body name="c{k}" pos="0 0 1">{hinge}{across}</body>' if k < n_bars else ""
        parts.append(f'<body name="l{k}" pos="{k} 0 0">{hinge}{rod}{inner}</body>')
        rates += [1.0, -1.0] if k < n_bars else [1.0]
    hard = HARD.format(stiff=0.002)
    loops = "".join(
        f'<connect body1="c{k}" body2="l{k + 1}" anchor="1 0 0" {hard}/>' for k in range(n_bars)
    )
    run, angles = stepped(
        f"<mujoco>{OPTION.format(h=1e-3)}<worldbody>{''.join(parts)}</worldbody>"
        f"<equality>{loops}</equality></mujoco>",
        rates,
    )

    def error() -> float:
        found = math.pi / 2.0 - angles(10000)
        return largest_gap(found[19::20], chain_angle(n_bars, 10.0)[19::20])

    return Row(f"{n_bars} four-bar", "MuJoCo RK4, soft loops", run, error, steps=400)


def slider_crank() -> Row:
    """Free slider-crank, 0.1 ms, straight at first, and turned to its start by the joints' own
    positions: a loop is built where it closes.
    """
    exact = reference("slider_crank_free")
    angle, rate, r, length = math.pi / 4, 20.0, 0.12, 0.25
    lean = -math.asin(r / length * math.sin(angle))
    lean_rate = -r * math.cos(angle) * rate / (length * math.cos(lean))
    end_rate = -r * math.sin(angle) * rate - length * math.sin(lean) * lean_rate
    crank = BODY.format(centre="0.06 0 0", mass=0.75, inertia="1e-3 0.0009 0.0009")
    rod = BODY.format(centre="0.125 0 0", mass=1.56, inertia="1e-3 0.008125 0.008125")
    block = BODY.format(centre="0 0 0", mass=1.2, inertia="1e-3 1e-3 1e-3")
    hard = HARD.format(stiff=0.0002)

    def turned(by: float) -> str:
        return f'axisangle="0 -1 0 {by!r}"'

    # about -y, which turns x towards z
    hinge = '<joint type="hinge" axis="0 -1 0"/>'
    end = r * math.cos(angle) + length * math.cos(lean)
    run, angles = stepped(
        f'<mujoco>{OPTION.format(h=1e-4)}<compiler angle="radian"/><worldbody>'
        f"<body {turned(angle)}>{hinge}{crank}"
        f'<body name="rod" pos="{r} 0 0" {turned(lean - angle)}>{hinge}{rod}</body></body>'
        f'<body name="block" pos="{end!r} 0 0"><joint type="slide" axis="1 0 0"/>{block}</body>'
        f'</worldbody><equality><connect body1="rod" body2="block" anchor="{length} 0 0" {hard}/>'
        f"</equality></mujoco>",
        [rate, lean_rate - rate, end_rate],
    )

    def error() -> float:
        found = angle + at_reference(angles(50000), exact["t"], 1e-4)
        return largest_gap(found, exact["theta"][1:])

    work, who = "slider-crank", "MuJoCo RK4, soft loops"
    return Row(work, who, run, error, steps=2000, per_ms=10.0)

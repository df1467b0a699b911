"""The pieces of work that every program is measured on, done by our kernels."""

from __future__ import annotations

import ctypes
import math
from pathlib import Path

import numpy as np

from codegen.description.builder import MechanismBuilder
from codegen.kernels.build import load_reference
from codegen.options.options import KernelOptions
from peers import ours
from peers.exact import at_reference, largest_gap, reference
from peers.row import Row
from peers.steering_parts import MECHANISM, TORQUE_HZ, TORQUE_NM, WORK


def swing(n: int) -> np.ndarray:
    """Guide position, rate, acceleration over n steps of 1 ms: 0.5 Hz, 0.8 rad."""
    rate = math.pi
    t = rate * 1e-3 * np.arange(1, n + 1)
    one = np.stack([np.sin(t), rate * np.cos(t), -rate * rate * np.sin(t)], axis=1)
    return np.ascontiguousarray(0.8 * one)


swing_start = [0.0, 0.8 * math.pi, 0.0]


def steering(timer: ctypes.CDLL) -> Row:
    """Spatial steering, driven by a torque at the wheel."""
    stepper = ours.Stepper(MECHANISM, KernelOptions(), timer)
    exact = reference("steering_torque_driven")

    def torque(n: int) -> np.ndarray:
        t = 1e-3 * np.arange(1, n + 1)
        return TORQUE_NM * np.sin(2.0 * math.pi * TORQUE_HZ * t)[:, None]

    def error() -> float:
        kept = stepper.steps(torque(5000), [], keep=True)[1]
        assert kept is not None
        found = kept[:, stepper.ports.index("wheel/angle_rad")]
        return largest_gap(at_reference(found, exact["t"], 1e-3), exact["theta"][1:])

    return ours.row(WORK, stepper, torque, [], error=error, bar_us=2.0)


def guided_rows(timer: ctypes.CDLL, folder: Path) -> list[Row]:
    """Steering in 26 coordinates, guided at the wheel; error of the guide's torque over its peak."""
    made = []
    work = "steering_26, guided"
    for presolve, who, bar in ((False, "rigloop, 26 coordinates", 1.2), (True, "rigloop", 0.8)):
        stepper = ours.Stepper("steering_26", KernelOptions(presolve=presolve), timer)
        made.append(
            ours.row(
                work,
                stepper,
                swing,
                swing_start,
                who=who,
                bar_us=bar,
                unit="of peak",
                error=lambda s=stepper: _torque_error(s),
            )
        )
    made.append(ours.alone(work, stepper, swing, swing_start, folder))
    made.append(ours.twin(work, stepper, swing, swing_start))
    return made


def _torque_error(stepper: ours.Stepper) -> float:
    """Against inverse dynamics by dense linear algebra, at every tenth step of 2 s; the tyres'
    states are the kernel's own.
    """
    module = load_reference(stepper.path)
    guides = swing(2000)
    stepper.kernel.reset(*swing_start)
    par = np.array([value for _, value in module.PARAMETERS])
    wanted, found = [], []
    for k, guide in enumerate(guides):
        before = (np.array(stepper.kernel.q), np.array(stepper.kernel.qd))
        internal = np.array(stepper.kernel.internal)
        if stepper.kernel.step(*guide) != 0:
            raise RuntimeError("the kernel stopped")
        if k % 10 == 9:
            held = module.hold(*before, internal, par, np.array(module.SIGNALS_0))[1]
            wanted.append(_inverse_dynamics(module, np.array(stepper.kernel.q), guide, held, par))
            found.append(stepper.kernel.reaction[0])
    gap = np.abs(np.array(found) - np.array(wanted))
    return float(np.max(gap) / np.max(np.abs(wanted)))


def _inverse_dynamics(module, q, guide, held, par) -> float:
    for _ in range(8):
        q = q - np.linalg.lstsq(module.phi_q(q), module.phi(q, guide))[0]
    jac = module.phi_q(q)
    qd = -np.linalg.lstsq(jac, module.phi_t(guide))[0]
    applied = module.force(q, qd, held, par, np.array(module.SIGNALS_0))
    rows = len(jac)
    block = np.block([[module.mass(par), jac.T], [jac, np.zeros((rows, rows))]])
    right = np.concatenate([applied, -module.gamma(q, qd, guide)])
    lam = np.linalg.solve(block, right)[len(q) :]
    return -lam[module.GUIDES[0][0]]


def slider_crank(timer: ctypes.CDLL, folder: Path) -> Row:
    """Free slider-crank at 0.125 ms: at 1 ms the phase error of a second-order method is 5e-2 rad.

    Crank and conrod are rods between points: three coordinates and two rows.
    """
    r, length, angle, rate = 0.12, 0.25, math.pi / 4, 20.0
    pin = (r * math.cos(angle), r * math.sin(angle), 0.0)
    lean = math.asin(pin[1] / length)
    m = MechanismBuilder("slider_crank_free", gravity_m_s2=(0, -9.81, 0))
    m.point("A", position_m=pin, velocity_m_s=(-rate * pin[1], rate * pin[0], 0.0), moves="xy")
    end, end_rate = pin[0] + length * math.cos(lean), -rate * (pin[1] + pin[0] * math.tan(lean))
    m.point("B", position_m=(end, 0, 0), velocity_m_s=(end_rate, 0, 0), moves="x")
    for name, points, mass in (("crank", [(0, 0, 0), "A"], 0.75), ("conrod", ["A", "B"], 1.56)):
        m.constant_distance(name, points=points).uniform_rod(name, points=points, mass_kg=mass)
    m.mass("slider", point="B", mass_kg=1.2)
    m.output("crank/x_m", "A_x").output("crank/y_m", "A_y")
    step_s = 1.25e-4
    stepper = ours.Stepper(m.save(folder), KernelOptions(step_s=step_s, rho_inf=1.0), timer)
    exact = reference("slider_crank_free")

    def error() -> float:
        kept = stepper.steps(np.zeros((40000, 1)), [], keep=True)[1]
        assert kept is not None
        x, y = (kept[:, stepper.ports.index(f"crank/{axis}_m")] for axis in "xy")
        return largest_gap(at_reference(np.arctan2(y, x), exact["t"], step_s), exact["theta"][1:])

    return ours.row(
        "slider-crank", stepper, lambda n: np.zeros((n, 1)), [], error=error, per_ms=8.0, bar_us=1.5
    )

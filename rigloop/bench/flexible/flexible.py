"""`rigloop bench flexible`: six unknown forces on a body that bends, from ten strain gauges and a gyroscope.

The reference has 64 modes, and springs and dampers of the axles on a road: a sweep to 3 Hz on a ramp, half a second
later at the rear; a wind that swings three times a second pushes the roof. The filter has twelve modes, an augmented
Kalman filter with the exact step of its slopes, and knows nothing of road, springs or wind. Beside it a rigid filter
with two accelerometers and a gyroscope: the gate refuses it, and its variances grow without end.

Source: `docs/observers.md`.
"""

from __future__ import annotations

import math
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from codegen.description.mechanism import load
from codegen.observers.build import build_observer
from codegen.observers.spec import ObserverSpec
from codegen.options.options import KernelOptions
from estimators.closed_loop.observability import UnobservableError, require_observable
from estimators.numerics.van_loan import discretised
from rigloop.api.mechanism import mechanism
from rigloop.api.observer import observer
from rigloop.bench.flexible.gate import CASES, cases, settled_strains
from rigloop.bench.flexible.vehicle import (
    CENTRE_M,
    FORCES,
    FRONT,
    GAUGES,
    MASS_KG,
    REAR,
    rigid,
    vehicle,
)

Array = NDArray[np.float64]
Tell = Callable[[str], None]

STEP_S = 1e-3
SECONDS, SETTLED_S = 5.0, 1.0
STIFFNESS_N_M, DAMPING_NS_M, DELAY_S = 49e3, 1e4, 0.5
GRAVITY_M_S2, AT_FRONT = 9.81, (CENTRE_M[0] - REAR[0]) / (FRONT[0] - REAR[0])
MOST_PERCENT = 5.0
STRAIN_STD, GYRO_STD, FELT_STD = (
    1e-7,
    1e-4,
    0.01,
)  # 0.1 um/m: a bridge amplifier of 24 bits at 1 kHz
# of the random walks, N^2/s, in the order of `FORCES`: quick on the road's bumps, as slow as each force's noise asks
WALK_N2_S = dict(zip(FORCES, (5e4, 1e6, 1e5, 1e6, 3e5, 1.5e5), strict=True))
START_N = 5e3
MOTION_STD = {
    "O": 0.01,
    "turn": 0.001,
    "body": 1e-3,
}  # of the start, by the coordinate's name; rates ten times that
NOISE = 1e-8  # m^2/s^3, rad^2/s^3: of every acceleration


class Force(msgspec.Struct, frozen=True):
    """An unknown force: its size, and the error of its estimate after the start; standard deviations at the end as the
    filter and the rigid filter state them, the latter begun where the former ends. `seen_n` is the noise of one
    sample of all gauges in newtons of it, while it lasts: what the gauges make of the force before any filter."""

    name: str
    rms_n: float
    seen_n: float
    error_n: float
    percent: float
    std_n: float
    rigid_std_n: float


class Outcome(msgspec.Struct, frozen=True):
    """All forces, the reason by which the rigid filter is refused, the gate's cases that it answers rightly, NIS over
    its expectation, time of a step; `good` as the published filter is."""

    forces: list[Force]
    refused: str
    gate_held: int
    nis: float
    step_us: float
    good: bool


class Motion(msgspec.Struct, frozen=True):
    """The reference over time: forces (n, 6) in the order of `FORCES`, strains (n, 10), rate at the rear axle."""

    t_s: Array
    forces: Array
    strains: Array
    rate: Array


class Estimate(msgspec.Struct, frozen=True):
    """Forces (n, 6) and their variances, NIS over its expectation, time of a step."""

    forces: Array
    variances: Array
    nis: float
    step_us: float


def road(t: float) -> tuple[float, float]:
    """Height of the road and its rate: a sweep to 3 Hz on a ramp."""
    if t <= 0.0:
        return 0.0, 0.0
    sweep, slope = 3.0 / SECONDS, 0.01
    phase = math.pi * sweep * t * t
    return (
        0.02 * math.sin(phase) + slope * t,
        0.04 * math.pi * sweep * t * math.cos(phase) + slope,
    )


def simulate(folder: Path) -> Motion:
    """Move the reference with 64 modes from the pose without loads."""
    path = vehicle(is_reference=True).save(folder)
    body = mechanism(path, step_s=STEP_S, rho_inf=1.0)
    system = load(path).system
    turns = system.flexible["body"].modes.nodes["rear"].shape[5]
    names = [c.name for c in system.coordinates]
    turn = names.index("turn")
    modes = [names.index(f"body_mode{i + 1}") for i in range(len(turns))]
    begin = {"front": FRONT[1], "rear": REAR[1]}
    high = {"front": 0.0, "rear": 0.0}
    share = {"front": AT_FRONT * MASS_KG * GRAVITY_M_S2, "rear": (1.0 - AT_FRONT) * MASS_KG * GRAVITY_M_S2}  # fmt: skip
    t_s: Array = STEP_S * np.arange(1, round(SECONDS / STEP_S) + 1, dtype=np.float64)
    forces, strains = np.empty((len(t_s), len(FORCES))), np.empty((len(t_s), len(GAUGES)))
    rate = np.empty(len(t_s))
    rising = {"front": 0.0, "rear": 0.0}
    for k, t in enumerate(t_s):
        wind = math.sin(6.0 * math.pi * t)
        push = {
            "wrench/front/force_x_n": 600.0 + 400.0 * math.sin(1.6 * math.pi * t),
            "wrench/rear/force_x_n": 800.0 * math.sin(2.0 * math.pi * t),
            "wrench/roof/force_x_n": -600.0 - 300.0 * wind,
            "wrench/roof/force_y_n": 400.0 + 200.0 * wind,
        }
        for at, delay in (("front", 0.0), ("rear", DELAY_S)):
            z, zd = road(t - delay)
            push[f"wrench/{at}/force_y_n"] = (
                share[at] + STIFFNESS_N_M * (z - high[at]) + DAMPING_NS_M * (zd - rising[at])
            )
        out = body.step({f"input/{name}": push[name] for name in FORCES})
        for at in high:
            high[at], rising[at] = out[f"{at}/y_m"] - begin[at], out[f"{at}/vy_m_s"]
        qd = body.coordinates["qd"]
        forces[k] = [push[name] for name in FORCES]
        strains[k] = [out[f"strain/{name}"] for name in GAUGES]
        rate[k] = qd[turn] + turns @ qd[modes]
    return Motion(t_s, forces, strains, rate)


def _sensors() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {
        name: {"kind": "strain_gauge", "body": "body", "gauge": name, "std": STRAIN_STD}
        for name in GAUGES
    }
    found["gyro"] = {"kind": "gyroscope", "body": "body_rear", "axis": [0, 0, 1], "std": GYRO_STD}
    return found


def estimate(motion: Motion, folder: Path, seed: int = 0) -> Estimate:
    """Run the filter of twelve modes over samples with noise."""
    path = vehicle(is_reference=False).save(folder)
    count = load(path).system.flexible["body"].modes.count
    states = ("O_x", "O_y", "turn", *(f"body_mode{i + 1}" for i in range(count)))
    start = [MOTION_STD[name.partition("_")[0]] for name in states]
    found = observer(
        path, _sensors(), acceleration_noise=[NOISE] * len(states), independent=states, unknown=FORCES,
        start_std=[*start, *(10.0 * s for s in start), *([START_N] * len(FORCES))],
        input_noise=WALK_N2_S, transition="discrete", step_s=STEP_S,
    )  # fmt: skip
    rng = np.random.default_rng(seed)
    samples = {
        name: column + STRAIN_STD * rng.normal(size=len(column))
        for name, column in zip(GAUGES, motion.strains.T, strict=True)
    }
    samples["gyro"] = motion.rate + GYRO_STD * rng.normal(size=len(motion.rate))
    begun = time.process_time()
    shown = found.run(samples)
    step_us = (time.process_time() - begun) / len(motion.t_s) * 1e6
    settled = motion.t_s > SETTLED_S
    return Estimate(
        np.array([shown[name] for name in FORCES]).T,
        np.array([shown[f"variance/{name}"] for name in FORCES]).T,
        float(np.mean(shown["nis"][settled]) / len(samples)),
        step_us,
    )


def rigid_variances(folder: Path, start: Array) -> tuple[Array, str]:
    """Variances of the forces (n, 6) by a rigid filter with two accelerometers and a gyroscope, from `start` on; why it
    is refused."""
    tables: dict[str, dict[str, Any]] = {
        f"felt_{axis}": {"kind": "accelerometer", "point": "seat", "axis": direction}
        for axis, direction in (("x", [1, 0, 0]), ("y", [0, 1, 0]))
    }
    tables["gyro"] = {"kind": "gyroscope", "angle": "turn"}
    spec = ObserverSpec(tables, ("O_x", "O_y", "turn"), FORCES)
    model = build_observer(rigid().save(folder), spec, KernelOptions(step_s=STEP_S)).module.Model()
    info, refused = model.info, ""
    try:
        require_observable(model.at, info, info["start"])
    except UnobservableError as error:
        refused = str(error)
    at = model.at(info["start"])
    n = len(info["state_names"])
    n_z = (n - len(FORCES)) // 2
    a = np.zeros((n, n))
    a[:n_z, n_z : 2 * n_z] = np.eye(n_z)
    a[n_z : 2 * n_z] = at["zdd_x"]
    f, _, q = discretised(a, [0.0] * n_z + [NOISE] * n_z + [*WALK_N2_S.values()], STEP_S)
    h, r = np.array(at["y_x"]), np.diag([FELT_STD**2, FELT_STD**2, GYRO_STD**2])
    small = [0.01, 0.01, 0.001, 0.1, 0.1, 0.01]
    p = np.diag([*np.square(small), *start])
    found = []
    for _ in range(round(SECONDS / STEP_S)):
        p = f @ p @ f.T + q
        gain = np.linalg.solve(h @ p @ h.T + r, h @ p).T
        rest = np.eye(n) - gain @ h
        p = rest @ p @ rest.T + gain @ r @ gain.T
        found.append(np.diag(p)[2 * n_z :])
    return np.array(found), refused


def run(tell: Tell = lambda text: None) -> tuple[Outcome, Motion, Estimate]:
    """Run reference, filter, and the rigid filter beside it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tell("reference of 64 modes")
        motion = simulate(folder)
        tell("filter of 12 modes")
        found = estimate(motion, folder)
        tell("rigid filter")
        variances, refused = rigid_variances(folder, found.variances[-1])
    strained = settled_strains() / STRAIN_STD
    seen = np.sqrt(np.diag(np.linalg.inv(strained.T @ strained)))
    settled = motion.t_s > SETTLED_S
    since = int(np.argmax(settled))
    forces = []
    for i, force in enumerate(FORCES):
        size = float(np.sqrt(np.mean(motion.forces[settled, i] ** 2)))
        error = float(np.sqrt(np.mean((found.forces - motion.forces)[settled, i] ** 2)))
        forces.append(
            Force(
                force.removeprefix("wrench/"), size, float(seen[i]), error, 100.0 * error / size,
                float(np.sqrt(found.variances[-1, i])), float(np.sqrt(variances[-1, i])),
            )
        )  # fmt: skip
    converges = np.all(found.variances[-1] < 2.0 * found.variances[since])
    # of the rigid filter some grow as fast at the end as in the middle
    middle = len(variances) // 2
    late, early = variances[-1] - variances[middle], variances[middle] - variances[middle // 2]
    diverges = np.any(late > 1.9 * early)
    good = (
        all(f.percent <= MOST_PERCENT for f in forces)
        and bool(converges)
        and bool(diverges)
        and bool(refused)
    )
    held = sum(case.held for case in cases())
    good = good and held == len(CASES)
    return Outcome(forces, refused, held, found.nis, found.step_us, good), motion, found

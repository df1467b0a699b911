"""Plants that move as a filter believes: its own model, driven by its own noise."""

from __future__ import annotations

import itertools
import math
from functools import cache
from typing import Any, Literal

import numpy as np

from estimators.augmented.driveline_model import DrivelineModel
from estimators.augmented.ekf import AugmentedEkf
from estimators.augmented.settings import AugmentedSettings, UnscentedSettings
from estimators.augmented.ukf import AugmentedUkf
from estimators.encoder.filter import WRITE_PORTS, EncoderFilter
from estimators.encoder.gains import process_noise, transition_matrix
from estimators.two_stage.force_observer import ForceObserver
from estimators.two_stage.kinematic_observer import KinematicObserver
from estimators.two_stage.rotor_model import RotorModel
from estimators.two_stage.stages import ForceSettings, KinematicSettings
from rigloop.bench.consistency.scores import CYCLES, LOST, MARKS, Array, Run, marked, nees_of
from rigloop.bench.driveline.driveline import MOTOR, SUPPLY_V
from rigloop.bench.driveline.driveline import PERIOD_S as DRIVELINE_S
from rigloop.bench.two_stage.slider_crank import SliderCrank
from rigloop.bench.two_stage.two_stage import NOMINAL

Form = Literal["A", "B"]
DEG = math.pi / 180.0
STEP_S = 5e-3  # of the four-bar
T = 1e-3  # of rotors and slider-crank


# --- observers of a closed loop, on the four-bar --------------------------------------------------------------


@cache
def four_bar() -> Any:
    """The generated model; from the cache when it is there."""
    from codegen.observers.build import build_observer
    from codegen.observers.spec import ObserverSpec
    from codegen.options.options import KernelOptions

    sensors: dict[str, dict[str, Any]] = {
        "angle": {"kind": "encoder", "angle": "crank"},
        "rate": {"kind": "gyroscope", "points": ["A", "B"]},
    }
    options = KernelOptions(step_s=STEP_S, integrator="newmark")
    return build_observer("four_bar", ObserverSpec(sensors, ("crank",)), options).module


def observer_run(kind: str) -> Run:
    from estimators.closed_loop.catalogue import observer_class
    from estimators.closed_loop.settings import ObserverSettings

    start_std = (0.5 * DEG, 2.0 * DEG)
    settings = ObserverSettings(
        {"angle": DEG, "rate": DEG}, acceleration_noise=[0.09], start_std=start_std, gate_sigma=0.0
    )
    observer = observer_class(kind)("bench", four_bar().Model(), settings)
    model = four_bar().Model()
    h = STEP_S
    root = np.linalg.cholesky(0.09 * np.array([[h**3 / 3, h**2 / 2], [h**2 / 2, h]]))
    start = np.array(four_bar().Model().info["start"])
    nis_at = observer.write_ports.index("nis")

    def moved(x: Array) -> Array:
        if kind == "errorEKF":
            # its model is the kernel
            model.kernel_start(list(x))
            return np.array(model.kernel_step()[1])
        return x + h * np.array([x[1], model.at(list(x))["zdd"][0]])

    def run(rng: np.random.Generator) -> tuple[Array, Array]:
        x = start + np.array(start_std) * rng.normal(size=2)
        states, given = np.empty((CYCLES, 2)), np.empty((CYCLES, 2))
        for k in range(CYCLES):
            states[k] = x = moved(x) + root @ rng.normal(size=2)
            given[k] = model.at(list(x))["y"] + DEG * rng.normal(size=2)
        observer.reset()
        nees, nis = [], []
        for begin, end in itertools.pairwise((0, *MARKS)):
            # the last row is the state of now
            out = observer.run(given[begin:end])[-1]
            # dependent filters have all coordinates for their state
            variances = np.diag(observer.covariance)
            at = [int(np.flatnonzero(variances == value)[0]) for value in out[2:4]]
            nees.append(nees_of(out[:2] - states[end - 1], observer.covariance[np.ix_(at, at)]))
            nis.append(min(LOST, float(out[nis_at])))
        return np.array(nees), np.array(nis)

    return run


# --- A-UKF on the driveline of an induction motor -------------------------------------------------------------


def augmented_ukf_run(current_walk: float, current_noise: float, acceleration_noise: float) -> Run:
    model = DrivelineModel(**MOTOR)
    walk = np.array([current_walk] * 4 + [1e-5, 0.05, 1e-5, 0.05, 1.5])
    noise = np.array([current_noise] * 2 + [4.4e-4, 0.3] + [acceleration_noise] * 2)
    turning = np.zeros(9)
    turning[8] = 20.0
    for _ in range(1000):
        turning = model.move(turning, SUPPLY_V, 1e-3, 20)

    def run(rng: np.random.Generator) -> tuple[Array, Array]:
        x = turning + rng.normal(size=9) * walk
        states, given = np.empty((CYCLES, 9)), np.empty((CYCLES, 6))
        for k in range(CYCLES):
            states[k] = x
            given[k] = model.measure(x, SUPPLY_V) + rng.normal(size=6) * noise
            x = model.move(x, SUPPLY_V, DRIVELINE_S) + rng.normal(size=9) * walk
        block = AugmentedUkf(
            "bench",
            model,
            UnscentedSettings(
                period_s=DRIVELINE_S,
                start=list(turning),
                start_noise=list(walk),
                process_noise=list(walk),
                sample_noise=list(noise),
            ),
        )
        inputs = np.tile(SUPPLY_V, (CYCLES, 1))
        return marked(block, 9, states, lambda a, b: block.run(inputs[a:b], given[a:b]), range(9))

    return run


# --- encoder filter -------------------------------------------------------------------------------------------


def encoder_run() -> Run:
    w0, noise, counts = 100.0, 1e-4, 2**26
    f, q = transition_matrix(T, 3), w0**6 * noise**2 * T * process_noise(T, 3)
    root = np.linalg.cholesky(q)
    at = [WRITE_PORTS.index(p) for p in ("angle_rad", "rate_rad_s", "acceleration_rad_s2")]

    def run(rng: np.random.Generator) -> tuple[Array, Array]:
        block = EncoderFilter(
            "bench", {"position_count": "c"}, {}, counts_per_rev=counts, period_s=T,
            bandwidth_rad_s=w0, noise_rad=noise, max_acceleration_rad_s2=1e6,
        )  # fmt: skip
        x, states = np.zeros(3), np.empty((CYCLES, 3))
        for k in range(CYCLES):
            states[k] = x
            x = f @ x + root @ rng.normal(size=3)
        angle = states[:, 0] + noise * rng.normal(size=CYCLES)
        count = np.rint(angle * counts / (2 * math.pi))
        one = np.ones(CYCLES)
        return marked(
            block, 3, states, lambda a, b: block.run(count[a:b], one[a:b], one[a:b]), at,
            WRITE_PORTS.index("nis"),
        )  # fmt: skip

    return run


# --- two stages, and the single one beside them ---------------------------------------------------------------


FELT = 0.08  # noise of the acceleration sensor on the slider


def _slider_crank(rng: np.random.Generator) -> tuple[Array, KinematicObserver, Array]:
    # angle, rate and acceleration of the crank, a kinematic observer that has not run, and what its sensors give
    crank, noise = SliderCrank(*NOMINAL), 0.003
    t = T * np.arange(CYCLES)
    turning = 15.0 * np.sin(9.0 * t + rng.uniform(0, 2 * math.pi))
    states = np.empty((CYCLES, 3))
    z, zd = 1.6, 0.5
    for k in range(CYCLES):
        states[k] = z, zd, turning[k]
        following = turning[min(k + 1, CYCLES - 1)]
        z += T * zd + 0.5 * T * T * turning[k]
        zd += 0.5 * T * (turning[k] + following)
    place = np.array([crank.place(a) for a in states[:, 0]])
    slider = place[:, 0] * turning + place[:, 1] * states[:, 1] ** 2
    block = KinematicObserver(
        "bench",
        crank,
        KinematicSettings(
            period_s=T, position_noise=noise, acceleration_noise=FELT, least_sensitivity=0.03
        ),
        reads={"position_0": "-"},
    )
    given = (
        states[:, 0] + noise * rng.normal(size=CYCLES),
        slider + FELT * rng.normal(size=CYCLES),
    )
    return states, block, np.stack(given)[:, :, None]


def kinematic_run() -> Run:
    def run(rng: np.random.Generator) -> tuple[Array, Array]:
        states, block, given = _slider_crank(rng)
        return marked(
            block, 3, states, lambda a, b: block.run(given[0, a:b], given[1, a:b]), range(3)
        )

    return run


def cascade_run() -> Run:
    inertia, known_std, walk = 0.03, 0.1, 0.3
    # of the estimated acceleration, as far as the second stage can know: the sensor's over its mean sensitivity,
    # 2/pi of the crank's length
    balance = inertia * FELT / (2.0 / math.pi * NOMINAL[0])

    def run(rng: np.random.Generator) -> tuple[Array, Array]:
        states, first, given = _slider_crank(rng)
        motion = np.ascontiguousarray(first.run(given[0], given[1])[:, :3])
        walked = np.cumsum(walk * rng.normal(size=CYCLES))
        solved = inertia * states[:, 2] - walked
        known = (solved + known_std * rng.normal(size=CYCLES))[:, None]
        second = _force_block("A", inertia, known_std, balance, walk)
        truth = np.c_[solved, walked]
        return marked(second, 2, truth, lambda a, b: second.run(motion[a:b], known[a:b]), range(2))

    return run


def _force_block(
    form: Form, inertia: float, known_std: float, balance: float, walk: float
) -> ForceObserver:
    ports = {f"{part}_0": "-" for part in ("z", "zd", "zdd")}
    return ForceObserver(
        "bench",
        RotorModel(inertia),
        ForceSettings(form=form, known_noise=known_std, balance_noise=balance, walk_noise=walk),
        reads=ports,
    )


def force_run(form: Form) -> Run:
    inertia, known_std, balance, walk = 0.03, 0.1, 0.05, 0.3

    def run(rng: np.random.Generator) -> tuple[Array, Array]:
        acceleration = 10.0 * rng.normal(size=CYCLES)
        walked = np.cumsum(walk * rng.normal(size=CYCLES))
        solved = inertia * acceleration - walked + balance * rng.normal(size=CYCLES)
        states = np.c_[solved, walked] if form == "A" else np.c_[walked, solved]
        known = (states[:, 0] + known_std * rng.normal(size=CYCLES))[:, None]
        motion = np.c_[np.zeros((CYCLES, 2)), acceleration]
        block = _force_block(form, inertia, known_std, balance, walk)
        return marked(block, 2, states, lambda a, b: block.run(motion[a:b], known[a:b]), range(2))

    return run


def augmented_ekf_run() -> Run:
    inertia, noise, felt, disturbance, walk = 0.03, 1e-3, 0.8, 0.2, 0.05
    b = np.array([T * T / 2, T])

    def run(rng: np.random.Generator) -> tuple[Array, Array]:
        known = np.sin(9.0 * T * np.arange(CYCLES))
        z, zd, force = 0.3 + noise * rng.normal(), 0.0, 0.0
        states, samples = np.empty((CYCLES, 3)), np.empty((CYCLES, 2))
        for k in range(CYCLES):
            states[k] = z, zd, force
            a = (known[k] + force) / inertia
            samples[k] = z + noise * rng.normal(), a + felt * rng.normal()
            step = a + disturbance * rng.normal()
            z, zd = z + T * zd + b[0] * step, zd + b[1] * step
            force += walk * rng.normal()
        block = AugmentedEkf(
            "bench",
            RotorModel(inertia),
            AugmentedSettings(
                period_s=T,
                position_noise=noise,
                acceleration_noise=felt,
                disturbance=disturbance,
                walk_noise=walk,
            ),
            reads={"position_0": "-"},
        )
        position, turning = (np.ascontiguousarray(samples[:, i : i + 1]) for i in range(2))
        return marked(
            block, 3, states,
            lambda a, b: block.run(position[a:b], turning[a:b], np.ascontiguousarray(known[a:b, None])),
            (0, 1, 3), 4,
        )  # fmt: skip

    return run

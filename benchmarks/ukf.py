"""Our unscented filter of the four-bar beside filterpy's, on the same problem: what a step costs.

    pip install filterpy
    python benchmarks/ukf.py [--rounds 15] [--json]

A gyroscope on the coupler and an encoder on the crank, a sample of both in each step of 5 ms. filterpy gets the
mechanism twice: as its NumPy twin, and as the generated model that ours runs on, called from Python. All three
compute the same estimates, which is checked. Figures are medians of rounds that take turns.
"""

from __future__ import annotations

import json
import math
import statistics
import time
from collections.abc import Callable
from typing import Annotated

import numpy as np
import typer
from filterpy.kalman import JulierSigmaPoints, UnscentedKalmanFilter

from codegen.kernels.build import load_reference
from codegen.observers.build import build_observer
from codegen.observers.spec import ObserverSpec
from codegen.options.options import KernelOptions
from estimators.closed_loop.catalogue import observer_class
from estimators.closed_loop.settings import ObserverSettings

STEP_S, STEPS = 5e-3, 200
DEG = math.pi / 180.0
NOISE = 0.09
SPEC = ObserverSpec(
    {
        "angle": {"kind": "encoder", "angle": "crank"},
        "rate": {"kind": "gyroscope", "points": ["A", "B"]},
    },
    ("crank",),
)


def samples(built) -> tuple[np.ndarray, np.ndarray]:
    """Return start and noisy readings of the free motion, (STEPS, 2)."""
    model = built.module.Model()
    x = model.info["start"]
    model.kernel_start(x)
    states = [model.kernel_step()[1] for _ in range(STEPS)]
    exact = np.array(built.module.Model().readings(states))
    return np.array(x), exact + DEG * np.random.default_rng(0).normal(size=exact.shape)


def filterpy_run(
    at: Callable[[np.ndarray], dict], start: np.ndarray, given: np.ndarray
) -> np.ndarray:
    """Return the estimates of filterpy's filter over a model given by what it has at a state."""

    def move(x: np.ndarray, dt: float) -> np.ndarray:
        return x + dt * np.array([x[1], at(x)["zdd"][0]])

    points = JulierSigmaPoints(2, kappa=0.0)
    found = UnscentedKalmanFilter(2, 2, STEP_S, lambda x: np.array(at(x)["y"]), move, points)
    found.x, found.P = start.copy(), np.eye(2) * (5 * DEG) ** 2
    h = STEP_S
    found.Q = NOISE * np.array([[h**3 / 3, h**2 / 2], [h**2 / 2, h]])
    found.R = np.eye(2) * DEG**2
    out = np.empty((len(given), 2))
    for k, y in enumerate(given):
        found.predict()
        # points of the predicted covariance, process noise included
        found.sigmas_f = points.sigma_points(found.x, found.P)
        found.update(y)
        out[k] = found.x
    return out


def main(
    rounds: int = 15,
    as_json: Annotated[bool, typer.Option("--json")] = False,
) -> None:
    built = build_observer("four_bar", SPEC, KernelOptions(step_s=STEP_S, integrator="newmark"))
    start, given = samples(built)
    settings = ObserverSettings(
        {"angle": DEG, "rate": DEG},
        acceleration_noise=[NOISE],
        start_std=(5 * DEG, 5 * DEG),
        gate_sigma=0.0,
    )
    observer = observer_class("UKF")("crank", built.module.Model(), settings)
    twin, model = load_reference(built.path).Observed(), built.module.Model()

    def ours() -> np.ndarray:
        observer.reset()
        return observer.run(given)[:, :2]

    def at_twin(x: np.ndarray) -> dict:
        found = twin.at(x)
        twin.near = found["q"]
        return found

    steps = {
        "ours": ours,
        "filterpy, the same model": lambda: filterpy_run(lambda x: model.at(list(x)), start, given),
        "filterpy, NumPy model": lambda: filterpy_run(at_twin, start, given),
    }
    results = {name: step() for name, step in steps.items()}
    for name, result in results.items():
        worst = np.abs(result - results["ours"]).max()
        # position problems end at 1e-11
        if worst > 1e-8:
            raise SystemExit(f"{name} computes something else: off by {worst:.1e}")
    taken: dict[str, list[float]] = {name: [] for name in steps}
    for _ in range(rounds):
        for name, step in steps.items():
            begin = time.perf_counter_ns()
            step()
            taken[name].append((time.perf_counter_ns() - begin) / STEPS / 1e3)
    median = {name: statistics.median(values) for name, values in taken.items()}
    found = {f"{name} (us a step)": value for name, value in median.items()}
    found |= {f"{name} / ours": median[name] / median["ours"] for name in steps if name != "ours"}
    if as_json:
        print(json.dumps(found, indent=2))
        return
    for name, value in found.items():
        print(f"{name:44s} {value:9.2f}")


if __name__ == "__main__":
    typer.run(main)

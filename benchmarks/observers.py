"""The cost of a step of an observer beside the step of the kernel that it watches.

    python benchmarks/observers.py [--rounds 300] [--json]

The four-bar of the observer benchmark with one sensor: the crank's encoder, or the coupler's gyroscope; a sample every
1, 5, 10 or 15 steps, or none. A round runs the kernel alone and all observers over the same second of motion, in
random order; ratios are within a round. errorEKF contains that kernel's step, DEKF and UKF do not.
"""

from __future__ import annotations

import json
import os
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Hashable, Mapping
from functools import partial
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from codegen.description.mechanism import find
from codegen.kernels.build import build_kernel
from codegen.observers.build import build_observer
from codegen.observers.spec import ObserverSpec
from codegen.options.options import KernelOptions
from estimators.closed_loop.catalogue import observer_class
from estimators.closed_loop.settings import ObserverSettings
from rigloop.bench.observers.observers import ACCELERATION_NOISE, DEG, SENSORS, START_STD, STEP_S

STEPS = 200
EVERY = (0, 15, 10, 5, 1)
KINDS = ("errorEKF", "DEKF", "UKF")
OPTIONS = KernelOptions(step_s=STEP_S, integrator="newmark")
KERNEL = "kernel"
SENSORS_OF = ("encoder", "gyroscope")
BAR_KERNEL, BAR_UKF = 1.5, 6.0
Step = Callable[[], float]
Row = tuple[float, float]


def timed(begin: Callable[[], object], run: Callable[[], object]) -> Step:
    """Return what does both and says how long `run` took, ns a step."""

    def step() -> float:
        begin()
        start = time.perf_counter_ns()
        run()
        return (time.perf_counter_ns() - start) / STEPS

    return step


def kernel() -> Step:
    """Return the kernel's own steps, with the linear constraints that an observer's kernel keeps."""
    options = KernelOptions(step_s=STEP_S, integrator="newmark", presolve=False)
    module = build_kernel("four_bar", options).module
    alone = module.Kernel()
    none, out = np.zeros((STEPS, 1)), np.empty((STEPS, len(alone.outputs)))
    return timed(alone.reset, lambda: alone.run(none, out, STEPS))


def observers(kind: str) -> dict[Hashable, Step]:
    """Return the steps of each observer with a sensor of this kind, by (sensor, observer, every)."""
    spec = ObserverSpec({kind: SENSORS["four_bar"][kind]}, ("crank",))
    exact = np.array(plant(spec))
    noisy = exact + DEG * np.random.default_rng(0).normal(size=exact.shape)
    # the model's gravity is wrong, so that there is something to correct
    text = find("four_bar").read_text().replace("[0, -10, 0]", "[0, -9, 0]")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "four_bar.toml"
        path.write_text(text)
        module = build_observer(path, spec, OPTIONS).module
    settings = ObserverSettings(
        {kind: DEG}, [ACCELERATION_NOISE], (START_STD, START_STD), gate_sigma=0.0
    )
    found: dict[Hashable, Step] = {}
    for name in KINDS:
        for every in EVERY:
            samples = np.full((STEPS, 1), np.nan)
            if every:
                samples[every - 1 :: every] = noisy[every - 1 :: every]
            observer = observer_class(name)("o", module.Model(), settings)
            last = observer.run(samples)[-1]
            assert last[observer.write_ports.index("status")] == 0.0
            found[kind, name, every] = timed(observer.reset, partial(observer.run, samples))
    return found


def plant(spec: ObserverSpec) -> list[list[float]]:
    """Return exact readings after each step of the right model."""
    module = build_observer("four_bar", spec, OPTIONS).module
    model = module.Model()
    model.kernel_start(model.info["start"])
    return module.Model().readings([model.kernel_step()[1] for _ in range(STEPS)])


def compared(taken: Mapping[Hashable, list[float]], one: Hashable, other: Hashable) -> Row:
    """Return the median over rounds of what `one` takes in a round over what `other` does, and that of the least."""
    pairs = zip(taken[one], taken[other], strict=True)
    return statistics.median(a / b for a, b in pairs), min(taken[one]) / min(taken[other])


def rows(taken: Mapping[Hashable, list[float]]) -> dict[str, dict[str, Row]]:
    """Return the ratios of each sensor and rate."""
    found = {}
    for kind in SENSORS_OF:
        for every in EVERY:
            at = f"{kind}, every {every}" if every else f"{kind}, no sample"
            found[at] = {
                f"{name} / kernel": compared(taken, (kind, name, every), KERNEL) for name in KINDS
            }
            found[at]["UKF / DEKF"] = compared(taken, (kind, "UKF", every), (kind, "DEKF", every))
    return found


def main(
    rounds: int = 300,
    as_json: Annotated[bool, typer.Option("--json")] = False,
) -> None:
    variants: dict[Hashable, Step] = {KERNEL: kernel()}
    for kind in SENSORS_OF:
        variants |= observers(kind)
    taken: dict[Hashable, list[float]] = {key: [] for key in variants}
    for _ in range(rounds):
        for key in random.sample(list(variants), len(variants)):
            taken[key].append(variants[key]())
    found = rows(taken)
    alone = {"median_ns": statistics.median(taken[KERNEL]), "least_ns": min(taken[KERNEL])}
    if as_json:
        print(json.dumps({"kernel": alone, "load": os.getloadavg()[0], "ratios": found}, indent=2))
        return
    print(
        f"kernel alone: median {alone['median_ns']:.0f} ns a step, least {alone['least_ns']:.0f}; "
        f"load {os.getloadavg()[0]:.1f}\nmedian of the rounds (of the least of each); "
        f"bars: errorEKF / kernel {BAR_KERNEL}, UKF / DEKF {BAR_UKF}"
    )
    columns = next(iter(found.values()))
    print(" " * 22 + "".join(f"{name:>20s}" for name in columns))
    for at, row in found.items():
        print(f"{at:22s}" + "".join(f"{a:12.2f} ({b:.2f}) " for a, b in row.values()))


if __name__ == "__main__":
    typer.run(main)

"""The observer benchmark: a simulated mechanism as the real one, exact sensors with noise, and observers whose
model has a wrong gravity.

Four-bar and five-bar, 5 ms steps for 10 s; gravity 10 m/s^2, in the model 9 or 6; one sample every 1, 5, 10 or 15
steps; 1 deg and 1 deg/s of noise. Figure of merit: RMS error of the independent rates, averaged over runs.

Source: Sanjurjo, Blanco, Torres, Naya 2015, Testing the efficiency and accuracy of multibody-based state observers;
Sanjurjo et al. 2017, Accuracy and efficiency comparison of various nonlinear Kalman filters applied
to multibody models, doi:10.1007/s11071-017-3354-z.
"""

from __future__ import annotations

import importlib.util
import math
import os
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from estimators.closed_loop.catalogue import observer_class, observers
from rig_configs.mistakes import ConfigError, Mistake, near

Array = NDArray[np.float64]

STEP_S, STEPS = 5e-3, 2000
GRAVITY, ERRORS, RATES = 10.0, (1.0, 4.0), (1, 5, 10, 15)
DEG = math.pi / 180.0
SENSOR_STD = {"encoder": DEG, "gyroscope": DEG}
ACCELERATION_NOISE = 100.0 * DEG * 0.0035 * 15.0  # density, rad^2/s^3
START_STD = 5.0 * DEG
RECOMMENDED = ("errorEKF", "DEKF", "UKF")
FILTERS = (*RECOMMENDED, *(name for name in observers() if name not in RECOMMENDED))
SMOOTHER = (
    "smoother"  # sees the whole history: what any filter could reach at best; takes seconds a run
)
# test -> mechanism, kind of its sensors
TESTS = {
    1: ("five_bar", "gyroscope"),
    2: ("five_bar", "encoder"),
    3: ("four_bar", "gyroscope"),
    4: ("four_bar", "encoder"),
}
INDEPENDENT = {"four_bar": ("crank",), "five_bar": ("left", "right")}
SENSORS: dict[str, dict[str, dict[str, Any]]] = {
    "four_bar": {
        "gyroscope": {"kind": "gyroscope", "points": ["A", "B"]},
        "encoder": {"kind": "encoder", "angle": "crank"},
    },
    "five_bar": {
        "gyroscope_left": {"kind": "gyroscope", "points": ["L", "P"]},
        "gyroscope_right": {"kind": "gyroscope", "points": ["P", "R"]},
        "encoder_left": {"kind": "encoder", "angle": "left"},
        "encoder_right": {"kind": "encoder", "angle": "right"},
    },
}


@dataclass(frozen=True)
class Order:
    """The runs that are wanted."""

    tests: tuple[int, ...]
    errors: tuple[float, ...]
    rates: tuple[int, ...]
    filters: tuple[str, ...]
    runs: int
    seed: int
    jobs: int


@dataclass(frozen=True)
class Row:
    """One case: RMS error of the rates in rad/s, mean over runs and its standard error.

    `failed` runs ended with a position that could not be found; `consistent` is the share of samples
    whose squared innovation lies within its 95 % bounds (NaN: it has none); `step_ns` is the least over
    runs, of a whole cycle in this process.
    """

    test: int
    gravity_error_m_s2: float
    every: int
    filter: str
    rms_rad_s: float
    standard_error_rad_s: float
    failed: int
    consistent: float
    step_ns: float


@dataclass(frozen=True)
class Outcome:
    """All cases, and how long they took."""

    rows: list[Row]
    alone_rad_s: dict[
        str, float
    ]  # "<test> <gravity error>" -> RMS of the model without an observer
    runs: int
    seconds: float
    building_s: float

    @property
    def good(self) -> bool:
        """True: no filter of the recommended kinds ever lost the four-bar."""
        return not any(
            row.failed for row in self.rows if row.test in (3, 4) and row.filter in RECOMMENDED
        )


def order(
    *, quick: bool, runs: int, filters: Iterable[str] | None, seed: int, jobs: int | None
) -> Order:
    """The order of a command line.

    Raises
    ------
    ConfigError
        An observer of no known name, or the smoother without its library.
    """
    wanted = tuple(filters or FILTERS)
    known = (*FILTERS, SMOOTHER)
    mistakes = [
        Mistake("rigloop bench observers", "--filter", "no such observer", near(name, known), name)
        for name in wanted
        if name not in known
    ]
    if SMOOTHER in wanted and importlib.util.find_spec("gtsam") is None:
        remedy = "needs GTSAM: pip install rigloop[smoother]"
        mistakes.append(
            Mistake("rigloop bench observers", "--filter", "the smoother", remedy, SMOOTHER)
        )
    if mistakes:
        raise ConfigError(mistakes)
    cores = len(os.sched_getaffinity(0))
    if quick:
        return Order((3, 4), ERRORS, (1, 10), wanted, min(runs, 3), seed, jobs or cores)
    return Order(tuple(TESTS), ERRORS, RATES, wanted, runs, seed, jobs or cores)


def run_bench(wanted: Order, console: Console) -> Outcome:
    """Build what is missing, run every case, one process a core."""
    begin = time.perf_counter()
    mechanisms = sorted({TESTS[test][0] for test in wanted.tests})
    cases = [(t, e, f) for t in wanted.tests for e in wanted.errors for f in (*wanted.filters, "")]
    rows: list[Row] = []
    alone: dict[str, float] = {}
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with (
        Progress(*columns, console=console, transient=True) as progress,
        ProcessPoolExecutor(wanted.jobs) as pool,
    ):
        building: list[Future[Any]] = [pool.submit(truth, m) for m in mechanisms]
        building += [pool.submit(build, m, e) for m in mechanisms for e in wanted.errors]
        bar = progress.add_task("building models", total=len(building))
        for done in as_completed(building):
            done.result()
            progress.advance(bar)
        built = time.perf_counter()
        bar = progress.add_task("running observers", total=len(cases))
        running = [pool.submit(run_case, *case, wanted) for case in cases]
        for finished in as_completed(running):
            found = finished.result()
            rows += [row for row in found if row.filter]
            alone |= {
                f"{r.test} {r.gravity_error_m_s2:g}": r.rms_rad_s for r in found if not r.filter
            }
            progress.advance(bar)
    rows.sort(key=lambda r: (r.test, r.gravity_error_m_s2, wanted.filters.index(r.filter), r.every))
    end = time.perf_counter()
    return Outcome(rows, dict(sorted(alone.items())), wanted.runs, end - begin, built - begin)


def run_case(test: int, error: float, name: str, wanted: Order) -> list[Row]:
    """One observer on one test at all rates; without a name, the model alone."""
    from estimators.closed_loop.settings import ObserverSettings

    mechanism, kind = TESTS[test]
    states, readings, names = truth(mechanism)
    n_z = len(INDEPENDENT[mechanism])
    uses = np.array([sensor.startswith(kind) for sensor in names])
    settings = ObserverSettings(
        sensor_std={sensor: SENSOR_STD[sensor.split("_")[0]] for sensor in names},
        acceleration_noise=[ACCELERATION_NOISE] * n_z,
        start_std=[START_STD] * (2 * n_z),
        transition="published",
        gate_sigma=0.0,
    )
    make = _smoother if name == SMOOTHER else _filter(name or "errorEKF")
    estimate = make(_model(mechanism, error), settings)
    rows = []
    for every in wanted.rates if name else (0,):
        errors, failed, within, spent = [], 0, [], []
        for run in range(wanted.runs if name else 1):
            # the same noise for every observer
            noise = np.random.default_rng([wanted.seed, test, run]).normal(size=readings.shape)
            samples = np.full(readings.shape, np.nan)
            if every:
                taken = slice(every - 1, None, every)
                std = np.array([SENSOR_STD[sensor.split("_")[0]] for sensor in names])
                samples[taken, uses] = (readings + std * noise)[taken, uses]
            begin = time.perf_counter()
            found = estimate(samples)
            spent.append((time.perf_counter() - begin) / STEPS)
            error_rad_s = found.states[:, n_z : 2 * n_z] - states[:, n_z:]
            errors.append(math.sqrt(float(np.mean(error_rad_s**2))))
            failed += found.lost
            within.append(found.consistent)
        spread = float(np.std(errors, ddof=1)) / math.sqrt(len(errors)) if len(errors) > 1 else 0.0
        rows.append(Row(
            test, error, every, name, float(np.mean(errors)), spread, failed, float(np.mean(within)),
            1e9 * min(spent),
        ))  # fmt: skip
    return rows


@dataclass(frozen=True)
class Estimate:
    """States of each step, whether the mechanism was lost, share of `nis` within its bounds."""

    states: Array
    lost: bool
    consistent: float


def _filter(name: str) -> Callable[[Any, Any], Callable[[Array], Estimate]]:
    def make(model: Any, settings: Any) -> Callable[[Array], Estimate]:
        observer = observer_class(name)("bench", model, settings)
        at = {port: column for column, port in enumerate(observer.write_ports)}

        def run(samples: Array) -> Estimate:
            observer.reset()
            out = observer.run(samples)
            has = out[:, at["used"]] > 0
            nis, low, high = (out[has, at[port]] for port in ("nis", "nis_low", "nis_high"))
            inside = float(np.mean((nis >= low) & (nis <= high))) if has.any() else 0.0
            return Estimate(out, bool(out[-1, at["status"]] != 0.0), inside)

        return run

    return make


def _smoother(model: Any, settings: Any) -> Callable[[Array], Estimate]:
    from estimators.closed_loop.batch_smoother import smooth

    first_guess = _filter("DEKF")(model, settings)

    def run(samples: Array) -> Estimate:
        first = first_guess(samples).states[:, : len(model.info["state_names"])].copy()
        try:
            return Estimate(smooth(model, samples, settings, first).states[1:], False, float("nan"))
        except ArithmeticError:
            return Estimate(first, True, float("nan"))

    return run


@cache
def truth(mechanism: str) -> tuple[Array, Array, list[str]]:
    """States (z, zd) and exact readings after each step, and the sensors' names.

    Ten steps of a fourth-order rule within each: 1e-7 rad of the exact motion after 10 s.
    """
    from codegen.kernels.build import build_kernel
    from codegen.options.options import KernelOptions

    options = KernelOptions(step_s=STEP_S, formulation="independent", substeps=10)
    module = build_kernel(mechanism, options).module
    kernel = module.Kernel()
    names = [name for name, _ in module.model_info()["coordinates"]]
    z = [names.index(name) for name in INDEPENDENT[mechanism]]
    kernel.reset()
    states = np.empty((STEPS, 2 * len(z)))
    for row in states:
        status = kernel.step()
        assert status == 0, status
        q, qd = kernel.q, kernel.qd
        row[:] = [q[i] for i in z] + [qd[i] for i in z]
    model = _model(mechanism, ERRORS[0])  # sensors do not feel gravity
    return states, np.array(model.readings(states.tolist())), model.info["sensor_names"]


def _model(mechanism: str, error: float) -> Any:
    from codegen.kernels.build import load

    return load(Path(build(mechanism, error))).Model()


@cache
def build(mechanism: str, error: float) -> str:
    """Path of the observer model of a mechanism whose gravity is too small, from the cache when it is there."""
    from codegen.description.mechanism import find
    from codegen.observers.build import build_observer
    from codegen.observers.spec import ObserverSpec
    from codegen.options.options import KernelOptions

    text = find(mechanism).read_text()
    wrong = text.replace("[0, -10, 0]", f"[0, {error - GRAVITY!r}, 0]")
    assert wrong != text
    # trapezoidal rule, as published
    options = KernelOptions(step_s=STEP_S, integrator="newmark")
    spec = ObserverSpec(SENSORS[mechanism], INDEPENDENT[mechanism])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{mechanism}.toml"
        path.write_text(wrong)
        return str(build_observer(path, spec, options).path)


def table(outcome: Outcome) -> list[tuple[int, float, str, Sequence[Row]]]:
    """Rows by test, error and observer, as the figure of merit is published."""
    groups: dict[tuple[int, float, str], list[Row]] = {}
    for row in outcome.rows:
        groups.setdefault((row.test, row.gravity_error_m_s2, row.filter), []).append(row)
    return [(*key, rows) for key, rows in groups.items()]

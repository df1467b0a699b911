"""Errors of generated kernels against exact motions over the step, as a picture and a table.

    python benchmarks/convergence.py [--picture convergence.png] [--json FILE]

Positions, rates and reactions of the reference mechanisms, each against the exact solution in
`tests/data/references`, at steps that are halved. The order is the slope between the two smallest
steps: 2 is what the method promises.

Real time: no; a benchmark. Needs gcc. Each step length is a kernel of its own: some three minutes
the first time.
"""

from __future__ import annotations

import json
import math
import tempfile
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from matplotlib.figure import Figure
from peers.exact import REFERENCES, reference
from rich.console import Console
from rich.progress import track

from codegen.description.n_four_bar import n_four_bar
from codegen.kernels.build import build_kernel
from codegen.options.options import KernelOptions
from rigloop.display.tables import Table, figures, words
from rigloop.display.tables import show as show_table

RULES = ("generalized_alpha", "trapezoidal")
Show = Callable[[Any], float]


@dataclass(frozen=True)
class Case:
    """A mechanism and its exact motion; `watch` has what of a stepper a column is compared with."""

    title: str
    mechanism: Path | str  # of a file, or a whole text
    exact: str
    steps_ms: tuple[float, ...]
    seconds: float
    watch: dict[str, Show]
    guide: tuple[float, ...] = ()
    signal: Callable[[float], dict[str, float]] | None = None


def at(name: str, rate: bool = False) -> Show:
    """A coordinate of the stepper, or its rate."""

    def show(stepper: Any) -> float:
        place = stepper.places[name]
        return (stepper.kernel.qd if rate else stepper.kernel.q)[place]

    return show


CASES = (
    Case(
        "pendulum", REFERENCES / "pendulum.toml", "pendulum", (4, 2, 1, 0.5), 10.0,
        {"theta": at("theta"), "omega": at("theta", True),
         "tension": lambda s: -s.kernel.reaction[0]},
        guide=(1.0, 0.0, 0.0),
    ),
    Case(
        "four-bar through its singular positions", n_four_bar(1), "four_bar_1", (4, 2, 1, 0.5), 10.0,
        {"x_B0": at("B0_x"), "y_B0": at("B0_y"), "vx_B0": at("B0_x", True)},
    ),
    Case(
        "slider-crank", REFERENCES / "crank_free.toml", "slider_crank_free",
        (1, 0.5, 0.25, 0.125), 2.0,
        {"theta": at("theta"), "omega": at("theta", True),
         "N_guide": lambda s: s.kernel.reaction[0]},
        guide=(0.0, 0.0, 0.0),
    ),
    Case(
        "spatial steering, driven by a torque", "steering_rack", "steering_torque_driven",
        (5, 2, 1, 0.5), 5.0,
        {"theta": at("wheel"), "omega": at("wheel", True), "y_rack": at("rack"),
         "delta_L": at("delta_left")},
        signal=lambda t: {"input/force/driver/torque_nm": 6.0 * math.sin(math.pi * t)},
    ),
)  # fmt: skip


class Stepper:
    """A kernel of one step length, and where its coordinates are."""

    def __init__(self, mechanism: Path | str, step_ms: float, rule: str) -> None:
        options = KernelOptions(step_s=step_ms * 1e-3, integrator=rule)
        module = build_kernel(mechanism, options).module
        self.kernel = module.Kernel()
        names = [name for name, _ in module.model_info()["coordinates"]]
        self.places = {name: place for place, name in enumerate(names)}


def errors(case: Case, step_ms: float, rule: str, folder: Path) -> dict[str, float]:
    """Largest error of each watched quantity at the times of the reference."""
    mechanism = case.mechanism
    if isinstance(mechanism, str) and "\n" in mechanism:
        mechanism = folder / f"{tomllib.loads(mechanism)['name']}.toml"
        mechanism.write_text(str(case.mechanism))
    stepper, exact = Stepper(mechanism, step_ms, rule), reference(case.exact)
    kernel, times = stepper.kernel, exact["t"]
    times = times[times <= case.seconds + 1e-9]
    found = dict.fromkeys(case.watch, 0.0)
    steps = 0
    kernel.reset(*case.guide)
    for k, time_s in enumerate(times):
        while steps * step_ms < time_s * 1e3 - 1e-6:
            steps += 1
            if case.signal:
                kernel.signals = case.signal(steps * step_ms * 1e-3)
            if kernel.step(*case.guide):
                raise RuntimeError(f"{case.title}, {step_ms} ms: status {kernel.status}")
        for name, show in case.watch.items():
            found[name] = max(found[name], abs(show(stepper) - exact[name][k]))
    return found


def draw(found: dict[tuple[str, str], dict[str, list[float]]], path: Path) -> None:
    figure = Figure(figsize=(13, 3.6 * len(RULES)), layout="constrained")
    axes = figure.subplots(len(RULES), len(CASES), squeeze=False)
    for row, rule in zip(axes, RULES, strict=True):
        for panel, case in zip(row, CASES, strict=True):
            steps = np.array(case.steps_ms)
            for name, errors_of in found[case.title, rule].items():
                panel.loglog(steps, errors_of, "o-", ms=4, lw=1.2, label=name)
            least = min(e[-1] for e in found[case.title, rule].values())
            panel.loglog(steps, 0.5 * least * (steps / steps[-1]) ** 2, "k:", lw=1, label="order 2")
            panel.set_title(f"{case.title}\n{rule.replace('_', '-')}", fontsize=9)
            panel.set_xlabel("step, ms", fontsize=8)
            panel.set_xticks(steps, [f"{step:g}" for step in steps], minor=False)
            panel.set_xticks([], minor=True)
            panel.tick_params(labelsize=8)
            panel.grid(True, which="major", lw=0.3)
            panel.legend(fontsize=7)
        row[0].set_ylabel("largest error, SI", fontsize=8)
    figure.savefig(path, dpi=110)


def main(
    picture: Path = Path("convergence.png"),
    as_json: Annotated[
        Path | None, typer.Option("--json", help="write all errors to a file")
    ] = None,
) -> None:
    console = Console()
    found: dict[tuple[str, str], dict[str, list[float]]] = {}
    work = [(case, rule, step) for case in CASES for rule in RULES for step in case.steps_ms]
    with tempfile.TemporaryDirectory() as name:
        for case, rule, step in track(work, "building and stepping", console=console):
            mine = found.setdefault((case.title, rule), {column: [] for column in case.watch})
            for column, error in errors(case, step, rule, Path(name)).items():
                mine[column].append(error)
    rows = []
    for case in CASES:
        for rule in RULES:
            for column, mine in found[case.title, rule].items():
                order = math.log(mine[-2] / mine[-1]) / math.log(
                    case.steps_ms[-2] / case.steps_ms[-1]
                )
                step = f"{case.steps_ms[-1]:g}"
                rows.append([case.title, rule, column, step, f"{mine[-1]:.1e}", f"{order:.2f}"])
    heads = [*words("mechanism", "rule", "quantity"), *figures("step, ms", "error", "order")]
    show_table(Table(heads, rows, "largest error at the smallest step, and order"), console)
    draw(found, picture)
    console.print(f"picture: {picture}")
    if as_json:
        errors_of = [
            {"mechanism": case.title, "rule": rule, "steps_ms": case.steps_ms, "errors": found[case.title, rule]}
            for case in CASES
            for rule in RULES
        ]  # fmt: skip
        as_json.write_text(json.dumps(errors_of, indent=1) + "\n")


if __name__ == "__main__":
    typer.run(main)

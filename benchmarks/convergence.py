"""Errors of generated kernels against exact motions over the step, as a picture and a table.

    python benchmarks/convergence.py [--trees] [--picture convergence.png] [--json FILE]

Positions, rates and reactions of the reference mechanisms, each against the exact solution in
`tests/data/references`, at steps that are halved. The order is the slope between the two smallest
steps: 2 is what the method promises. With `--trees`, the formulations in joint coordinates with their
integrators, of orders 1, 2 and 4.

Real time: no; a benchmark. Needs gcc. Each step length is a kernel of its own: some three minutes
the first time.
"""

from __future__ import annotations

import json
import math
import sys
import tempfile
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
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

COLUMNS = 4  # of the picture
Show = Callable[[Any], float]


@dataclass(frozen=True)
class Rule:
    """A formulation with an integrator, and the order that it promises."""

    integrator: str
    formulation: str = "ali3p"
    order: int = 2

    @property
    def title(self) -> str:
        return f"{self.formulation}, {self.integrator.replace('_', '-')}"


RULES = (Rule("generalized_alpha"), Rule("trapezoidal"))
OF_TREES = (
    Rule("semi_implicit_euler", "articulated", 1), Rule("trapezoidal", "articulated"),
    Rule("rk4", "articulated", 4), Rule("rk4", "riccati", 4), Rule("rk4", "composite", 4),
    Rule("trapezoidal", "semi_recursive"),
)  # fmt: skip


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
    rules: tuple[Rule, ...] = RULES


def shown(port: str, plus: float = 0.0) -> Show:
    """An output of the stepper, and what a column of the reference has on top."""
    return lambda stepper: stepper.kernel.outputs[port] + plus


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


def tree_cases(folder: Path) -> tuple[Case, ...]:
    """The branch pendulum and the steering, in joint coordinates."""
    sys.path.append(str(Path(__file__).parents[1] / "tests" / "parts"))  # mechanisms of the tests
    from mechanisms.written_rods import branches

    branch = Case(
        "branches of four pendulums", branches().save(folder), "branch_pendulum", (8, 4, 2, 1), 5.0,
        {"theta7": shown("aground7/angle_rad"), "Fx_ground7": shown("pground7/fx_n"), "Fy_35": shown("p35/fy_n")},
        rules=OF_TREES,
    )  # fmt: skip
    # within a step the input is linear, which leaves rk4 order two
    driven = (Rule("rk4", "composite"), OF_TREES[-1])
    angles = {"theta": at("wheel"), "omega": at("wheel", True), "delta_L": at("delta_left")}
    steering = replace(CASES[-1], title="spatial steering", watch=angles, rules=driven)
    return branch, steering


class Stepper:
    """A kernel of one step length, and where its coordinates are."""

    def __init__(self, mechanism: Path | str, step_ms: float, rule: Rule) -> None:
        options = KernelOptions(
            step_s=step_ms * 1e-3, formulation=rule.formulation, integrator=rule.integrator
        )
        module = build_kernel(mechanism, options).module
        self.kernel = module.Kernel()
        names = [name for name, _ in module.model_info()["coordinates"]]
        self.places = {name: place for place, name in enumerate(names)}


def errors(case: Case, step_ms: float, rule: Rule, folder: Path) -> dict[str, float]:
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


Found = dict[tuple[str, Rule], dict[str, list[float]]]


def draw(cases: Sequence[Case], found: Found, path: Path) -> None:
    """Draw a panel for each case and rule, with a dotted line of the order that is promised."""
    every = [(case, rule) for case in cases for rule in case.rules]
    rows = math.ceil(len(every) / COLUMNS)
    figure = Figure(figsize=(13, 3.6 * rows), layout="constrained")
    panels = figure.subplots(rows, COLUMNS, squeeze=False).ravel()
    for panel, (case, rule) in zip(panels, every, strict=False):
        steps = np.array(case.steps_ms)
        for name, errors_of in found[case.title, rule].items():
            panel.loglog(steps, errors_of, "o-", ms=4, lw=1.2, label=name)
        least = min(e[-1] for e in found[case.title, rule].values())
        promised = 0.5 * least * (steps / steps[-1]) ** rule.order
        panel.loglog(steps, promised, "k:", lw=1, label=f"order {rule.order}")
        panel.set_title(f"{case.title}\n{rule.title}", fontsize=9)
        panel.set_xlabel("step, ms", fontsize=8)
        panel.set_ylabel("largest error, SI", fontsize=8)
        panel.set_xticks(steps, [f"{step:g}" for step in steps], minor=False)
        panel.set_xticks([], minor=True)
        panel.tick_params(labelsize=8)
        panel.grid(True, which="major", lw=0.3)
        panel.legend(fontsize=7)
    for panel in panels[len(every) :]:
        panel.set_axis_off()
    figure.savefig(path, dpi=110)


def main(
    trees: Annotated[
        bool, typer.Option("--trees", help="formulations in joint coordinates")
    ] = False,
    picture: Path = Path("convergence.png"),
    as_json: Annotated[
        Path | None, typer.Option("--json", help="write all errors to a file")
    ] = None,
) -> None:
    console = Console()
    found: Found = {}
    with tempfile.TemporaryDirectory() as name:
        cases = tree_cases(Path(name)) if trees else CASES
        work = [
            (case, rule, step) for case in cases for rule in case.rules for step in case.steps_ms
        ]
        for case, rule, step in track(work, "building and stepping", console=console):
            mine = found.setdefault((case.title, rule), {column: [] for column in case.watch})
            for column, error in errors(case, step, rule, Path(name)).items():
                mine[column].append(error)
    rows = []
    for case in cases:
        for rule in case.rules:
            for column, mine in found[case.title, rule].items():
                order = math.log(mine[-2] / mine[-1]) / math.log(
                    case.steps_ms[-2] / case.steps_ms[-1]
                )
                step = f"{case.steps_ms[-1]:g}"
                rows.append(
                    [case.title, rule.title, column, step, f"{mine[-1]:.1e}", f"{order:.2f}"]
                )
    heads = [*words("mechanism", "rule", "quantity"), *figures("step, ms", "error", "order")]
    show_table(Table(heads, rows, "largest error at the smallest step, and order"), console)
    draw(cases, found, picture)
    console.print(f"picture: {picture}")
    if as_json:
        errors_of = [
            {"mechanism": case.title, "rule": rule.title, "steps_ms": case.steps_ms,
             "errors": found[case.title, rule]}
            for case in cases
            for rule in case.rules
        ]  # fmt: skip
        as_json.write_text(json.dumps(errors_of, indent=1) + "\n")


if __name__ == "__main__":
    typer.run(main)

"""The bound of a step beside measured steps: is any longer, and is the bound near?

    python benchmarks/bound.py [--steps 10000000] [--passes 3] [--picture FILE] [--json FILE] [KERNEL ...]

Every kernel steps through one long motion, all calls timed one by one, several times over. The passes are the same to
the last bit, so that a step costs the same in each, and what the host takes strikes one pass and not the others: the
time of a step is its least. `measured` has the longest of these; `with holes` the longest of a single pass.

A kernel with a tolerance is bounded at the cap of its iterations, and once more, as `usual`, at those that most of its
steps take.

Exit code 1: a step took longer than its bound, or a bound is beyond three times the median; with a tolerance, the bound
at the usual iterations. Needs gcc.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from codegen.bounds.machine import machine_costs
from codegen.bounds.step_bound import step_bound
from codegen.description.mechanism import find, load, ports
from codegen.kernels.trial import SINGLES, Motion, Swing, Trial
from codegen.options.options import KernelOptions
from rigloop.display.tables import Table, figures, show, words

Array = NDArray[np.float32]
FREE_S = 20.0  # a mechanism without a guide starts again after this time: it may come to rest
MOST_OF_MEDIAN = 3.0
CASES = {
    "steering_26": KernelOptions(),
    "steering_column": KernelOptions(),
    "brake_pedal": KernelOptions(),
    "gas_pedal": KernelOptions(),
    "four_bar": KernelOptions(),
    "governor": KernelOptions(),
    "steering_rack_guided": KernelOptions(),
    "squeezer": KernelOptions(step_s=1e-5),
    "steering_26, tolerance": KernelOptions(iterations=4, tolerance=1e-6),
    "four_bar, index1 rk4": KernelOptions(formulation="index1", integrator="rk4"),
    "governor, independent rk4": KernelOptions(formulation="independent", integrator="rk4"),
    "steering_26, semi_recursive": KernelOptions(formulation="semi_recursive"),
    "brake_pedal, composite": KernelOptions(formulation="composite"),
}

LOOKS = 60  # at the iterations of a kernel with a tolerance


@dataclass(frozen=True)
class Row:
    """One kernel: its bound and the times of its steps, ns."""

    kernel: str
    bound_ns: float
    usual_ns: float
    least: Array
    longest_pass_ns: float

    @property
    def longest_ns(self) -> float:
        return float(np.max(self.least))

    @property
    def median_ns(self) -> float:
        return float(np.median(self.least))

    @property
    def is_good(self) -> bool:
        is_near = self.usual_ns <= MOST_OF_MEDIAN * self.median_ns
        return self.longest_ns < self.bound_ns and is_near

    def facts(self) -> dict[str, Any]:
        """The figures of the row."""
        return {
            "kernel": self.kernel,
            "steps": len(self.least),
            "bound_ns": self.bound_ns,
            "bound_at_usual_iterations_ns": self.usual_ns,
            "longest_ns": self.longest_ns,
            "longest_with_holes_ns": self.longest_pass_ns,
            "median_ns": self.median_ns,
            "beyond": int(np.sum(self.least >= self.bound_ns)),
            "is_good": self.is_good,
        }


def measure(kernel: str, steps: int, passes: int) -> Row:
    """Step one kernel through its motion, several times over."""
    mechanism = load(find(kernel.partition(",")[0]))
    options = CASES[kernel]
    reads = ports(mechanism)[0]
    swings = {
        reads[3 * k]: Swing(0.3 if guide.coordinate.unit == "rad" else 0.03, 0.7)
        for k, guide in enumerate(mechanism.system.guides)
    }
    trial, motion = Trial(mechanism, options), Motion(swings, options.step_s, 1)
    part = steps if swings else min(steps, round(FREE_S / options.step_s))
    least, longest = np.full(steps, math.inf, np.float32), 0.0
    for number in range(passes):
        piece = (
            SINGLES * (number + 1) // passes
        )  # calls after Python are not warm: elsewhere in each pass
        for first in range(0, steps, part):
            times = trial.times(motion, min(part, steps - first), piece)
            longest = max(longest, float(np.max(times)))
            here = least[first : first + part]
            np.minimum(here, times, out=here, casting="same_kind")
    costs, path = machine_costs(), find(kernel.partition(",")[0])
    usual = options
    if options.tolerance:
        usual = replace(options, iterations=usual_iterations(trial, motion))
    bounds = [step_bound(path, each, costs).bound_ns for each in (options, usual)]
    return Row(kernel, bounds[0], bounds[1], least, longest)


def usual_iterations(trial: Trial, motion: Motion) -> int:
    """Return the iterations that most steps take."""
    seen = []
    for look in range(LOOKS):
        trial.times(motion, 1 + 37 * look)
        seen.append(trial.iterations())
    return round(float(np.median(seen)))


def draw(rows: list[Row], picture: Path) -> None:
    """Draw a histogram of each kernel with its bound in it."""
    from matplotlib.figure import Figure

    from rigloop.plots.figures import BLUE, GREY, ORANGE

    high = math.ceil(len(rows) / 2)
    figure = Figure(figsize=(11, 2.3 * high), layout="constrained")
    for place, row in enumerate(rows):
        axes = figure.add_subplot(high, 2, place + 1)
        most = 1.08 * max(row.bound_ns, row.longest_ns, MOST_OF_MEDIAN * row.median_ns)
        axes.hist(row.least, bins=np.linspace(0.0, most, 240).tolist(), color=BLUE)
        axes.axvline(row.bound_ns, color=ORANGE, label=f"bound {row.bound_ns:.0f} ns")
        axes.axvline(row.longest_ns, color=BLUE, ls=":", label=f"longest {row.longest_ns:.0f} ns")
        thrice = MOST_OF_MEDIAN * row.median_ns
        axes.axvline(thrice, color=GREY, ls="--", label=f"3 x median {thrice:.0f} ns")
        axes.set_yscale("log")
        axes.set_title(f"{row.kernel}: {len(row.least):.0e} steps", fontsize=9)
        axes.set_xlabel("time of a step, ns", fontsize=8)
        axes.legend(fontsize=7)
    figure.savefig(picture, dpi=110)


def main() -> int:
    """Measure, print, judge."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("kernels", nargs="*", help=f"of {', '.join(CASES)}; all without one")
    parser.add_argument("--steps", type=int, default=10_000_000)
    parser.add_argument("--passes", type=int, default=3)
    parser.add_argument("--core", type=int, help="pin to this core")
    parser.add_argument("--picture", type=Path, help="write histograms here: .png or .svg")
    parser.add_argument("--json", type=Path, help="write the figures here as well")
    options = parser.parse_args()
    if options.core is not None:
        os.sched_setaffinity(0, {options.core})
    rows = [measure(name, options.steps, options.passes) for name in options.kernels or CASES]
    heads = [*words("kernel"), *figures("bound ns", "usual", "measured", "with holes", "median")]
    heads += figures("bound / median", "usual / median")
    shown = [
        [
            row.kernel,
            f"{row.bound_ns:.0f}",
            f"{row.usual_ns:.0f}",
            f"{row.longest_ns:.0f}",
            f"{row.longest_pass_ns:.0f}",
            f"{row.median_ns:.0f}",
            f"{row.bound_ns / row.median_ns:.2f}",
            f"{row.usual_ns / row.median_ns:.2f}",
        ]
        for row in rows
    ]
    show(Table(heads, shown), Console())
    if options.picture:
        draw(rows, options.picture)
    if options.json:
        options.json.write_text(json.dumps([row.facts() for row in rows], indent=1) + "\n")
    return int(not all(row.is_good for row in rows))


if __name__ == "__main__":
    sys.exit(main())

"""The display of `rigloop bench flexible`: a table of forces, and a picture of them."""

from __future__ import annotations

from pathlib import Path

import matplotlib
from rich.console import Console

from rigloop.bench.flexible.flexible import (
    MOST_PERCENT,
    SECONDS,
    SETTLED_S,
    Estimate,
    Motion,
    Outcome,
)
from rigloop.bench.flexible.gate import CASES
from rigloop.bench.flexible.vehicle import FORCES
from rigloop.display.tables import Cell, Table, Tone, Toned, figures, words
from rigloop.display.tables import show as show_table
from rigloop.display.verdict import paragraph, show_verdict
from rigloop.plots.figures import BLUE, INK, STYLE, new_figure


def show(outcome: Outcome, console: Console) -> None:
    """Print size and error of each force, and the standard deviations that both filters state."""
    heads = [
        *words("force"),
        *figures("RMS (N)", "one sample (N)", "error (N)", "%", "std (N)", "rigid std (N)"),
    ]
    shown: list[list[Cell]] = [
        [
            force.name, f"{force.rms_n:.0f}", f"{force.seen_n:.1f}", f"{force.error_n:.1f}",
            f"{force.percent:.2f}" if force.percent <= MOST_PERCENT else Toned(f"{force.percent:.2f}", Tone.BAD),
            f"{force.std_n:.1f}", f"{force.rigid_std_n:.0f}",
        ]
        for force in outcome.forces
    ]  # fmt: skip
    show_table(Table(heads, shown), console)
    first = outcome.refused.partition(";")[0]
    paragraph(
        f"Errors are RMS values from {SETTLED_S:g} s on, against a reference with 64 modes; the limit is "
        f"{MOST_PERCENT:g} % for each force. The column 'one sample' is the noise of one sample of all gauges, "
        f"expressed as a constant force. The NIS is {outcome.nis:.2f} per sample, and a step takes "
        f"{outcome.step_us:.0f} µs. The column 'rigid std' is the standard deviation that a rigid filter states "
        f"{SECONDS:g} s after it started with the result of the flexible one; it continues to grow. The "
        f"observability test refuses the rigid filter: {first}. That test decides correctly in {outcome.gate_held} "
        f"of {len(CASES)} cases.",
        console,
    )
    lost = [f"{f.name}: {f.percent:.1f} % off" for f in outcome.forces if f.percent > MOST_PERCENT]
    show_verdict(outcome.good, lost, console)


def draw(path: Path, motion: Motion, found: Estimate) -> None:
    """Draw the six forces and their estimates over time, as .png, .svg or .pdf."""
    with matplotlib.rc_context(STYLE):
        figure = new_figure(9.2, 7.4, hspace=0.45)
        figure.subplots_adjust(wspace=0.25)
        axes = figure.subplots(3, 2)
        for i, (axis, name) in enumerate(zip(axes.flat, FORCES, strict=True)):
            axis.plot(motion.t_s, motion.forces[:, i], color=INK, label="force")
            axis.plot(motion.t_s, found.forces[:, i], color=BLUE, lw=0.8, label="estimate")
            axis.set_title(name.removeprefix("wrench/"), loc="left", fontsize=10, color=INK)
            axis.set_ylabel("N")
            inside = motion.forces[:, i]
            room = 0.2 * (inside.max() - inside.min())
            axis.set_ylim(inside.min() - room, inside.max() + room)
        axes[2, 0].set_xlabel("time (s)")
        axes[2, 1].set_xlabel("time (s)")
        axes[0, 1].legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2, borderaxespad=0.1)
        figure.savefig(path, dpi=150)

"""The display of `rigloop bench two-stage`: a table beside the reference, and one picture a case."""

from __future__ import annotations

from pathlib import Path

import matplotlib
import numpy as np
from rich.console import Console

from rigloop.bench.two_stage.two_stage import (
    CASES,
    OWN_NOISE,
    PERIOD_S,
    PUBLISHED_S,
    SLOW,
    TUNED,
    TWO_STAGE,
    Motion,
    Row,
    observers,
    simulate,
)
from rigloop.display.tables import Cell, Table, Tone, Toned, figures, words
from rigloop.display.tables import show as show_table
from rigloop.display.verdict import paragraph
from rigloop.plots.figures import BLUE, GREEN, GREY, INK, ORANGE, STYLE, new_figure

UNITS = ("rad/s", "rad/s²", "N")
COLOURS = {TWO_STAGE: BLUE, OWN_NOISE: GREEN, TUNED: ORANGE, SLOW: GREY}


def show(rows: list[Row], runs: int, console: Console) -> None:
    """Print RMS errors of rate, acceleration and force, in brackets the reference's."""
    heads = [*words("case", "filter"), *figures(*UNITS, "µs a step")]
    show_table(Table(heads, [_cells(row) for row in rows]), console)
    fastest = min(row.step_us for row in rows if row.filter == TWO_STAGE)
    published_us = PUBLISHED_S * 1e6 * PERIOD_S / 2.0
    paragraph(
        f"RMS errors, mean of {runs} runs, in brackets the reference's. "
        f"Two-stage: {fastest:.2f} µs a step; published {published_us:.0f} µs (MATLAB, i7-2700K).",
        console,
    )


def _cells(row: Row) -> list[Cell]:
    rms: list[Cell] = [
        [
            Toned(f"{value:.3g}", Tone.PLAIN),
            Toned(f" ({row.reference[i]:.3g})" if row.reference else " (–)", Tone.SOFT),
        ]
        for i, value in enumerate(row.rms)
    ]
    return [row.case, row.filter, *rms, f"{row.step_us:.2f}"]


def draw(case: str, path: Path) -> None:
    """Draw force and errors over time of one run (seed 0) into a .png, .svg or .pdf file."""
    motion = simulate(CASES[case], 0)
    found = {name: observer(motion) for name, observer in observers(CASES[case]).items()}
    with matplotlib.rc_context(STYLE):
        figure = new_figure(9.2, 7.2, hspace=0.14)
        axes = figure.subplots(3, 1, sharex=True)
        # the worst one lies below
        for name in reversed(found):
            estimate, force = found[name]
            look = {"color": COLOURS[name], "lw": 1.0, "label": name}
            axes[0].plot(motion.t_s, force, **look)
            axes[1].plot(motion.t_s, estimate[:, 1] - motion.rate_rad_s, **look)
            axes[2].plot(motion.t_s, estimate[:, 2] - motion.acceleration_rad_s2, **look)
        axes[0].plot(motion.t_s, motion.force_n, color=INK, lw=1.0, ls=(0, (4, 3)), label="true")
        _limit(axes, motion, found)
        for axis, label in zip(
            axes,
            ("force on the slider (N)", "error of rate (rad/s)", "error of acceleration (rad/s²)"),
            strict=True,
        ):
            axis.set_ylabel(label)
            axis.margins(x=0.005)
        axes[0].legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=5, borderaxespad=0.1)
        axes[0].set_title(f"Slider-crank, {case}", loc="left", fontsize=11, color=INK)
        axes[-1].set_xlabel("time (s)")
        figure.align_ylabels(axes)
        figure.savefig(path, dpi=150)


def _limit(axes: np.ndarray, motion: Motion, found: dict) -> None:
    # the badly tuned filter leaves the page, so that the others can be seen
    rms = np.sqrt(np.mean(motion.force_n**2))
    axes[0].set_ylim(-3 * rms, 3 * rms)
    for axis, column, truth in (
        (axes[1], 1, motion.rate_rad_s),
        (axes[2], 2, motion.acceleration_rad_s2),
    ):
        after = motion.t_s > 0.3
        good = [np.percentile(np.abs(found[n][0][after, column] - truth[after]), 99.5)
                for n in (TWO_STAGE, TUNED)]  # fmt: skip
        axis.set_ylim(-1.4 * max(good), 1.4 * max(good))

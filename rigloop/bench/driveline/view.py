"""The display of `rigloop bench driveline`: a table of bands, and a picture of response and torque."""

from __future__ import annotations

from pathlib import Path

import matplotlib
import numpy as np
from rich.console import Console

from rigloop.bench.driveline.driveline import (
    FILTERS,
    MAX_GAIN_DB,
    MAX_PHASE_DEG,
    NOMINAL_NM,
    RESONANCE_HZ,
    TRACKED_HZ,
    Motion,
    Row,
    estimate,
    frequency_hz,
    tracks,
)
from rigloop.display.tables import Cell, Table, Tone, Toned, figures, words
from rigloop.display.tables import show as show_table
from rigloop.display.verdict import paragraph, show_verdict
from rigloop.plots.figures import BLUE, GREY, INK, ORANGE, STYLE, new_figure

COLOURS, WIDTHS = (BLUE, ORANGE), (2.2, 0.9)  # curves that lie on each other are both seen


def show(rows: list[Row], runs: int, console: Console) -> None:
    """Print gain, phase and error of each filter in each band of the sweep."""
    heads = [*words("filter"), *figures("Hz", "gain (dB)", "phase (°)", "error (N m)"), *words("")]
    shown: list[list[Cell]] = [
        [
            "" if number else row.filter,
            f"{band.first_hz:.0f}-{band.last_hz:.0f}",
            f"{band.gain_db:+.2f}",
            f"{band.phase_deg:+.1f}",
            f"{band.rms_nm:.2f}",
            "" if tracks(band) else Toned("not tracked", Tone.BAD),
        ]
        for row in rows
        for number, band in enumerate(row.bands)
    ]
    show_table(Table(heads, shown), console)
    paragraph(
        f"Response of the estimate to the load, mean of {runs} runs; error: RMS, of {NOMINAL_NM:g} N m nominal. "
        f"The reference is a shaft that bends and twists; the filter's has no mass, so that its estimate has a false "
        f"component at twice the shaft's rate, of {max(row.false_nm for row in rows):.2f} N m at a constant load. "
        f"It must track up to {TRACKED_HZ:g} Hz, as published: within {MAX_GAIN_DB:g} dB and {MAX_PHASE_DEG:g}°. "
        f"{min(row.step_us for row in rows):.1f} µs a step.",
        console,
    )
    lost = [f"{row.filter}: not tracked in every band" for row in rows if not row.good]
    show_verdict(not lost, lost, console)


def draw(path: Path, rows: list[Row], motion: Motion) -> None:
    """Draw the response over frequency, and load and estimate of seed 0 at two of them, as .png, .svg or .pdf."""
    at_hz = frequency_hz(motion.t_s)
    with matplotlib.rc_context(STYLE):
        figure = new_figure(9.2, 6.4, hspace=0.42)
        figure.subplots_adjust(wspace=0.2)
        axes = figure.subplots(2, 2)
        for axis, name, limit, label in (
            (axes[0, 0], "gain_db", MAX_GAIN_DB, "gain (dB)"),
            (axes[0, 1], "phase_deg", MAX_PHASE_DEG, "phase (°)"),
        ):
            axis.fill_between([0.0, TRACKED_HZ], -limit, limit, color=GREY, alpha=0.3, lw=0)
            for row, colour, width in zip(rows, COLOURS, WIDTHS, strict=False):
                middle = [0.5 * (band.first_hz + band.last_hz) for band in row.bands]
                axis.plot(
                    middle,
                    [getattr(band, name) for band in row.bands],
                    "o-",
                    color=colour,
                    lw=2.0 * width,
                    ms=5.0 * width,
                    label=row.filter,
                )
            axis.set_ylim(-2 * limit, 2 * limit)
            axis.set_ylabel(label)
            axis.set_xlabel("frequency of the load (Hz); grey: allowed")
        for axis, hz, span_s in ((axes[1, 0], 20.0, 0.15), (axes[1, 1], RESONANCE_HZ, 0.04)):
            inside = np.abs(motion.t_s - motion.t_s[np.searchsorted(at_hz, hz)]) < 0.5 * span_s
            for (label, changes), colour, width in zip(
                FILTERS.items(), COLOURS, WIDTHS, strict=False
            ):
                found = estimate(motion, changes, 0)
                axis.plot(motion.t_s[inside], found[inside], color=colour, lw=width, label=label)
            axis.plot(motion.t_s[inside], motion.load_nm[inside], color=INK, label="load")
            axis.set_xlabel(f"time (s), at {hz:.0f} Hz")
            axis.set_ylabel("torque (N m)")
            axis.margins(x=0.01)
        axes[0, 0].set_title(
            "Load torque of a driveline, as estimated", loc="left", fontsize=11, color=INK
        )
        axes[0, 1].legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2, borderaxespad=0.1)
        axes[1, 1].legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=3, borderaxespad=0.1)
        figure.savefig(path, dpi=150)

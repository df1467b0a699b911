"""Table and picture of the consistency bench."""

from __future__ import annotations

from pathlib import Path

import matplotlib
import numpy as np
from rich.console import Console

from estimators.numerics.chi_square import mean_bounds
from rigloop.bench.consistency.consistency import BOUND, Consistency, Mean, Outcome
from rigloop.display.tables import Cell, Table, Tone, Toned, figures, words
from rigloop.display.tables import show as show_table
from rigloop.display.verdict import paragraph, show_verdict
from rigloop.plots.figures import BLUE, GREY, INK, ORANGE, STYLE


def show(outcome: Outcome, console: Console) -> None:
    """Print a row a filter, the reasons of those that need not hold, and the verdict."""
    rows: list[list[Cell]] = [
        [
            case.filter, f"{case.states}", _value(case.nees), _bounds(case.nees),
            f"{case.sensors}", _value(case.nis), _bounds(case.nis), _word(case),
        ]
        for case in outcome.filters
    ]  # fmt: skip
    heads = figures("n", "NEES", "95 %", "m", "NIS", "95 %", whole=True)
    columns = [*words("filter", whole=True), *heads, *words("", whole=True)]
    show_table(Table(columns, rows, gap=1), console)
    for case in outcome.filters:
        if case.why_not:
            paragraph(f"{case.filter} need not be: {case.why_not}", console)
    paragraph(
        f"n states, m samples; {outcome.runs} matched runs, errors after {outcome.cycles[-1]} cycles; a filter counts "
        f"as consistent within what all that must be allow together. {outcome.seconds:.1f} s",
        console,
    )
    show_verdict(outcome.good, (), console)


def _value(mean: Mean) -> Toned:
    text = f"{mean.mean:.3g}" if mean.mean >= 100 else f"{mean.mean:.2f}"
    if mean.low <= mean.mean <= mean.high:
        return Toned(text, Tone.GOOD)
    return Toned(text, Tone.WARN if mean.is_within else Tone.BAD)


def _bounds(mean: Mean) -> str:
    return f"{mean.low:.2f}–{mean.high:.2f}"


def _word(case: Consistency) -> Cell:
    if case.good:
        return "consistent"
    return "as it is" if case.why_not else Toned("not consistent", Tone.BAD)


def draw(outcome: Outcome, path: Path) -> None:
    """Draw NEES and NIS over the cycles, each over its degrees of freedom, into a .png, .svg or .pdf."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import FuncFormatter

    n = len(outcome.filters)
    rows = -(-n // 3)
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(10.0, 0.8 + 2.0 * rows), layout="constrained")
        panels = figure.subplots(rows, min(n, 3), squeeze=False, sharex=True)
        for axis in panels.flat[n:]:
            axis.set_visible(False)
        for axis, case in zip(panels.flat, outcome.filters, strict=False):
            for mean, degrees, colour, label in (
                (case.nees, case.states, BLUE, "NEES over states"),
                (case.nis, case.sensors, ORANGE, "NIS over samples"),
            ):
                low, high = mean_bounds(BOUND, degrees, outcome.runs)
                axis.axhspan(low / degrees, high / degrees, color=colour, alpha=0.12, lw=0)
                axis.plot(
                    outcome.cycles,
                    np.array(mean.over_time) / degrees,
                    color=colour,
                    lw=1.2,
                    label=label,
                )
            axis.axhline(1.0, color=GREY, lw=0.8)
            title = case.filter if not case.why_not else f"{case.filter} (as it is)"
            axis.set_title(title, loc="left", fontsize=9.5, color=INK)
            values = np.r_[case.nees.over_time, case.nis.over_time]
            if values.max() > 10.0 * min(case.states, case.sensors):
                axis.set_yscale("log")
                axis.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
            else:
                axis.set_ylim(min(0.5, axis.get_ylim()[0]), max(1.5, axis.get_ylim()[1]))
        for axis in panels.flat[max(0, n - 3) : n]:
            axis.set_xlabel("cycle")
            axis.tick_params(labelbottom=True)
        handles, labels = panels[0, 0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper right", ncols=2)
        figure.suptitle(
            f"Mean squared errors of {outcome.runs} matched runs; bands hold 95 %", x=0.01, ha="left",
            fontsize=11, color=INK,
        )  # fmt: skip
        figure.savefig(path, dpi=150)

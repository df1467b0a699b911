"""Table and figures of the observer benchmark, laid out as published: RMS over the sample rate, one panel a test."""

from __future__ import annotations

import csv
import itertools
import math
from dataclasses import asdict, fields
from pathlib import Path

from rich.console import Console

from rigloop.bench.observers.observers import FILTERS, SMOOTHER, TESTS, Outcome, Row, table
from rigloop.display.tables import Cell, Table, Tone, Toned, figures, show_filled, words

TITLES = {
    1: "five-bar, 2 coupler gyroscopes",
    2: "five-bar, 2 crank encoders",
    3: "four-bar, coupler gyroscope",
    4: "four-bar, crank encoder",
}


def show(outcome: Outcome, console: Console) -> None:
    """Print one table a test and gravity error."""
    groups = table(outcome)
    for test in dict.fromkeys(key[0] for key in groups):
        for error in dict.fromkeys(key[1] for key in groups):
            here = [(name, rows) for t, e, name, rows in groups if (t, e) == (test, error)]
            if not here:
                continue
            alone = outcome.alone_rad_s.get(f"{test} {error:g}", float("nan"))
            title = f"Test {test}: {TITLES[test]}; gravity wrong by {error:g} m/s²"
            heads = figures(*(str(row.every) for row in here[0][1]), "within bounds", "step")
            rows: list[list[Cell]] = []
            for name, of_name in here:
                step = min(row.step_ns for row in of_name)
                within = sum(row.consistent for row in of_name) / len(of_name)
                share = "" if math.isnan(within) else f"{100 * within:.0f} %"
                rows.append([name, *map(_cell, of_name), share, _time(step)])
            note = f"RMS error of the rates in rad/s, {outcome.runs} runs; model alone {alone:.3f}"
            show_filled([Table([*words("sample every"), *heads], rows, title, note)], console)
    lost = sum(row.failed for row in outcome.rows)
    told = f"{outcome.seconds:.1f} s, {outcome.building_s:.1f} s of them for models"
    console.print(f"{told}; runs that lost the mechanism: {lost}")


def _cell(row: Row) -> Cell:
    text = f"{row.rms_rad_s:.3f}" if row.rms_rad_s < 100.0 else f"{row.rms_rad_s:.1g}"
    return Toned(f"{text} ({row.failed} lost)", Tone.BAD) if row.failed else text


def _time(step_ns: float) -> str:
    return f"{step_ns:.0f} ns" if step_ns < 1e5 else f"{1e-6 * step_ns:.1f} ms"


def save(outcome: Outcome, folder: Path) -> None:
    """Write `observers.csv`, `observers.png` (RMS) and `observers_cost.png` (time of a filter's step)."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "observers.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(Row)])
        writer.writeheader()
        writer.writerows(asdict(row) for row in outcome.rows)
    _accuracy(outcome, folder / "observers.png")
    _cost(outcome, folder / "observers_cost.png")


def _colours() -> dict[str, str]:
    from rigloop.plots.figures import BLUE, GREEN, GREY, INK, ORANGE

    colours = (BLUE, GREEN, ORANGE, GREY, "#8a5aa8", INK, "#b0413e")
    return dict(zip((*FILTERS, SMOOTHER), itertools.cycle(colours), strict=False))


def _sparse(value: float, _: int) -> str:
    """Labels 2 and 5 of a decade."""
    text = f"{value:.0e}"
    return f"{value:g}" if text[0] in "25" else ""


def _accuracy(outcome: Outcome, path: Path) -> None:
    import matplotlib
    from matplotlib.figure import Figure
    from matplotlib.ticker import FuncFormatter

    from rigloop.plots.figures import STYLE

    groups, colours = table(outcome), _colours()
    tests = list(dict.fromkeys(key[0] for key in groups))
    errors = list(dict.fromkeys(key[1] for key in groups))
    with matplotlib.rc_context(STYLE):
        figure = Figure(
            figsize=(3.1 * len(tests) + 1.2, 2.7 * len(errors) + 0.9), layout="constrained"
        )
        panels = figure.subplots(len(errors), len(tests), squeeze=False, sharex=True)
        for test, error, name, rows in groups:
            axes = panels[errors.index(error), tests.index(test)]
            kept = [row for row in rows if row.failed == 0 and row.rms_rad_s < 100.0]
            axes.errorbar(
                [row.every for row in kept], [row.rms_rad_s for row in kept],
                [row.standard_error_rad_s for row in kept], color=colours[name], label=name,
                marker="o", markersize=3.5, linewidth=1.3, capsize=2,
            )  # fmt: skip
        for i, error in enumerate(errors):
            for j, test in enumerate(tests):
                axes = panels[i, j]
                alone = outcome.alone_rad_s.get(f"{test} {error:g}")
                if alone:
                    axes.axhline(
                        alone, color="#8a96a3", linewidth=0.9, linestyle=":", label="model alone"
                    )
                axes.set_yscale("log")
                axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
                axes.yaxis.set_minor_formatter(FuncFormatter(_sparse))
                axes.set_xticks(sorted({row.every for row in outcome.rows}))
                if i == 0:
                    axes.set_title(f"Test {test}\n{TITLES[test]}", fontsize=9.5)
                if i == len(errors) - 1:
                    axes.set_xlabel("steps of 5 ms from sample to sample")
                if j == 0:
                    axes.set_ylabel(f"gravity wrong by {error:g} m/s²\nRMS of rates, rad/s")
        handles, labels = panels[0, 0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=len(labels))
        figure.savefig(path, dpi=150)


def _cost(outcome: Outcome, path: Path) -> None:
    import matplotlib
    from matplotlib.figure import Figure

    from rigloop.plots.figures import STYLE

    colours = _colours()
    names = [n for n in dict.fromkeys(row.filter for row in outcome.rows) if n != SMOOTHER]
    if not names:
        return
    mechanisms = [
        m for m in ("four_bar", "five_bar") if any(TESTS[row.test][0] == m for row in outcome.rows)
    ]
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(6.4, 0.9 + 0.5 * len(names)), layout="constrained")
        panels = figure.subplots(1, len(mechanisms), squeeze=False, sharey=True)[0]
        for axes, mechanism in zip(panels, mechanisms, strict=True):
            step_us = [
                min(
                    r.step_ns
                    for r in outcome.rows
                    if r.filter == name and r.every == 1 and TESTS[r.test][0] == mechanism
                )
                / 1e3
                for name in names
            ]
            bars = axes.barh(names, step_us, color=[colours[name] for name in names], height=0.62)
            axes.bar_label(bars, fmt="%.2f", padding=3, fontsize=8.5)
            axes.set_xlim(0, 1.18 * max(step_us))
            axes.set_title(mechanism.replace("_", "-"), fontsize=9.5)
            axes.set_xlabel("µs a step, a sample in each")
            axes.grid(axis="y", visible=False)
        panels[0].invert_yaxis()
        figure.savefig(path, dpi=150)

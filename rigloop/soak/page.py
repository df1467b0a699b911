"""The files that a soak leaves in the run folder: `soak.csv` with every sample, `soak.html` with the verdict."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from rigloop.display.pages import fill
from rigloop.display.tables import HOLDS, TONE_OF, Cell, Table, Tone, Toned, words
from rigloop.plots.figures import Line, time_plot
from rigloop.soak.judge import Row, is_good, reasons
from rigloop.soak.watch import Sample
from rt_core.lateness.cause import WORDS, Cause

PAGE = "soak.html"
SAMPLES = "soak.csv"


def write_samples(folder: Path, samples: Sequence[Sample]) -> None:
    """Write one line a sample."""
    roles = list(samples[0].processes) if samples else []
    tasks = list(samples[0].processes["cycle"].faults) if "cycle" in roles else []
    with (folder / SAMPLES).open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(
            [
                "t_s", "wall_s", "loop_s", "record_bytes",
                *(f"overruns_{cause.name.lower()}" for cause in Cause if cause),
                *(f"{role}_{name}" for role in roles
                  for name in ("resident_kib", "own_kib", "threads", "files")),
                *(f"{task}_page_faults" for task in tasks),
            ]
        )  # fmt: skip
        for sample in samples:
            seen = [sample.processes.get(role) for role in roles]
            cycle = sample.processes.get("cycle")
            rows.writerow(
                [
                    f"{sample.t_s:.4f}", f"{sample.wall_s:.6f}", f"{sample.loop_s:.6f}",
                    sample.record_bytes, *sample.overruns.values(),
                    *(value for process in seen for value in (
                        (process.resident_kib, process.own_kib, process.threads, process.files)
                        if process else ("",) * 4)),
                    *(cycle.faults.get(task, "") if cycle else "" for task in tasks),
                ]
            )  # fmt: skip


def table(rows: Sequence[Row]) -> Table:
    """Return figures and limits in columns, as the command and the page show them."""
    return Table(
        words("", "found", "limit", ""),
        [[_what(r), r.found, r.limit, Toned(HOLDS[r.good], TONE_OF[r.good])] for r in rows],
    )


def _what(row: Row) -> Cell:
    # a part of the row above is indented
    return Toned(row.what, Tone.SOFT) if row.what.startswith(" ") else row.what


def write_page(
    folder: Path, title: str, rows: Sequence[Row], samples: Sequence[Sample], seconds: float
) -> None:
    """Write the page; it links to the run's own report beside it."""
    text = fill(
        "soak.html.jinja",
        title=title,
        seconds=seconds,
        good=is_good(rows),
        reasons=reasons(rows),
        rows=table(rows),
        samples=len(samples),
        svg=_figure(samples) if len(samples) > 1 else None,
    )
    (folder / PAGE).write_text(text, encoding="utf-8")


def _figure(samples: Sequence[Sample]) -> str:
    t = np.array([sample.t_s for sample in samples])

    def line(label: str, values: Sequence[float]) -> Line:
        return label, t, np.array(values, float)

    memory = [
        line(
            role,
            [
                sample.processes[role].own_kib / 1024 if role in sample.processes else np.nan
                for sample in samples
            ],
        )
        for role in samples[0].processes
    ]
    # growth is what matters: a small process and a large one share the axis
    memory = [(label, t, value - value[0]) for label, t, value in memory]
    overruns = [
        line(WORDS[cause], [sample.overruns[cause] for sample in samples])
        for cause in Cause
        if cause
    ]
    drift = np.array([sample.t_s - sample.loop_s for sample in samples])
    wall = np.array([sample.wall_s for sample in samples])
    clocks = [
        line("clock less loop", 1e3 * (drift - drift[0])),
        line("wall clock less clock", 1e3 * (wall - wall[0])),
    ]
    return time_plot([("memory, MiB more", memory), ("overruns", overruns), ("clocks, ms", clocks)])

"""A sweep as people see it: how each parameter moves each metric, and how long it took."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from rigloop.display.tables import Cell, Table, figures, show, words
from rigloop.display.verdict import line, show_places, show_verdict
from rigloop.sweep.plots import moved
from rigloop.sweep.sweep import Sweep, Swept


def message_of(sweep: Sweep, swept: Swept, out: Path, plots: Sequence[Path]) -> dict[str, Any]:
    """Return the answer as JSON has it."""
    return {
        "table": str(out),
        "plots": [str(path) for path in plots],
        "sources": len(sweep.sources),
        "points": len(sweep.points),
        "replays": len(swept.columns["source"]),
        "resumed": swept.resumed,
        "failed": swept.failed,
        "wall_s": swept.wall_s,
        "replays_s": swept.replays_s,
    }


def show_swept(sweep: Sweep, swept: Swept, files: Sequence[Path], console: Console) -> None:
    """Print the means at the ends of each parameter, and where the table is."""
    rows: list[list[Cell]] = []
    for metric in swept.metrics:
        known = [v for v in swept.columns[metric] if np.isfinite(v)]
        if not known:
            rows.append([metric, "", "no value", "", ""])
        for key in sweep.keys if known else ():
            mean, low, high = moved(swept.columns, key, metric)
            rows.append([metric, key, f"{mean:.4g}", f"{low:.4g}", f"{high:.4g}"])
    heads = [*words("metric", "parameter", whole=True), *figures("mean", "at lowest", "at highest")]
    if rows:
        show(Table(heads, rows), console)
    n_rows = len(swept.columns["source"])
    resumed = f", {swept.resumed} of them from before" if swept.resumed else ""
    line(
        f"{n_rows} replays{resumed}: {len(sweep.sources)} sources × {len(sweep.points)} points; "
        f"{swept.wall_s:.1f} s, {swept.replays_s:.1f} s of replays",
        console,
    )
    errors = [error for error in swept.columns["error"] if error]
    reasons = [f"{len(errors)} replays could not be: {errors[0]}"] if errors else []
    show_verdict(not errors, reasons, console, otherwise="every replay ended")
    show_places(files, console)

"""Two runs on one page: verdicts, times, what is different, and the signals of both over one time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from rigloop.display.numbers import microseconds
from rigloop.display.pages import fill
from rigloop.display.tables import Cell, Table, figures, words
from rigloop.report.report import Run, load_run
from rigloop.report.seen import homes_of, panel_words, shown_paths, title_of, units_of, uplot_files
from rigloop.report.traces import packed, traces_of
from rigloop.run_folder.manifest import Manifest, Percentiles
from rigloop.run_folder.recorded import recorded_signal
from rigloop.runs.diff import RunDiff, diff_runs

NAMES = ("A", "B")
MOST_CHANGES = 60
MOST_DIFFERENCES = 40
MOST_PANELS = 6


class Beside(msgspec.Struct, frozen=True):
    """Verdicts of two runs, and whether they are the same."""

    runs: tuple[str, str]
    verdicts: tuple[str, str]
    is_equal: bool
    """The same configuration and kernels, and the same bits of every signal that was compared."""

    @property
    def good(self) -> bool:
        """True: both verdicts are good."""
        return self.verdicts == ("good", "good")


def beside(folders: tuple[Path, Path]) -> tuple[Beside, str]:
    """Compare two runs; return their verdicts, and their page.

    Raises
    ------
    ManifestError
        One of them is no run folder, or a record of it is missing or damaged.
    """
    diff = diff_runs(*folders)
    runs = [load_run(folder) for folder in folders]
    text = fill("beside.html.jinja", **_context(runs, diff))
    one, other = (run.manifest.verdict for run in runs)
    return Beside((str(folders[0]), str(folders[1])), (one, other), diff.is_equal), text


def page_name(folders: tuple[Path, Path]) -> Path:
    """Return the name of the page of two runs, if none is given."""
    one, other = (folder.resolve().name for folder in folders)
    return Path(f"{one}_beside_{other}.html")


def _context(runs: Sequence[Run], diff: RunDiff) -> dict[str, Any]:
    from rigloop.plots.figures import time_plot

    homes = [homes_of(run.records) for run in runs]
    shown = set().union(*(shown_paths(run.manifest) for run in runs))
    traces = [
        found
        for name, run, own in zip(NAMES, runs, homes, strict=True)
        for found in traces_of(run.records, own, name, share=0.5)
    ]
    panels = _panels(runs, sorted(shown))
    return {
        "sides": [
            {
                "name": name,
                "folder": run.folder.resolve().name,
                "title": title_of(run.folder) or run.manifest.rig.name,
                "manifest": run.manifest,
            }
            for name, run in zip(NAMES, runs, strict=True)
        ],
        "facts": _facts([run.manifest for run in runs]),
        "times": _times([run.manifest for run in runs]),
        "changes": _changes(diff),
        "differences": _differences(diff),
        "said": diff.signals.words(),
        "packed": packed(traces, units_of(homes[0] | homes[1]), shown) if traces else None,
        **uplot_files(),
        "time_svg": time_plot(panels) if panels else None,
        "time_words": panel_words(panels),
    }


def _panels(runs: Sequence[Run], shown: Sequence[str]) -> list[tuple[str, list[Any]]]:
    panels = []
    for path in shown[:MOST_PANELS]:
        lines = []
        for name, run in zip(NAMES, runs, strict=True):
            task = homes_of(run.records).get(path, "")
            signal = recorded_signal(run.records, task, path)
            if signal is not None and np.any(np.isfinite(signal[1])):
                lines.append((name, *signal))
        if lines:
            panels.append((path, lines))
    return panels


def _facts(manifests: Sequence[Manifest]) -> Table:
    def overruns(manifest: Manifest) -> str:
        return f"{sum(task.overruns for task in manifest.tasks.values()):,}"

    def skipped(manifest: Manifest) -> str:
        return f"{sum(task.skipped for task in manifest.tasks.values()):,}"

    rows: dict[str, Any] = {
        "Started": lambda m: m.started,
        "Duration": lambda m: f"{m.duration_s:.2f} s",
        "Cycles": lambda m: f"{sum(task.cycles for task in m.tasks.values()):,}",
        "Overruns": overruns,
        "Skipped periods": skipped,
        "Real-time": lambda m: "yes" if m.real_time else "no",
    }
    return Table(
        [*words("", whole=True), *figures(*NAMES)],
        [[label, *(make(manifest) for manifest in manifests)] for label, make in rows.items()],
    )


def _times(manifests: Sequence[Manifest]) -> Table:
    keys = dict.fromkeys(
        (task, name) for m in manifests for task, found in m.timing.items() for name in found
    )
    rows = []
    for task, name in keys:
        sides = [m.timing.get(task, {}).get(name) for m in manifests]
        cells = [_shown(side, what) for what in ("p50", "p99", "p99_9", "max") for side in sides]
        rows.append([task, name, *cells])
    heads = [f"{what} {name}" for what in ("p50", "p99", "p99.9", "max") for name in NAMES]
    return Table([*words("Task", "Time of, µs"), *figures(*heads)], rows)


def _shown(side: Percentiles | None, what: str) -> str:
    return "–" if side is None else microseconds(getattr(side, what))


def _changes(diff: RunDiff) -> Table:
    telling = [change for change in diff.changed if change.part != "timing"]
    rows: list[list[Cell]] = [
        [c.part, c.key, _or_dash(c.before), _or_dash(c.after)] for c in telling[:MOST_CHANGES]
    ]
    left = len(telling) - len(rows)
    note = f"and {left} more: `rigloop diff` has all" if left else ""
    return Table([*words("Part", "Key"), *words(*NAMES, folds=True)], rows, note=note)


def _differences(diff: RunDiff) -> Table:
    found = diff.signals.differences[:MOST_DIFFERENCES]
    rows: list[list[Cell]] = [
        [
            d.path,
            d.task,
            d.first_s,
            f"{d.differing:,}",
            _number(d.largest),
            _number(d.rms),
        ]
        for d in found
    ]
    left = len(diff.signals.differences) - len(rows)
    note = f"and {left} more: `rigloop diff` has all" if left else ""
    heads = figures("First, s", "Cycles", "Largest", "RMS")
    return Table([*words("Signal", "Task"), *heads], rows, note=note)


def _or_dash(text: str | None) -> str:
    return "–" if text is None else text


def _number(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:.4g}"

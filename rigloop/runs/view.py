"""Runs, one run, and the differences of two as people see them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from rigloop.display.tables import Cell, Table, Tone, Toned, facts, figures, show, words
from rigloop.display.verdict import line, show_places
from rigloop.run_folder.compared import Comparison
from rigloop.run_folder.manifest import REPORT
from rigloop.runs.diff import RunDiff
from rigloop.runs.found import FoundRun, Unreadable
from rigloop.runs.prune import Plan
from rigloop.runs.shown import ShownRun

MOST_SIGNALS = 30


def verdict_of(run: FoundRun) -> Toned:
    """Return the verdict with its tone."""
    if run.lives:
        return Toned("goes on", Tone.WARN)
    return Toned(run.verdict, Tone.GOOD if run.verdict == "good" else Tone.BAD)


def size(n_bytes: int) -> str:
    """Return a size with its unit."""
    return f"{n_bytes / 1e9:.1f} GB" if n_bytes >= 1e9 else f"{n_bytes / 1e6:.1f} MB"


def show_runs(runs: Sequence[FoundRun], unreadable: Sequence[Unreadable], console: Console) -> None:
    """Print a row a run."""
    rows: list[list[Cell]] = [
        [
            run.started,
            run.rig,
            run.kind,
            f"{run.duration_s:.1f} s",
            verdict_of(run),
            ", ".join(run.tags),
            size(run.bytes),
            Path(run.folder).name,
        ]
        for run in runs
    ]
    columns = [
        *words("started (UTC)", "rig", "kind", whole=True),
        *figures("length"),
        *words("verdict", "tags"),
        *figures("size"),
        *words("folder", folds=True),
    ]
    if rows:
        show(Table(columns, rows), console)
    else:
        line("no run is here", console)
    for folder in unreadable:
        line(f"left out: {folder.why}", console, tone="yellow")


def show_run(shown: ShownRun, console: Console) -> None:
    """Print what one run was, and what happened in it."""
    run = shown.run
    rows: list[list[Cell]] = [
        ["started", run.started, "UTC"],
        ["rig", run.rig, run.kind],
        ["length", f"{run.duration_s:.2f} s", ""],
        ["verdict", verdict_of(run), "; ".join(run.reasons)],
        ["tags", ", ".join(run.tags), ""],
        ["size", size(run.bytes), f"{shown.signals} signals"],
    ]
    rows += [[name, f"{task.cycles} cycles", task.words()] for name, task in shown.tasks.items()]
    rows += [["kernel", name, sha256] for name, sha256 in shown.kernels.items()]
    show(facts(rows), console)
    events: list[list[Cell]] = [[f"{e.t_s:.4f}", e.kind, e.words] for e in shown.events]
    if events:
        console.print()
        show(Table([*figures("s"), *words("event", "")], events, most=MOST_SIGNALS), console)
    page = Path(run.folder, REPORT)
    show_places((run.folder, *([page] if page.exists() else [])), console)


def show_plan(plan: Plan, is_done: bool, console: Console) -> None:
    """Print what goes, and why the others stay."""
    rows: list[list[Cell]] = [
        [Toned("gone" if is_done else "would go", Tone.BAD), Path(r.folder).name, size(r.bytes), ""]
        for r in plan.go
    ]
    rows += [
        [Toned("stays", Tone.GOOD), Path(r.folder).name, size(r.bytes), why] for r, why in plan.stay
    ]
    rows += [
        [Toned("failed", Tone.BAD), Path(r.folder).name, size(r.bytes), why]
        for r, why in plan.failed
    ]
    show(Table([*words("", "run", whole=True), *figures("size"), *words("")], rows), console)
    said = f"{len(plan.go)} runs, {size(plan.bytes)}"
    line(said if is_done or not plan.go else f"{said}; nothing was removed: --yes does it", console)


def show_diff(diff: RunDiff, console: Console) -> None:
    """Print what differs."""
    rows: list[list[Cell]] = [
        [c.part, c.key, "–" if c.before is None else c.before, "–" if c.after is None else c.after]
        for c in diff.changed
    ]
    if rows:
        columns = words("part", "key", whole=True) + words("before", "after", folds=True)
        show(Table(columns, rows), console)
        console.print()
    show_comparison(diff.signals, console)


def show_comparison(comparison: Comparison, console: Console) -> None:
    """Print which signals differ, by how much, and from when on."""
    rows: list[list[Cell]] = [
        [
            d.path,
            d.task,
            d.first_s,
            f"{d.first_row}",
            f"{d.differing}",
            *map(_short, (d.before, d.after, d.largest, d.rms)),
        ]
        for d in comparison.differences
    ]
    if rows:
        heads = figures("first s", "row", "cycles", "before", "after", "largest", "rms")
        show(
            Table([*words("signal", folds=True), *words("task"), *heads], rows, most=MOST_SIGNALS),
            console,
        )
    line(comparison.words(), console)


def _short(value: object) -> str:
    return value if isinstance(value, str) else f"{value:.4g}"

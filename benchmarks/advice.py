"""`rigloop model advise` beside an exhaustive search: does its choice meet the error, and what does it cost?

    python benchmarks/advice.py [--only governor,Bricard] [--json FILE]

Twelve mechanisms and one more. Both searches look at the same measurements, so that the noise of a busy machine does
not tell them apart: the exhaustive one takes every candidate from the longest step downwards until it meets the error
or costs more than the best. Where an exact motion is known (`tests/data/references`) the choice is measured beside it.

Real time: no; a benchmark. Needs gcc. One to four minutes a mechanism: each step of a candidate is a kernel of its own.
"""

from __future__ import annotations

import json
import math
import time
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from peers.exact import reference as exact_columns
from peers.option_cases import CASES, Case
from rich.console import Console

from codegen.analysis import advice
from codegen.analysis.advice import CANDIDATES, LADDER, Bench, Measured, Task
from codegen.kernels.trial import Trial
from rigloop.display.tables import Cell, Table, Tone, Toned, words
from rigloop.display.tables import show as show_table

BAR = 1.3


def exhaustive(bench: Bench) -> Measured | None:
    """The cheapest of all candidates at all steps; of those that cost more than the best no more are measured."""
    best: Measured | None = None
    for candidate in CANDIDATES:
        for parts in LADDER:
            known = next((m for m in bench.measured if m.candidate == candidate), None)
            if best and known and known.step_ns * parts > best.step_ns * best.parts:
                break
            now = bench(candidate, parts)
            if now.error <= bench.task.error:
                if best is None or now.us_per_s < best.us_per_s:
                    best = now
                break
    return advice.best_of(bench)


def against_exact(case: Case, task: Task, choice: Measured) -> float | None:
    """Largest error of the choice beside the exact motion, of each column's largest value; None where none is known."""
    if not case.exact:
        return None
    columns = exact_columns(case.exact)
    rows = Trial(task.mechanism, task.options(choice.candidate, choice.parts)).run(case.motion).rows
    names = advice.shown_signals(task.mechanism)[0]
    places = np.round(columns["t"] / case.row_s).astype(int)
    there = (places > 0) & (places <= len(rows))
    worst = 0.0
    for signal, column in case.columns.items():
        wanted = columns[column.removeprefix("-")] * (-1.0 if column.startswith("-") else 1.0)
        found = rows[places[there] - 1, names.index(signal)]
        gap = found - wanted[there]
        if signal.endswith("_rad"):
            gap = (gap + math.pi) % (2.0 * math.pi) - math.pi
        worst = max(worst, float(np.max(np.abs(gap)) / np.max(np.abs(wanted[there]))))
    return worst


def measure(case: Case, console: Console) -> dict[str, Any]:
    """One row of the table."""
    begin = time.monotonic()
    mechanism = case.made()
    task = Task(mechanism, case.motion, case.error, case.row_s)
    with console.status(case.title) as status:

        def tell(words: str) -> None:
            status.update(f"{case.title}: {words}")

        pole = advice.stiffness(mechanism)
        known = advice.find_reference(task, pole, tell)
        speed = advice.speed_of(known, case.row_s)
        bench = Bench(task, known, tell)
        choice = advice.search(bench, pole, speed)
        kernels, seconds = len(bench.measured), time.monotonic() - begin
        best = exhaustive(bench)
        # both with the times that are known in the end
        if choice is not None:
            choice = bench(choice.candidate, choice.parts)
        exact = None if choice is None else against_exact(case, task, choice)
    assert choice is not None
    assert best is not None
    return {
        "case": case.title,
        "kind": case.kind,
        "wanted": case.error,
        "choice": f"{choice.candidate}, {1e3 * choice.step_s:g} ms",
        "error": choice.error,
        "exact": exact,
        "us_per_s": choice.us_per_s,
        "best": f"{best.candidate}, {1e3 * best.step_s:g} ms",
        "best_us_per_s": best.us_per_s,
        "ratio": choice.us_per_s / best.us_per_s,
        "kernels": kernels,
        "seconds": seconds,
        "all_kernels": len(bench.measured),
        "good": choice.error <= case.error and choice.us_per_s <= BAR * best.us_per_s,
    }


def show(rows: list[dict[str, Any]], console: Console) -> None:
    """Print the table."""
    rows_of: list[list[Cell]] = []
    for r in rows:
        exact = "" if r["exact"] is None else f"{r['exact']:.1g}"
        rows_of.append([
            r["case"], f"{r['wanted']:g}", r["choice"], f"{r['error']:.1g}", exact, f"{r['us_per_s']:.0f}", r["best"],
            f"{r['best_us_per_s']:.0f}", f"{r['ratio']:.2f}", f"{r['kernels']} of {r['all_kernels']}",
            "good" if r["good"] else Toned("bad", Tone.BAD),
        ])  # fmt: skip
    heads = ("mechanism", "wanted", "advice", "error", "exact", "µs/s", "best of all", "µs/s")
    columns = words(*heads, "ratio", "kernels", "", whole=True)
    show_table(Table(columns, rows_of, gap=1), console)


def main(
    only: Annotated[str, typer.Option(help="titles, separated by commas")] = "",
    as_json: Annotated[
        Path | None,
        typer.Option("--json", help="file for the rows; those of other cases stay in it"),
    ] = None,
) -> None:
    """Measure, print, and say by the exit code whether every bar was met."""
    console = Console(width=170)
    wanted = [name.strip() for name in only.split(",") if name.strip()]
    kept = json.loads(as_json.read_text())["rows"] if as_json and as_json.exists() else []
    rows = {r["case"]: r for r in kept}
    made = []
    for case in CASES:
        if wanted and case.title not in wanted:
            continue
        made.append(measure(case, console))
        rows[case.title] = made[-1]
        if as_json:
            as_json.write_text(json.dumps({"rows": list(rows.values())}, indent=1))
    show(made, console)
    raise typer.Exit(0 if all(r["good"] for r in made) else 1)


if __name__ == "__main__":
    typer.run(main)

"""Time per simulated second against error, of every formulation with every integrator, at steps from 5 to 0.5 ms.

    python benchmarks/options.py [--only "double four-bar,governor"] [--json FILE] [--markdown]

The error is the largest gap to a reference, of any coordinate or output, of its largest value
(`codegen/analysis/advice.py`).
The tables of docs/models/options.md come from here.

Real time: no; a benchmark. Needs gcc. A minute or two a mechanism.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Annotated, Any

import typer
from peers.option_cases import CASES, Case
from rich.console import Console

from codegen.analysis import advice
from codegen.analysis.advice import CANDIDATES, Bench, Task
from rigloop.display.tables import Table, figures, markdown, words
from rigloop.display.tables import show as show_table

SHOWN = ("slider-crank", "Bricard", "governor", "steering rack")
PARTS = (2, 5, 10, 20)  # of 10 ms


def measure(case: Case, console: Console) -> dict[str, Any]:
    """One mechanism: a row a candidate."""
    mechanism = case.made()
    task = Task(mechanism, case.motion, 1e-7, 0.01)
    with console.status(case.title) as status:

        def tell(words: str) -> None:
            status.update(f"{case.title}: {words}")

        known = advice.find_reference(
            Task(mechanism, case.motion, 1e-5, 0.01), advice.stiffness(mechanism), tell
        )
        bench = Bench(task, known, tell)
        for candidate in CANDIDATES:
            for parts in PARTS:
                bench(candidate, parts)
        for _ in range(advice.ROUNDS):
            for candidate in CANDIDATES:
                bench.time_again(bench(candidate, PARTS[-1]))
        rows = []
        for candidate in CANDIDATES:
            runs = [bench(candidate, parts) for parts in PARTS]
            rows.append(
                {
                    "candidate": str(candidate),
                    "step_ns": runs[0].step_ns,
                    "errors": [m.error if math.isfinite(m.error) else None for m in runs],
                }
            )
    return {"case": case.title, "kind": case.kind, "known_to": known.known_to, "rows": rows}


def cells(row: dict[str, Any]) -> list[str]:
    """Candidate, µs a step, and the error at each step."""
    errors = [
        "stops" if e is None else f"{e:.0e}".replace("e-0", "e-") if e < 1 else "lost"
        for e in row["errors"]
    ]
    return [row["candidate"], f"{1e-3 * row['step_ns']:.2f}", *errors]  # fmt: skip


def show(found: dict[str, Any], console: Console, *, is_markdown: bool) -> None:
    """One table: cheapest step first."""
    heads = ["formulation, integrator", "µs a step", *(f"{10 / parts:g} ms" for parts in PARTS)]
    rows = [cells(row) for row in sorted(found["rows"], key=lambda row: row["step_ns"])]
    title = f"{found['case']} ({found['kind']}; known to {found['known_to']:.0e})"
    columns = [*words(heads[0], whole=True), *figures(*heads[1:], whole=True)]
    table = Table(columns, rows, title)
    if is_markdown:
        lines = [f"*{title}*", "", *markdown(table), ""]
        console.print("\n".join(lines), markup=False, highlight=False, soft_wrap=True)
    else:
        show_table(table, console)


def main(
    only: Annotated[str, typer.Option(help="titles, separated by commas")] = ",".join(SHOWN),
    as_json: Annotated[
        Path | None, typer.Option("--json", help="everything into this file")
    ] = None,
    as_markdown: Annotated[
        bool, typer.Option("--markdown", help="print tables of markdown")
    ] = False,
) -> None:
    """Measure and print."""
    wanted = {name.strip() for name in only.split(",")}
    unknown = wanted - {case.title for case in CASES}
    if unknown:
        raise typer.BadParameter(
            f"no case {', '.join(sorted(unknown))}: there are {', '.join(c.title for c in CASES)}"
        )
    console = Console()
    made = []
    for case in CASES:
        if case.title in wanted:
            made.append(measure(case, console))
            show(made[-1], console, is_markdown=as_markdown)
    if as_json:
        as_json.write_text(json.dumps(made, indent=1))
    raise typer.Exit(0)


if __name__ == "__main__":
    typer.run(main)

"""Advice on a mechanism's options as a table on the terminal."""

from __future__ import annotations

from rich.console import Console
from rich.markup import escape

from rigloop.display.tables import (
    Cell,
    Row,
    Table,
    Tone,
    Toned,
    facts,
    figures,
    show_filled,
    words,
)
from rigloop.display.tables import show as show_table
from rigloop.display.verdict import paragraph
from rigloop.model.advise import Advised, Run


def show(found: Advised, console: Console) -> None:
    """Print what was measured, and the advice or why there is none."""
    pole = "" if found.fastest_pole_rad_s is None else f"{found.fastest_pole_rad_s:.3g} rad/s"
    driven = ", ".join(f"{port} {words}" for port, words in found.motions.items())
    show_table(
        facts(
            [
                ("error wanted", f"{found.error:g}", "of the largest value of each output and coordinate"),
                ("motion", f"{found.duration_s:g} s", driven or "free"),
                ("fastest pole", pole or "the file's pose is singular", "in the file's pose"),
                ("speed", f"{found.speed_rad_s:.3g} rad/s", "of the motion"),
            ]
        ),
        console,
    )  # fmt: skip
    if found.reference:
        paragraph(f"reference: {found.reference}", console, tone="dim")
    show_filled([_table(found)], console)
    console.print()
    if found.refusal:
        console.print(f"[red]no advice[/]  {escape(found.refusal)}", highlight=False)
        return
    chosen = " ".join(f"--option {key}={value}" for key, value in found.options.items())
    console.print(f"[green]take[/]  {escape(chosen)}", highlight=False, soft_wrap=True)


def _table(found: Advised) -> Table:
    heads = [
        *words("formulation", "integrator", whole=True),
        *figures("step ms", "µs a step", "µs a second", "error", whole=True),
        *words("worst signal, or why it stopped"),
    ]
    rows = []
    for run in found.runs:
        is_best = found.best is not None and _key(run) == _key(found.best)
        error = "" if run.error is None else f"{run.error:.2g}"
        cells: list[Cell] = [
            run.formulation,
            run.integrator,
            f"{1e3 * run.step_s:g}",
            "" if run.step_us is None else f"{run.step_us:.3g}",
            "" if run.us_per_s is None else f"{run.us_per_s:.4g}",
            Toned(error, Tone.GOOD) if run.meets else error,
            run.problem or run.worst,
        ]
        rows.append(Row(cells, Tone.STRONG if is_best else Tone.PLAIN))
    return Table(heads, rows, "measured, cheapest first")


def _key(run: Run) -> tuple[str, str, float]:
    return run.formulation, run.integrator, run.step_s

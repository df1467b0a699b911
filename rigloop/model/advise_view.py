"""Advice on a mechanism's options as a table on the terminal."""

from __future__ import annotations

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from rigloop.model.advise import Advised, Run
from rigloop.model.tables import LOOK, pairs, print_table


def show(found: Advised, console: Console) -> None:
    """Print what was measured, and the advice or why there is none."""
    pole = "" if found.fastest_pole_rad_s is None else f"{found.fastest_pole_rad_s:.3g} rad/s"
    driven = ", ".join(f"{port} {words}" for port, words in found.motions.items())
    pairs(
        console,
        [
            ("error wanted", f"{found.error:g}", "of the largest value of each output and coordinate"),
            ("motion", f"{found.duration_s:g} s", escape(driven) or "free"),
            ("fastest pole", pole or "the file's pose is singular", "in the file's pose"),
            ("speed", f"{found.speed_rad_s:.3g} rad/s", "of the motion"),
        ],
    )  # fmt: skip
    if found.reference:
        console.print(f"reference: {escape(found.reference)}", style="dim", highlight=False)
    print_table(_table(found), console)
    console.print()
    if found.refusal:
        console.print(f"[red]no advice[/]  {escape(found.refusal)}", highlight=False)
        return
    words = " ".join(f"--option {key}={value}" for key, value in found.options.items())
    console.print(f"[green]take[/]  {escape(words)}", highlight=False, soft_wrap=True)


def _table(found: Advised) -> Table:
    table = Table(title="measured, cheapest first", **LOOK)
    for head in ("formulation", "integrator"):
        table.add_column(head, no_wrap=True)
    for head in ("step ms", "µs a step", "µs a second", "error"):
        table.add_column(head, justify="right", no_wrap=True)
    table.add_column("worst signal, or why it stopped")
    for run in found.runs:
        is_best = found.best is not None and _key(run) == _key(found.best)
        error = "" if run.error is None else f"{run.error:.2g}"
        if run.meets:
            error = f"[green]{error}[/]"
        table.add_row(
            run.formulation,
            run.integrator,
            f"{1e3 * run.step_s:g}",
            "" if run.step_us is None else f"{run.step_us:.3g}",
            "" if run.us_per_s is None else f"{run.us_per_s:.4g}",
            error,
            escape(run.problem or run.worst),
            style="bold" if is_best else None,
        )
    return table


def _key(run: Run) -> tuple[str, str, float]:
    return run.formulation, run.integrator, run.step_s

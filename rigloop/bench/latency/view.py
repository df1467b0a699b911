"""The tables that a person sees when a latency test has ended."""

from __future__ import annotations

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from rigloop.bench.latency.model import Figures
from rigloop.bench.latency.outcome import LatencyOutcome, Result


def show(outcome: LatencyOutcome, console: Console) -> None:
    """Print the distributions, their parts, the verdict and where the report is."""
    table = Table(
        title="sign change of the encoder → torque of the new sign, ms", title_justify="left"
    )
    table.add_column("", no_wrap=True)
    for name in ("n", "mean", "p50", "p99", "p99.9", "max"):
        table.add_column(name, justify="right", no_wrap=True)
    for result in outcome.results:
        _rows(table, result)
    console.print(table)
    for result in outcome.results:
        for note in result.notes:
            console.print(
                f"[yellow]•[/] Ts = {result.period_us / 1e3:g} ms: {escape(note)}", highlight=False
            )
    console.print("[bold green]GOOD[/]" if outcome.good else "[bold red]BAD[/]", end="  ")
    console.print(escape("; ".join(outcome.reasons)) or "within the limits", highlight=False)
    console.print(escape(f"{outcome.folder}/report.html"), soft_wrap=True, highlight=False)


def _rows(table: Table, result: Result) -> None:
    _row(table, f"Ts = {result.period_us / 1e3:g} ms", result.latency)
    for name, part in result.groups.items():
        _row(table, f"  {name}", part)
    delay_ms, period_ms = result.path_delay_ns / 1e6, result.period_us / 1e3
    shares = (0.5, 0.5, 0.99, 0.999, 1.0)
    table.add_row("model", "", *(f"{delay_ms + share * period_ms:.3f}" for share in shares))
    table.add_row("limit", "", "", "", "", f"{result.limit_ns / 1e6:.3f}", "")
    if result.response is not None:
        _row(table, "through the drive", result.response)
    table.add_row("published, through", "", "", "", "", "", f"{result.published_ns / 1e6:.3f}")
    table.add_section()


def _row(table: Table, name: str, f: Figures) -> None:
    figures = (f"{ns / 1e6:.3f}" for ns in (f.mean, f.p50, f.p99, f.p99_9, f.max))
    table.add_row(name, str(f.n), *figures)

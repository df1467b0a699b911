"""The tables that a person sees when a latency test has ended."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console

from rigloop.bench.latency.model import Figures
from rigloop.bench.latency.outcome import LatencyOutcome, Result
from rigloop.display.numbers import milliseconds
from rigloop.display.tables import Table, figures, words
from rigloop.display.tables import show as show_table
from rigloop.display.verdict import remark, show_places, show_verdict


def show(outcome: LatencyOutcome, console: Console) -> None:
    """Print the distributions, their parts, the verdict and where the report is."""
    heads = figures("n", "mean", "p50", "p99", "p99.9", "max", whole=True)
    rows = [row for result in outcome.results for row in _rows(result)]
    title = "sign change of the encoder → torque of the new sign, ms"
    show_table(Table([*words("", whole=True), *heads], rows, title), console)
    for result in outcome.results:
        for note in result.notes:
            remark(f"Ts = {result.period_us / 1e3:g} ms: {note}", console)
    show_verdict(outcome.good, outcome.reasons, console, otherwise="within the limits")
    show_places([f"{outcome.folder}/report.html"], console)


def _rows(result: Result) -> Iterator[list[str]]:
    yield _row(f"Ts = {result.period_us / 1e3:g} ms", result.latency)
    for name, part in result.groups.items():
        yield _row(f"  {name}", part)
    delay_ms, period_ms = result.path_delay_ns / 1e6, result.period_us / 1e3
    shares = (0.5, 0.5, 0.99, 0.999, 1.0)
    yield ["model", "", *(f"{delay_ms + share * period_ms:.3f}" for share in shares)]
    yield ["limit", "", "", "", "", milliseconds(result.limit_ns), ""]
    if result.response is not None:
        yield _row("through the drive", result.response)
    yield ["published, through", "", "", "", "", "", milliseconds(result.published_ns)]
    yield []


def _row(name: str, f: Figures) -> list[str]:
    return [name, str(f.n), *map(milliseconds, (f.mean, f.p50, f.p99, f.p99_9, f.max))]

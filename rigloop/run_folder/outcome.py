"""The end of a run: the figures that the command prints, and those that decide its exit code."""

from __future__ import annotations

import msgspec
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from rigloop.run_folder.manifest import Injected


class Outcome(msgspec.Struct, frozen=True):
    """Verdict of a run, with the figures that it was judged by.

    `figures` are rows of label, value with its unit, and remark; `notes` are sentences: what the log had, or
    which rights are missing and how to get them. `banner` is the line of a degraded run. `injections`
    says what became of the faults on purpose.
    """

    good: bool
    reasons: list[str]
    folder: str
    figures: list[tuple[str, str, str]]
    notes: list[str]
    banner: str = ""
    injections: list[Injected] = []

    def print(self, console: Console) -> None:
        """Show figures, verdict and the run folder."""
        table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
        table.add_column(style="dim", no_wrap=True)
        table.add_column(justify="right", no_wrap=True)
        table.add_column(style="dim")
        for row in self.figures:
            table.add_row(*map(escape, row))
        console.print(table)
        for injected in self.injections:
            colour = "green" if injected.good else "red"
            console.print(
                f"[{colour}]•[/] {escape(injected.line())}", highlight=False, soft_wrap=True
            )
        for note in self.notes:
            console.print(f"[yellow]•[/] {escape(note)}", highlight=False, soft_wrap=True)
        if self.banner:
            console.print(f"[bold yellow]{escape(self.banner)}[/]", soft_wrap=True, highlight=False)
        console.print("[bold green]GOOD[/]" if self.good else "[bold red]BAD[/]", end="  ")
        console.print(escape("; ".join(self.reasons)) or "ran as asked", highlight=False)
        for place in (self.folder, f"{self.folder}/report.html"):
            console.print(place, soft_wrap=True, highlight=False, markup=False)

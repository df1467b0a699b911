"""The end of a run: the figures that the command prints, and those that decide its exit code."""

from __future__ import annotations

from pathlib import Path

import msgspec
from rich.console import Console

from rigloop.display.tables import facts, show
from rigloop.display.verdict import line, remark, show_places, show_verdict
from rigloop.run_folder.manifest import REPORT, Injected


class Outcome(msgspec.Struct, frozen=True):
    """Verdict of a run, with the figures that it was judged by.

    `figures` are rows of label, value with its unit, and remark; `notes` are sentences: what the log had, or
    which rights are missing and how to get them. `banner` is the line of a degraded run. `injections`
    says what became of the faults on purpose. `limited` is the line of a run whose rig is not signed off.
    """

    good: bool
    reasons: list[str]
    folder: str
    figures: list[tuple[str, str, str]]
    notes: list[str]
    banner: str = ""
    injections: list[Injected] = []
    limited: str = ""

    def print(self, console: Console) -> None:
        """Show figures, verdict and the run folder."""
        show(facts(self.figures, at_right=True), console)
        for injected in self.injections:
            remark(injected.line(), console, colour="green" if injected.good else "red")
        for note in self.notes:
            if note != self.limited:
                remark(note, console)
        if self.limited:
            line(self.limited, console, tone="bold yellow")
        if self.banner:
            line(self.banner, console, tone="bold yellow")
        show_verdict(self.good, self.reasons, console, otherwise="ran as asked")
        page = Path(self.folder, REPORT)
        show_places((self.folder, *([str(page)] if page.exists() else [])), console)

"""The display of `rigloop doctor`: everything at a glance, then cause and remedy of each check that is not green."""

from __future__ import annotations

from collections import Counter
from typing import Any

from rich.console import Console
from rich.markup import escape

from rigloop.display import tables
from rigloop.display.levels import TONES
from rigloop.display.tables import STYLES, Cell, Table, Toned
from rt_core.doctor.check import Check, Level, banner, is_good


def show(checks: list[Check], console: Console) -> None:
    """Print a table, and below it each remedy on a line of its own, to be pasted whole."""
    columns = [*tables.words("", "", whole=True), *tables.words("", folds=True)]
    rows: list[list[Cell]] = [
        [Toned(check.level, TONES[check.level]), check.name, check.found] for check in checks
    ]
    tables.show(Table(columns, rows), console)
    for check in checks:
        if check.level is not Level.GREEN:
            # the terminal wraps these lines itself: what is copied from it has no line break
            console.print(f"\n{_level(check)} [bold]{escape(check.name)}[/]: {escape(check.cause)}", soft_wrap=True,
                          highlight=False)  # fmt: skip
            for line in check.remedy.splitlines():
                console.print(f"  {line}", soft_wrap=True, highlight=False, markup=False)
    count = Counter(check.level for check in checks)
    console.print(
        "\n" + ", ".join(f"[{STYLES[TONES[level]]}]{count[level]} {level}[/]" for level in Level),
        highlight=False,
    )


def as_message(checks: list[Check], rig: str | None, bus: str | None) -> dict[str, Any]:
    """Return the same as plain data."""
    return {
        "rig": rig,
        "bus": bus,
        "good": is_good(checks),
        "banner": banner(checks),
        "checks": checks,
    }


def _level(check: Check) -> str:
    return f"[{STYLES[TONES[check.level]]}]{check.level:<5}[/]"

"""The display of `rigloop doctor`: everything at a glance, then cause and remedy of each check that is not green."""

from __future__ import annotations

from collections import Counter
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from rt_core.doctor.check import Check, Level, banner, is_good

STYLE = {Level.RED: "bold red", Level.AMBER: "yellow", Level.GREEN: "green"}


def show(checks: list[Check], console: Console) -> None:
    """Print a table, and below it each remedy on a line of its own, to be pasted whole."""
    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for check in checks:
        table.add_row(_level(check), escape(check.name), escape(check.found))
    console.print(table)
    for check in checks:
        if check.level is not Level.GREEN:
            # the terminal wraps these lines itself: what is copied from it has no line break
            console.print(f"\n{_level(check)} [bold]{escape(check.name)}[/]: {escape(check.cause)}", soft_wrap=True,
                          highlight=False)  # fmt: skip
            for line in check.remedy.splitlines():
                console.print(f"  {line}", soft_wrap=True, highlight=False, markup=False)
    count = Counter(check.level for check in checks)
    console.print(
        "\n" + ", ".join(f"[{STYLE[level]}]{count[level]} {level}[/]" for level in Level),
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
    return f"[{STYLE[check.level]}]{check.level:<5}[/]"

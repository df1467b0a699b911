"""A measurement that needs FIFO priorities ends in words where it cannot have them."""

from __future__ import annotations

import typer
from rich.console import Console

from rt_core.host.rights import acquire_rights


def need_fifo(priority: int, core: int, console: Console) -> None:
    """Take FIFO priorities up to this one on a core; else say why not, and end with exit code 2."""
    rights = acquire_rights(priority, [core])
    if not rights.fifo:
        console.print(f"nothing to measure without FIFO priorities: {rights.verdict}")
        raise typer.Exit(2)

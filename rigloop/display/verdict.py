"""The end of a command's words: remarks, the verdict with its reasons, and where the files are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.text import Text


def line(text: str, console: Console, *, tone: str = "") -> None:
    """Print a line as it is; the terminal wraps it, so that what is copied has no line break of ours."""
    console.print(Text(text, tone), soft_wrap=True, highlight=False)


def paragraph(text: str, console: Console, *, tone: str = "") -> None:
    """Print sentences, broken between words."""
    console.print(Text(text, tone), highlight=False)


def remark(text: str, console: Console, *, colour: str = "yellow") -> None:
    """Print a sentence behind a point of a colour."""
    console.print(Text.assemble(("•", colour), " ", text), soft_wrap=True, highlight=False)


def show_verdict(
    is_good: bool,
    reasons: Sequence[str],
    console: Console,
    *,
    otherwise: str = "",
    incomplete: bool = False,
) -> None:
    """Print the verdict with its reasons, or what there is to say without any.

    Incomplete is one that is not good, for nothing was bad but not all was tried.
    """
    word = ("GOOD", "bold green") if is_good else ("BAD", "bold red")
    if incomplete:
        word = ("INCOMPLETE", "bold yellow")
    said = "; ".join(reasons) or otherwise
    console.print(Text.assemble(word, f"  {said}" if said else ""), soft_wrap=True, highlight=False)


def show_places(places: Iterable[object], console: Console) -> None:
    """Print a path a line."""
    for place in places:
        line(str(place), console)

"""Figures against their bars: one row each, and the table of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from rich.console import Console

from rigloop.display.tables import HOLDS, TONE_OF, Cell, Table, Tone, Toned, figures, words
from rigloop.display.tables import show as show_table
from timing.rounds import Rounds


@dataclass(frozen=True)
class Row:
    """One figure; `holds` is None where there is no bar, or nothing could be measured."""

    section: str
    what: str
    ours: str
    other: str = ""
    ratio: float | None = None
    bar: str = ""
    holds: bool | None = None
    remark: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return asdict(self)


def compared(
    section: str, what: str, rounds: Rounds, ours: str, other: str, bars: dict[str, float | None]
) -> list[Row]:
    """Return ratios of medians, a row for each figure of `bars` (`p50`, `p99`, `p99_9`)."""
    if not rounds.n:
        return [
            skipped(
                section, what, f"all {rounds.dropped} rounds dropped: {rounds.error or 'steal'}"
            )
        ]
    rows = []
    for figure, bar in bars.items():
        a, b = rounds.median(ours, figure), rounds.median(other, figure)
        rows.append(
            Row(
                section,
                f"{what}, {figure.replace('_', '.')}",
                f"{a:.1f}",
                f"{b:.1f}",
                a / b,
                f"≤ {bar:g}" if bar is not None else "",
                None if bar is None else a / b <= bar,
                judged_rounds(rounds),
            )
        )
    return rows


def judged_rounds(rounds: Rounds) -> str:
    """Return how many rounds were kept, and how clean they are."""
    stolen = f", ≤ {rounds.stolen} ticks stolen" if rounds.stolen else ""
    return f"{rounds.n} of {rounds.n + rounds.dropped} rounds{stolen}"


def skipped(section: str, what: str, why: str) -> Row:
    """Return a row for what could not be measured, and why."""
    return Row(section, what, "not measured", remark=why)


def show(rows: Iterable[Row], console: Console) -> None:
    """Print rows under each other, the section once."""
    cells: list[list[Cell]] = []
    last = ""
    for row in rows:
        section = Toned(row.section if row.section != last else "", Tone.STRONG)
        last = row.section
        ratio = "" if row.ratio is None else f"{row.ratio:.3g}"
        holds = Toned(HOLDS[row.holds], TONE_OF[row.holds])
        cells.append([section, row.what, row.ours, row.other, ratio, row.bar, holds, row.remark])
    columns = [
        *words("", "", whole=True),
        *figures("µs", "against µs", "ratio", "bar", whole=True),
        *words("", whole=True),
        *words("", tone=Tone.SOFT),
    ]
    show_table(Table(columns, cells), console)

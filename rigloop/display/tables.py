"""One record of a table for people: a terminal, a page of HTML and a document of Markdown show the same.

Cells are plain text, so that a foreign name in one is never markup. What has a meaning beyond its words says so
with a tone, and each medium has its own way to show that. `--json` gives the facts themselves, not this text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

import rich.table
from rich.console import Console
from rich.text import Text


class Tone(StrEnum):
    """The meaning of a piece of text, beyond its words."""

    PLAIN = ""
    GOOD = "good"
    WARN = "warn"
    BAD = "bad"
    SOFT = "soft"
    STRONG = "strong"
    CODE = "code"


STYLES = {
    Tone.PLAIN: "",
    Tone.GOOD: "green",
    Tone.WARN: "yellow",
    Tone.BAD: "bold red",
    Tone.SOFT: "dim",
    Tone.STRONG: "bold",
    Tone.CODE: "",
}
HOLDS = {True: "holds", False: "does not", None: ""}
TONE_OF = {True: Tone.GOOD, False: Tone.BAD, None: Tone.PLAIN}


class Toned(NamedTuple):
    """A piece of text with its tone."""

    text: str
    tone: Tone


# several pieces stand one after the other
Cell = str | Toned | list[Toned]


@dataclass(frozen=True)
class Column:
    """A column: how its cells stand.

    `is_figure` puts them at the right. A `whole` cell is not broken over several lines while another column
    can give way; one that `folds` is broken anywhere rather than cut.
    """

    head: str = ""
    is_figure: bool = False
    whole: bool = False
    folds: bool = False
    tone: Tone = Tone.PLAIN


@dataclass(frozen=True)
class Row:
    """A row with a tone of its own."""

    cells: Sequence[Cell]
    tone: Tone = Tone.PLAIN


@dataclass(frozen=True)
class Table:
    """Columns and rows; an empty row parts groups of them.

    `most` is how many rows a terminal shows; `note` stands below the table.
    """

    columns: Sequence[Column]
    rows: Sequence[Row | Sequence[Cell]]
    title: str = ""
    note: str = ""
    most: int | None = None
    gap: int = 2

    @property
    def has_heads(self) -> bool:
        """Tell whether any column has a head."""
        return any(column.head for column in self.columns)

    @property
    def groups(self) -> list[list[Row]]:
        """Return the rows between the empty ones."""
        groups: list[list[Row]] = [[]]
        for row in map(_row, self.rows):
            if row.cells:
                groups[-1].append(row)
            else:
                groups.append([])
        return [group for group in groups if group]


def words(
    *heads: str, whole: bool = False, folds: bool = False, tone: Tone = Tone.PLAIN
) -> list[Column]:
    """Return columns whose cells begin at the left."""
    return [Column(head, whole=whole, folds=folds, tone=tone) for head in heads]


def figures(*heads: str, whole: bool = False) -> list[Column]:
    """Return columns of numbers, which end at the right."""
    return [Column(head, is_figure=True, whole=whole) for head in heads]


def facts(rows: Sequence[Sequence[Cell]], *, at_right: bool = False) -> Table:
    """Return the table of a name, its value and a remark in each row, without heads."""
    return Table(
        [
            Column(whole=True, tone=Tone.SOFT),
            Column(whole=True, is_figure=at_right),
            Column(tone=Tone.SOFT),
        ],
        rows,
    )


def pieces(cell: Cell) -> list[Toned]:
    """Return the pieces of a cell."""
    if isinstance(cell, str):
        return [Toned(cell, Tone.PLAIN)]
    return [cell] if isinstance(cell, Toned) else cell


def show(table: Table, console: Console) -> None:
    """Print a table on a terminal."""
    made = rich.table.Table(
        show_header=table.has_heads, box=None, padding=(0, table.gap, 0, 0), pad_edge=False
    )
    for column in table.columns:
        made.add_column(
            Text(column.head),
            justify="right" if column.is_figure else "left",
            style=STYLES[column.tone],
            no_wrap=column.whole,
            overflow="fold" if column.folds else "ellipsis",
        )
    for row in map(_row, table.rows[: table.most]):
        made.add_row(*map(_text, row.cells), style=STYLES[row.tone])
    # title and notes are as wide as the terminal, not as the columns
    if table.title:
        console.print(Text(table.title, "bold"))
    console.print(made, highlight=False)
    for note in _notes(table):
        console.print(Text(note, "dim"))


def show_filled(tables: Iterable[Table], console: Console) -> None:
    """Print those tables that have rows, an empty line before each."""
    for table in tables:
        if table.rows:
            console.print()
            show(table, console)


def markdown(table: Table) -> list[str]:
    """Return the lines of a table in a document."""
    rules = ["---:" if column.is_figure else "---" for column in table.columns]
    plain = (["".join(p.text for p in pieces(cell)) for cell in row.cells] for row in _rows(table))
    heads = [column.head for column in table.columns]
    return ["| " + " | ".join(cells) + " |" for cells in (heads, rules, *plain)]


def _rows(table: Table) -> Iterator[Row]:
    return (row for group in table.groups for row in group)


def _row(row: Row | Sequence[Cell]) -> Row:
    return row if isinstance(row, Row) else Row(row)


def _text(cell: Cell) -> Text:
    return Text.assemble(*((piece.text, STYLES[piece.tone]) for piece in pieces(cell)))


def _notes(table: Table) -> list[str]:
    cut = 0 if table.most is None else len(table.rows) - table.most
    more = f"… and {cut} more: --json has all" if cut > 0 else ""
    return [note for note in (more, table.note) if note]

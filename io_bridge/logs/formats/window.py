"""Rows of a binary file that are read at a time, of all of its tables or of one."""

from __future__ import annotations

from dataclasses import dataclass, replace

from io_bridge.logs.formats.table import Table


@dataclass(frozen=True)
class Window:
    """Rows that are read at a time.

    Attributes
    ----------
    begin : int
        First row.
    size : int
        Rows of a part.
    table : int or None
        Number of the table in the file; None: all of them.
    columns : tuple of str or None
        Columns that are read; None: all of them.
    """

    begin: int
    size: int
    table: int | None = None
    columns: tuple[str, ...] | None = None

    def wants(self, column: str) -> bool:
        """Tell whether a column is read."""
        return self.columns is None or column in self.columns

    def placed(self, table: Table, first: int) -> Table:
        """Return a table of the rows from `first` on, with their numbers in the file."""
        if self.columns is not None:
            table = table.only(self.columns)
        return replace(table, row=table.row + first, n_rows=first + len(table.row))

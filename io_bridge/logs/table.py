"""Read a delimited text file into columns of text, refusing anything else."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

MAX_BYTES = 512 * 2**20
MAX_COLUMNS = 256
MAX_LINE_CHARS = 65_536


class LogError(ValueError):
    """A log cannot be used; one line names the file, the place and the reason."""


@dataclass(frozen=True)
class TextTable:
    """Columns of text cells.

    Attributes
    ----------
    path : Path
        Where it came from.
    columns : tuple of str
        Header, in file order.
    cells : dict of str to list of str
        One list per wanted column, stripped, all of the same length.
    dropped_last : bool
        The last line has no end of line, so its last cell may be cut: the row was left out.
    """

    path: Path
    columns: tuple[str, ...]
    cells: dict[str, list[str]]
    dropped_last: bool

    def numbers(self, column: str) -> NDArray[np.float64]:
        """A column as float64, blank cells as NaN.

        Raises
        ------
        LogError
            A cell is not a number; names the first one.
        """
        cells = self.cells[column]
        try:
            return np.array([float(cell) if cell else np.nan for cell in cells])
        except ValueError:
            pass
        row = next(i for i, cell in enumerate(cells) if cell and not _is_number(cell))
        raise LogError(
            f"{self.path}: row {row}, column {column}: {cells[row]!r:.40} is not a number "
            "(rows count from 0 after the header)"
        )


def read_header(path: Path, delimiter: str = ",") -> tuple[str, ...]:
    """The column names of a log; checks first that it is a readable text file.

    Raises
    ------
    LogError
        Missing, a folder, unreadable, empty, too large, binary, or the first line is not a header.
    """
    line = _first_line(path)
    try:
        columns = tuple(cell.strip() for cell in next(csv.reader([line], delimiter=delimiter)))
    except (csv.Error, StopIteration) as error:
        raise LogError(f"{path}: the first line is not a header: {error}") from error
    if len(columns) > MAX_COLUMNS:
        raise LogError(f"{path}: {len(columns)} columns, at most {MAX_COLUMNS} are read")
    repeated = sorted({name for name in columns if columns.count(name) > 1})
    if repeated:
        raise LogError(f"{path}: column {repeated[0]!r} occurs more than once in the header")
    if all(_is_number(name) for name in columns):
        raise LogError(f"{path}: the first line holds numbers; it must name the columns")
    return columns


def read_table(path: Path, wanted: tuple[str, ...], delimiter: str = ",") -> TextTable:
    """Read the wanted columns of a log, all rows.

    Parameters
    ----------
    path : Path
        A text file, UTF-8, with a header line.
    wanted : tuple of str
        Columns to keep; each is in the header.
    delimiter : str, optional
        One character.

    Raises
    ------
    LogError
        As `read_header`, or no data, a row of another length (a cut last line says so), a line too
        long.
    """
    columns = read_header(path, delimiter)
    index = [(name, columns.index(name)) for name in wanted]
    cells: dict[str, list[str]] = {name: [] for name in wanted}
    ends_in_newline = _ends_in_newline(path)
    row = -1
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            lines = csv.reader(_bounded(file, path), delimiter=delimiter)
            next(lines)
            short: int | None = None
            for line in lines:
                if not line:
                    continue
                if short is not None:
                    raise LogError(
                        f"{path}: row {row} has {short} cells, the header has {len(columns)}"
                    )
                row += 1
                if len(line) != len(columns):
                    short = len(line)
                    continue
                for name, i in index:
                    cells[name].append(line[i].strip())
    except UnicodeDecodeError as error:
        raise LogError(f"{path}: not a text file: byte {error.start} is not UTF-8") from error
    except csv.Error as error:
        raise LogError(f"{path}: row {row + 1}: {error}") from error
    if row < 0:
        raise LogError(f"{path}: a header but no data row")
    if short is not None:
        raise LogError(
            f"{path}: truncated: the last row ({row}) has {short} of {len(columns)} cells; "
            "delete that line to use the rest"
        )
    if not ends_in_newline:
        for kept in cells.values():
            kept.pop()
    return TextTable(path, columns, cells, dropped_last=not ends_in_newline)


def _first_line(path: Path) -> str:
    try:
        if path.is_dir():
            raise LogError(f"{path}: is a folder, not a log")
        if not path.exists():
            raise LogError(f"{path}: no such file")
        if not path.is_file():
            raise LogError(f"{path}: is not a regular file")
        size = path.stat().st_size
        if size == 0:
            raise LogError(f"{path}: is empty")
        if size > MAX_BYTES:
            raise LogError(
                f"{path}: {size / 2**20:.0f} MiB, at most {MAX_BYTES >> 20} MiB are read"
            )
        with path.open("rb") as file:
            head = file.read(MAX_LINE_CHARS)
    except OSError as error:
        raise LogError(f"{path}: cannot be read: {error.strerror}") from error
    if b"\0" in head:
        raise LogError(f"{path}: not a text file: it holds NUL bytes")
    line = head.split(b"\n", 1)[0]
    if len(line) == MAX_LINE_CHARS:
        raise LogError(f"{path}: not a log: no end of line in the first {MAX_LINE_CHARS} bytes")
    try:
        return line.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise LogError(f"{path}: not a text file: byte {error.start} is not UTF-8") from error


def _ends_in_newline(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(-1, 2)
        return file.read(1) in b"\r\n"


def _bounded(file, path: Path):
    for number, line in enumerate(iter(lambda: file.readline(MAX_LINE_CHARS), ""), start=1):
        if len(line) >= MAX_LINE_CHARS:
            raise LogError(f"{path}: line {number} is longer than {MAX_LINE_CHARS} characters")
        if "\0" in line:
            raise LogError(f"{path}: not a text file: line {number} holds NUL bytes")
        yield line


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True

"""The rows of a text: those of plain numbers all at once, the others line by line, with what is wrong about them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from io_bridge.logs.formats.dialect import HEXADECIMAL, NO_NUMBER
from io_bridge.logs.formats.header import Layout, cells_of
from io_bridge.logs.formats.rows import read_rows
from io_bridge.logs.formats.table import MOST_SPOILT, Array, Spoilt
from io_bridge.logs.formats.text_lines import lines_of, words_of

AT_ONCE = 1 << 16  # lines whose rows get their memory together
LONGEST_LINE = 65_536
SHOWN = 40  # letters of a spoilt place
LOOKED_BACK = 1 << 18  # bytes before the last row, by which it is known as cut
OF_NUMBERS = frozenset("0123456789+-.eE")
OF_WORDS, OF_HEXADECIMAL = 1, 2  # kinds of columns of `read_rows`
MOST_KNOWN = 4096  # words that are kept as they were read


class TextRows:
    """The rows of a table as they are read: numbers and words column by column, and where each row stood.

    Attributes
    ----------
    inner : str
        Encoding of the text.
    words : dict of int to list of str
        By column, of those whose words are kept.
    n_rows : int
        Rows of the file so far, those that could not be read too.
    at_line : int
        Lines of the file so far.
    """

    def __init__(self, layout: Layout, n_columns: int, inner: str, n_rows: int, line: int) -> None:
        self.inner, self.n_rows, self.at_line = inner, n_rows, line
        kinds = [
            OF_WORDS if is_word else OF_HEXADECIMAL if is_hexadecimal else 0
            for is_word, is_hexadecimal in zip(layout.is_word, layout.is_hexadecimal, strict=True)
        ]
        self.words: dict[int, list[str]] = {k: [] for k, kind in enumerate(kinds) if kind}
        self._kinds = np.array(kinds, np.uint8) if self.words else None
        self.spoilt: list[Spoilt] = []
        self.blocks: list[tuple[Array, NDArray[np.int64]]] = []
        self._n_columns = n_columns
        self._n = self._room = 0

    def reserve(self, most: int) -> None:
        """Make room for the next rows, `most` of them."""
        self.close()
        self._room = most
        self.numbers = np.empty((self._n_columns, most))
        self._place = np.empty((2, most), np.int64)  # row and line
        self._spans = np.empty((len(self.words), most, 2), np.int64) if self.words else None

    def close(self) -> None:
        """Keep the rows of the room that there is."""
        if self._n:
            self.blocks.append((self.numbers[:, : self._n], self._place[:, : self._n]))
        self._n = self._room = 0

    def fill(self, text: bytes, at: int, most: int, layout: Layout) -> tuple[int, int]:
        """Take plain rows from a place of a text on; return their number and the place behind them."""
        dialect, most = layout.dialect, min(most, self._room - self._n)
        done, at = read_rows(
            text, at, self.numbers, self._n, most, dialect.delimiter, dialect.decimal, self._kinds, self._spans
        )  # fmt: skip
        if done:
            self._take_words(text, done)
            here = slice(self._n, self._n + done)
            self._place[0, here] = np.arange(self.n_rows, self.n_rows + done)
            self._place[1, here] = np.arange(self.at_line + 1, self.at_line + done + 1)
            self._n += done
            self.n_rows += done
            self.at_line += done
        return done, at

    def _take_words(self, text: bytes, done: int) -> None:
        if self._spans is None:
            return
        known: dict[bytes, str] = {}  # most words of a log are few
        for words, spans in zip(self.words.values(), self._spans, strict=True):
            for begin, end in spans[self._n : self._n + done].tolist():
                word = text[begin:end]
                if word not in known:
                    if len(known) > MOST_KNOWN:
                        known.clear()
                    known[word] = words_of(word, self.inner).strip()
                words.append(known[word])

    def add(self, values: list[float], cells: list[str]) -> None:
        """Take one row."""
        self.numbers[:, self._n] = values
        self._place[:, self._n] = self.n_rows, self.at_line + 1
        self._n += 1
        for k, words in self.words.items():
            words.append(cells[k])

    def tell(self, kind: str, text: str, expected: str, column: str = "") -> None:
        """List what is wrong about the line."""
        if len(self.spoilt) < MOST_SPOILT:
            place = (self.n_rows, self.at_line + 1)
            self.spoilt.append(Spoilt(kind, *place, text[:SHOWN], expected, column))

    def columns(self) -> tuple[Array, NDArray[np.int64]]:
        """Return the numbers, a row a column, and data row and line of each."""
        self.close()
        if len(self.blocks) == 1:
            return self.blocks[0]
        none = [(np.zeros((self._n_columns, 0)), np.zeros((2, 0), np.int64))]
        numbers, places = zip(*(self.blocks or none), strict=True)
        return np.concatenate(numbers, axis=1), np.concatenate(places, axis=1)


def take_rows(
    text: bytes, at: int, layout: Layout, names: list[str], rows: TextRows, ends_well: bool
) -> None:
    """Take the rows of a text from a place on; its last line may be cut where it does not end well."""
    delimiter = layout.dialect.delimiter
    is_plain = delimiter.isascii() and delimiter not in OF_NUMBERS
    left = text.count(b"\n", at) + (not text.endswith(b"\n"))
    while left > 0 and at < len(text):
        rows.reserve(min(left, AT_ONCE))
        end = rows.at_line + min(left, AT_ONCE)
        # the last line may be cut, which shows only beside the others
        plain_end = end - (left <= AT_ONCE and not ends_well) if is_plain else 0
        while rows.at_line < end and at < len(text):
            if rows.at_line < plain_end:
                done, at = rows.fill(text, at, plain_end - rows.at_line, layout)
                if done:
                    continue
            stop = text.find(b"\n", at)
            stop = len(text) if stop < 0 else stop
            is_last = stop + 1 >= len(text) and not ends_well
            shortest = _shortest(text, at, rows.inner) if is_last else 0
            _one(layout, names, words_of(text[at:stop], rows.inner), rows, is_last, shortest)
            rows.at_line += 1
            at = stop + 1
        left -= AT_ONCE


def _shortest(text: bytes, end: int, inner: str) -> int:
    lines = lines_of(text[max(0, end - LOOKED_BACK) : end], inner)[1:]
    return min((len(line.strip()) for line in lines if line.strip()), default=0)


def _one(
    layout: Layout, names: list[str], line: str, rows: TextRows, is_last: bool, shortest: int
) -> None:
    # a line by itself: a row, or what is wrong with it
    if not line.strip() or rows.at_line == layout.header:
        return
    n, cells = layout.dialect.n_columns, cells_of(layout.dialect, line[:LONGEST_LINE])
    if is_last and (len(cells) != n or len(line.strip()) < shortest):
        rows.tell("cut last row", line, f"{n} whole cells and an end of the line")
    elif layout.is_header(cells):
        rows.tell("repeated header", line, "a row of numbers")
    elif len(cells) != n:
        rows.tell("damaged row", line, f"{n} cells, here {len(cells)}")
    else:
        values = _values(layout, names, cells, rows)
        if values is not None:
            rows.add(values, cells)
    rows.n_rows += 1


def _values(
    layout: Layout, names: list[str], cells: list[str], rows: TextRows
) -> list[float] | None:
    values, wrong = [], []
    for k, cell in enumerate(cells):
        value = float("nan")
        if HEXADECIMAL.match(cell):
            value = float(int(cell[:20], 16))
        elif layout.dialect.is_number(cell):
            value = float(cell.replace(",", ".") if layout.dialect.decimal == "," else cell)
        elif not layout.is_word[k] and cell.lower() not in NO_NUMBER:
            wrong.append(k)
        values.append(value)
    if len(wrong) > 0.5 * (len(cells) - sum(layout.is_word)):
        rows.tell("damaged row", " ".join(cells), "a row of numbers")
        return None
    for k in wrong:
        rows.tell("damaged cell", cells[k], "a number", names[k])
    return values

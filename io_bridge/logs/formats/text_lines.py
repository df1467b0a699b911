"""The lines of a text log as bytes, whatever its packing, its encoding and its line ends, some at a time.

Lines end by a line feed here, and are in UTF-8 or an old code page: what rows of numbers are read from.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from pathlib import Path

import msgspec

from io_bridge.logs.formats.dialect import encoding_of
from io_bridge.logs.formats.opened import Unpacking
from io_bridge.logs.formats.table import MOST_STREAMED, LogError

HEAD_BYTES = 1 << 20  # by which its encoding is known
MOST_HELD = 64 << 20  # bytes without an end of a line
MINUS = "\N{MINUS SIGN}".encode()
COUNTED = 1 << 14  # bytes whose ends of lines are counted at once
MARKS = {"utf-8-sig": codecs.BOM_UTF8, "utf-16": codecs.BOM_UTF16_LE}


class LinesState(msgspec.Struct, frozen=True):
    """The place of a reader of lines between two pieces of its file."""

    encoding: str
    inner: str
    taken: int
    """Bytes of the file, once unpacked, that were read."""
    rest: bytes
    """Bytes that were read and wait for the end of their line."""
    lines: bytes
    """Whole lines that were not handed out yet."""


class TextLines:
    """The lines of a text, read forwards.

    Parameters
    ----------
    path : Path
        Plain, or packed with gzip or zstd.
    state : LinesState, optional
        Of a reader of the same file: the lines go on from there.

    Attributes
    ----------
    encoding : str
        Of the file.
    inner : str
        Without a mark at its beginning.
    is_cut : bool
        Its packing ended too early; known at the end.
    ends_well : bool
        The last line has an end; known at the end.

    Raises
    ------
    LogError
        It cannot be opened, or is not a text.
    """

    def __init__(self, path: Path, state: LinesState | None = None) -> None:
        self._path = path
        self._source = Unpacking(path, MOST_STREAMED)
        self.ends_well = True
        self._is_done = False
        if state is None:
            self._pieces = iter(self._source)
            head = b""
            for piece in self._pieces:
                head += piece
                if len(head) >= HEAD_BYTES:
                    break
            self.encoding = encoding_of(path, head, is_whole=len(head) < HEAD_BYTES)
            self.inner = inner_of(self.encoding, head)
            mark = len(MARKS.get(self.encoding, b""))
            self._taken, self._rest, self._lines, self._n = mark, b"", b"", 0
            self._take(head[mark:])
        else:
            self.encoding, self.inner, self._taken = state.encoding, state.inner, state.taken
            self._rest, self._lines = state.rest, state.lines
            self._n = state.lines.count(b"\n")
            self._pieces = self._source.after(state.taken)

    @property
    def is_cut(self) -> bool:
        """Return whether the packing ended too early."""
        return self._source.is_cut

    @property
    def state(self) -> LinesState:
        """Return the place of this reader."""
        return LinesState(self.encoding, self.inner, self._taken, self._rest, self._lines)

    @property
    def coming(self) -> bytes:
        """Return the whole lines that were not handed out yet."""
        return self._lines

    def blocks(self, size: int) -> Iterator[tuple[bytes, bool]]:
        """Yield `size` lines at a time, and whether they are the last ones.

        The last block has up to twice as many lines, and its last one may lack its end.
        """
        while True:
            while self._n <= 2 * size and not self._is_done:
                piece = next(self._pieces, None)
                if piece is None:
                    self._finish()
                else:
                    self._take(piece)
            if self._n <= 2 * size:
                block, self._lines, self._n = self._lines, b"", 0
                yield block, True
                return
            end = end_of_line(self._lines, 0, size)
            block, self._lines = self._lines[:end], self._lines[end:]
            self._n -= size
            yield block, False

    def _take(self, piece: bytes) -> None:
        self._taken += len(piece)
        raw = self._rest + piece
        if self.inner.startswith("utf-16"):
            feed = "\n".encode(self.inner)
            at = raw.rfind(feed)
            while at % 2 and at > 0:
                at = raw.rfind(feed, 0, at + 1)
            cut = at + 2 if at >= 0 and at % 2 == 0 else 0
        else:
            cut = raw.rfind(b"\n") + 1 or max(0, raw.rfind(b"\r", 0, len(raw) - 1) + 1)
        self._rest = raw[cut:]
        if len(self._rest) > MOST_HELD:
            raise LogError(
                f"{self._path}: no end of a line in the {MOST_HELD >> 20} MiB before byte {self._taken}; "
                "expected rows"
            )
        if cut:
            self._add(raw[:cut])

    def _finish(self) -> None:
        self._is_done = True
        rest, self._rest = self._rest, b""
        if rest:
            self._add(rest)
            self.ends_well = self._lines.endswith(b"\n")
            self._n += not self.ends_well

    def _add(self, raw: bytes) -> None:
        plain = as_lines(raw, self.inner)
        self._n += plain.count(b"\n")
        self._lines += plain


def inner_of(encoding: str, head: bytes) -> str:
    """Return the encoding of a text behind the mark at its beginning."""
    if encoding == "utf-16":
        return "utf-16-be" if head.startswith(codecs.BOM_UTF16_BE) else "utf-16-le"
    return "utf-8" if encoding == "utf-8-sig" else encoding


def as_lines(raw: bytes, inner: str) -> bytes:
    """Return a piece of a text, which ends where a line does, with line feeds and in bytes that begin as ASCII."""
    if inner not in ("utf-8", "cp1252"):
        raw = raw.decode(inner, errors="replace").encode(errors="replace")
    if b"\r" in raw:
        raw = raw.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return raw.replace(MINUS, b"-") if inner != "cp1252" and MINUS in raw else raw


def words_of(lines: bytes, inner: str) -> str:
    """Return lines as text; bytes that are none become a mark."""
    return lines.decode("cp1252" if inner == "cp1252" else "utf-8", errors="replace")


def lines_of(text: bytes, inner: str) -> list[str]:
    """Return the lines of a text, without their ends."""
    lines = words_of(text, inner).split("\n")
    if not lines[-1]:
        lines.pop()
    return lines


def end_of_line(text: bytes, at: int, n: int) -> int:
    """Return the place behind the `n`-th end of a line from `at` on; the end of the text if there are fewer."""
    while at < len(text):
        found = text.count(b"\n", at, at + COUNTED)
        if found >= n:
            break
        n, at = n - found, at + COUNTED
    else:
        return len(text)
    for _ in range(n):
        at = text.index(b"\n", at) + 1
    return at

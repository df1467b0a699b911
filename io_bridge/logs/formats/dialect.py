"""The dialect of a text log: encoding, delimiter, decimal sign, and where its columns begin."""

from __future__ import annotations

import codecs
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from io_bridge.logs.formats.stamps import STAMP
from io_bridge.logs.formats.table import LogError

DELIMITERS = (",", ";", "\t", "|", " ", ":")
RARELY = {" ": 0.95, ":": 0.5}  # a space parts words too, a colon the parts of a time
POINT = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\Z")
COMMA = re.compile(r"[+-]?(?:\d+,?\d*|,\d+)(?:[eE][+-]?\d+)?\Z")
NO_NUMBER = {"", "nan", "null", "none", "na", "n/a", "-", "inf", "-inf", "+inf", "--", "#n/a"}
BARE_HEXADECIMAL = re.compile(r"[0-9a-fA-F]{2,16}\Z")
HEXADECIMAL = re.compile(r"0[xX][0-9a-fA-F]+\Z")
BEGINS_COMMENT = ("#", "%", "//", "!", "'")
SAMPLE = 400  # lines that are looked at
REMARKS, LONGEST_REMARK = 0.9, 200
MOST_CONTROLS = 0.02  # of the first bytes of a text
PAGE_BYTES = 1 << 16
NO_ASCII = re.compile(rb"[\x80-\xff]+")
CHINESE = re.compile(rb"(?:[\xb0-\xf7][\xa1-\xfe]){2,}")
# two letters or more, the first of them with a first byte that is a rare sign in Europe
JAPANESE = re.compile(
    rb"[\x81-\x83\x88-\x9f][\x40-\x7e\x80-\xfc](?:[\x81-\x9f\xe0-\xea][\x40-\x7e\x80-\xfc])+"
)
CONTROLS = bytes(range(9)) + bytes(range(14, 32))


@dataclass(frozen=True)
class Dialect:
    """The way in which lines become cells."""

    delimiter: str
    decimal: str
    n_columns: int

    def cells(self, line: str) -> list[str]:
        """Return the cells of a line, stripped, without the quotes around them."""
        if self.delimiter == " ":
            return line.split()
        if '"' not in line:
            return [cell.strip() for cell in line.split(self.delimiter)]
        cells: list[str] = []
        piece: list[str] = []
        quoted = False
        for sign in line:
            if sign == '"':
                quoted = not quoted
            elif sign == self.delimiter and not quoted:
                cells.append("".join(piece).strip())
                piece = []
            else:
                piece.append(sign)
        return [*cells, "".join(piece).strip()]

    def is_number(self, cell: str) -> bool:
        """Tell a number in this dialect; a plain point is one beside a decimal comma too."""
        return bool(
            POINT.match(cell)
            or HEXADECIMAL.match(cell)
            or (self.decimal == "," and COMMA.match(cell))
        )


def decoded(path: Path, raw: bytes) -> tuple[str, str]:
    """Return the text of a file and its encoding; bytes that are not text become a mark in their cells.

    Raises
    ------
    LogError
        It is not text; names the first byte that no text has.
    """
    encoding = encoding_of(path, raw)
    return raw.decode(encoding, errors="replace"), encoding


def encoding_of(path: Path, raw: bytes, *, is_whole: bool = True) -> str:
    """Return the encoding of a text by its beginning.

    Parameters
    ----------
    is_whole : bool
        There is no more of it; else its last letter may be cut.

    Raises
    ------
    LogError
        It is not text; names the first byte that no text has.
    """
    for mark, name in (
        (codecs.BOM_UTF8, "utf-8-sig"),
        (codecs.BOM_UTF16_LE, "utf-16"),
        (codecs.BOM_UTF16_BE, "utf-16"),
    ):
        if raw.startswith(mark):
            return name
    head = raw[:4096]
    for name, zeros in (("utf-16-le", head[1::2]), ("utf-16-be", head[0::2])):
        if len(zeros) > 8 and zeros.count(0) > 0.8 * len(zeros):
            return name
    controls = len(head) - len(head.translate(None, CONTROLS))
    if controls > max(MOST_CONTROLS * len(head), 2):
        at = next(i for i, byte in enumerate(head) if byte in CONTROLS)
        raise LogError(
            f"{path}: byte {at} is {head[at]:#04x}: neither a text nor a format that is known here "
            "(expected CSV, MDF4, MCAP, Parquet, HDF5, MATLAB, candump, ASC, or a record of ours)"
        )
    try:
        codecs.getincrementaldecoder("utf-8")().decode(raw, final=is_whole)
    except UnicodeDecodeError:
        # a flipped byte in an English text, or an old code page: their letters stand only in names
        return _code_page(raw[:PAGE_BYTES])
    return "utf-8"


def _code_page(head: bytes) -> str:
    # of Japan or China where words of its letters are, in pairs of bytes that no European text has
    others = NO_ASCII.findall(head)
    if others and all(CHINESE.fullmatch(word) for word in others):
        return "gb18030"
    for match in JAPANESE.finditer(head):
        try:
            match[0].decode("cp932")
        except UnicodeDecodeError:
            continue
        return "cp932"
    return "cp1252"


def find_dialect(path: Path, lines: Sequence[str], delimiter: str | None = None) -> Dialect:
    """Find how the lines of a text are cut into cells.

    Parameters
    ----------
    path : Path
        Named in errors.
    lines : sequence of str
        The whole text.
    delimiter : str, optional
        Given by a mapping; found if not.

    Raises
    ------
    LogError
        No delimiter makes rows of numbers of it.
    """
    step = max(1, len(lines) // SAMPLE)
    sample = [line for line in (*lines[:60], *lines[60::step]) if line.strip()][: 2 * SAMPLE]
    best, most = None, 0.0
    for candidate in (delimiter,) if delimiter else DELIMITERS:
        for decimal in (
            (".", ",") if candidate != "," or any('"' in one for one in sample) else (".",)
        ):
            dialect = Dialect(candidate, decimal, 0)
            rows = [dialect.cells(line.strip("\r\n")) for line in sample]
            shapes = Counter(len(row) for row in rows if any(_is_value(dialect, c) for c in row))
            if not shapes:
                continue
            n, _ = shapes.most_common(1)[0]
            typical = [row for row in rows if len(row) == n]
            if n > 1 and all(row[-1] == "" for row in typical):
                # a delimiter at the end of each line makes no column
                n, typical = n - 1, [row[:-1] for row in typical]
            good = sum(_goodness(dialect, row) for row in typical)
            numbers = sum(_is_value(dialect, cell) for row in typical for cell in row)
            filled = sum(cell != "" for row in typical for cell in row)
            share = numbers / max(1, filled)
            # many rows of one length, made of numbers; a second column is worth more than a third
            score = good / len(rows) * share * (1.0 if n > 1 else 0.4) * (1.0 + 0.01 * min(n, 20))
            if decimal == "," and not any(_has_comma(c) for row in typical for c in row):
                score *= 0.5
            score *= RARELY.get(candidate, 1.0)
            if score > most + 1e-9:
                best, most = Dialect(candidate, decimal, n), score
    if best is None or most < 0.05:
        first = next((line.strip() for line in lines if line.strip()), "")
        raise LogError(
            f"{path}: no rows of numbers: line 1 begins with {first[:40]!r}; expected numbers between "
            "commas, semicolons, tabulators, bars or spaces"
        )
    return best


def _is_value(dialect: Dialect, cell: str) -> bool:
    return dialect.is_number(cell) or bool(STAMP.match(cell))


def _goodness(dialect: Dialect, row: list[str]) -> float:
    # 1 for numbers and words; remarks in words of their own are less likely, and stand beside numbers
    others = [cell for cell in row if not (_is_value(dialect, cell) or _is_word(cell))]
    if not others:
        return 1.0
    are_remarks = dialect.delimiter != " " and len(others) <= 0.5 * len(row)
    return REMARKS * (are_remarks and all(_is_remark(cell) for cell in others))


def _is_remark(cell: str) -> bool:
    return len(cell) <= LONGEST_REMARK and not any(sign in cell for sign in ";\t|")


def _is_word(cell: str) -> bool:
    return cell.lower() in NO_NUMBER or (
        0 < len(cell) <= 40 and "," not in cell and " " not in cell
    )


def _has_comma(cell: str) -> bool:
    return "," in cell and bool(COMMA.match(cell))

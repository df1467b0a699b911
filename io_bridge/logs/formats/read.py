"""A log of any known format as tables: the format is known by its first bytes, never by its name."""

from __future__ import annotations

import re
from pathlib import Path

from io_bridge.logs.formats.can_lines import read_can
from io_bridge.logs.formats.fence import read_fenced
from io_bridge.logs.formats.opened import head_of, packing_of, unpacked
from io_bridge.logs.formats.own_record import read_own_record
from io_bridge.logs.formats.table import LogError, Table
from io_bridge.logs.formats.text import read_text

MAGIC = (
    (b"MDF     ", "mdf"),
    (b"UnFinMF ", "mdf"),
    (b"\x89MCAP0\r\n", "mcap"),
    (b"PAR1", "parquet"),
    (b"\x89HDF\r\n\x1a\n", "hdf5"),
    (b"MATLAB 7.3 MAT-file", "hdf5"),
    (b"MATLAB 5.0 MAT-file", "mat"),
    (b"\x93NUMPY", "own record"),
)
CANDUMP = re.compile(rb"\s*\(\d+\.\d+\)\s+\S+\s+[0-9A-Fa-f]{3,8}(#|\s+\[\d+\])")
ASC = re.compile(
    rb"(date .*\r?\n)|(base (hex|dec))|\s*\d+\.\d+\s+\d+\s+[0-9A-Fa-f]+x?\s+(Rx|Tx)\s+d\s"
)


def format_of(head: bytes) -> str:
    """Return the format of a file by its first bytes; `text` for what no other format begins with."""
    for begin, name in MAGIC:
        if head.startswith(begin):
            return name
    if any(CANDUMP.match(line) for line in head.split(b"\n")[:4]):
        return "candump"
    if any(ASC.match(line) for line in head.split(b"\n")[:12]) and b"," not in head[:200]:
        return "asc"
    return "text"


def read_tables(path: Path, delimiter: str | None = None, dbc: Path | None = None) -> list[Table]:
    """Read a log.

    Parameters
    ----------
    path : Path
        Text (CSV, TSV and the like), MDF4, MCAP, Parquet, HDF5, MATLAB v5 or v7.3, candump or ASC, or a record of
        ours; each of the texts also as gz or zst.
    delimiter : str, optional
        Of a text, if it is known.
    dbc : Path, optional
        Signals of a CAN log.

    Raises
    ------
    LogError
        One line: the file, the byte or row, and what was expected there.
    """
    head = head_of(path)
    kind = "" if packing_of(head) else format_of(head)
    if kind == "own record":
        return [read_own_record(path)]
    if kind in ("mdf", "mcap", "parquet", "hdf5", "mat"):
        return read_fenced(path, kind)
    raw, packing, is_cut = unpacked(path)
    if packing:
        kind = packing_of(raw) or format_of(raw[:4096])
        if kind not in ("text", "candump", "asc"):
            raise LogError(f"{path}: {kind} inside of {packing}: unpack it first")
    if kind in ("candump", "asc"):
        return read_can(path, raw, kind, dbc)
    return [read_text(path, raw, delimiter, is_cut=is_cut)]

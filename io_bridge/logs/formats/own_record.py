"""Records of our own runs, read as logs: the raw counts of an encoder go through another filter."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from io_bridge.logs.formats.table import LogError, Table, whole_table
from io_bridge.recording.record import RecordError, RecordWarning, open_record


def read_own_record(path: Path) -> Table:
    """Read one record of a run folder.

    Raises
    ------
    LogError
        It is not a record, or another NumPy file.
    """
    record, remarks = _opened(path)
    return replace(_table(record, 0, len(record)), remarks=remarks)


def record_parts(path: Path, size: int, begin: int = 0) -> Iterator[Table]:
    """Read one record in tables of `size` rows, from row `begin` on.

    Raises
    ------
    LogError
        As `read_own_record`.
    """
    n = len(_opened(path)[0])
    for first in range(begin, n, size):
        # opened again, so that pages of the file do not add up in memory
        yield _table(_opened(path)[0], first, min(first + size, n))


def _opened(path: Path) -> tuple[np.ndarray, tuple[str, ...]]:
    """Return the record, and sentences on rows that are not there."""
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", RecordWarning)
            record = open_record(path)
    except (RecordError, OSError, ValueError) as error:
        raise LogError(f"{path}: {error}; expected a record of a run") from None
    if not record.dtype.names or not len(record):
        raise LogError(
            f"{path}: an array without named columns or rows; expected a record of a run"
        )
    return record, tuple(str(one.message) for one in caught)


def _table(record: np.ndarray, first: int, end: int) -> Table:
    rows = record[first:end]
    numbers = {
        name: np.asarray(rows[name], dtype=float)
        for name in record.dtype.names or ()
        if rows[name].ndim == 1 and np.issubdtype(rows[name].dtype, np.number)
    }
    table = whole_table("", numbers, {}, "own record")
    return replace(table, row=table.row + first, n_rows=end)

"""Records of our own runs, read as logs: the raw counts of an encoder go through another filter."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from io_bridge.logs.formats.table import LogError, Table, whole_table
from io_bridge.recording.record import RecordError, open_record


def read_own_record(path: Path) -> Table:
    """Read one record of a run folder.

    Raises
    ------
    LogError
        It is not a record, or another NumPy file.
    """
    try:
        record = open_record(path)
    except (RecordError, OSError, ValueError) as error:
        raise LogError(f"{path}: {error}; expected a record of a run") from None
    names = record.dtype.names
    if not names or not len(record):
        raise LogError(
            f"{path}: an array without named columns or rows; expected a record of a run"
        )
    numbers = {
        name: np.asarray(record[name], dtype=float)
        for name in names
        if record[name].ndim == 1 and np.issubdtype(record[name].dtype, np.number)
    }
    return whole_table("", numbers, {}, "own record")

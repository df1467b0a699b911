"""Records of a run, and signals in them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from io_bridge.recording.record import RecordError, open_record
from rigloop.run_folder.manifest import ManifestError, count

Array = NDArray[np.float64]

LARGEST = 1e100  # a failing model gets beyond it, and then no statistics can be made of it


def read_record(path: Path) -> np.ndarray:
    """Return a record of a run; a missing or broken one is an error in one line."""
    try:
        return open_record(path)
    except OSError as error:
        raise ManifestError(f"{path}: cannot be read: {error.strerror}") from None
    except RecordError as error:
        raise ManifestError(str(error)) from None


def is_sane(*values: Array) -> NDArray[np.bool_]:
    """Return where all of these values are numbers that can be squared and added up."""
    sane = np.ones(len(values[0]), bool)
    for value in values:
        sane &= np.abs(value) <= LARGEST  # false for NaN
    return sane


def last_count(counts: Array) -> int:
    """Return the newest value of a counter; 0 if it is none."""
    return count(float(counts[-1])) if len(counts) else 0


def recorded_signal(
    records: Mapping[str, np.ndarray], task: str, path: str
) -> tuple[Array, Array] | None:
    """Return time (s) and value of a signal; none if the records do not have it."""
    record = records.get(task)
    if record is None or path not in (record.dtype.names or ()) or not len(record):
        return None
    return np.asarray(record["t_ns"]) * 1e-9, np.asarray(record[path])


def blocks_with(
    records: Mapping[str, np.ndarray], ports: tuple[str, ...]
) -> Iterator[tuple[np.ndarray, str]]:
    """Yield record and path of each block that has all of these ports; a mirror of one has not."""
    for record in records.values():
        names = set(record.dtype.names or ())
        for path in record.dtype.names or ():
            name, _, port = path.rpartition("/")
            if port == ports[0] and {f"{name}/{p}" for p in ports} <= names:
                yield record, name

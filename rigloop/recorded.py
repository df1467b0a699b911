"""Signals in the records of a run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


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

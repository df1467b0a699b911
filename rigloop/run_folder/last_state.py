"""The last word of a run's signal table, wherever it still is: the table, what the cycle process left, the records.

The supervisor reads the table when a run ends. Of a run whose supervisor was killed, the cycle process leaves the same
in the run folder; where both were killed, the table itself is still there; without it, the last rows of the records say
most of it.
"""

from __future__ import annotations

import warnings
from bisect import bisect_left
from collections.abc import Iterable
from pathlib import Path

import msgspec
import numpy as np

from io_bridge.recording.record import RecordError, RecordWriter, open_record
from rig_configs.bounded import MOST_KEPT_BYTES, read_bytes
from rig_configs.json_message import decode
from rig_configs.whole_file import write_whole
from rigloop.run_folder.late import write_events
from rigloop.run_folder.manifest import Number, number
from rigloop.run_folder.run_end import Final, read_final
from rt_core.lateness.histogram import Histogram
from rt_core.plan import loop_signal
from rt_core.signals.table import RingReader, SignalTable

LAST = "last.json"
BATCH = 4096
FROM_RECORD = {"late": "late_ns", "step": "step_ns", "bus": "bus_ns"}


class _Bins(msgspec.Struct):
    first: int
    counts: list[int]
    sum_ns: int
    max_ns: int


class _Last(msgspec.Struct):
    signals: dict[str, Number]
    histograms: dict[str, dict[str, _Bins]]
    late: dict[str, int]


def leave(folder: Path, final: Final) -> None:
    """Write the last word of a table into its run folder.

    Raises
    ------
    OSError
    """
    last = _Last(
        {path: number(value) for path, value in final.signals.items()},
        {task: {n: _bins(h) for n, h in found.items()} for task, found in final.histograms.items()},
        {task: n for task, (n, _) in final.late.items()},
    )
    for task, (_, events) in final.late.items():
        write_events(folder, task, events)
    write_whole(folder / LAST, msgspec.json.encode(last))


def find_final(folder: Path, tables: Iterable[Path], tasks: Iterable[str]) -> tuple[Final, str]:
    """Return the last word of a run, and where it was found.

    Parameters
    ----------
    folder : Path
        Of the run.
    tables : iterable of Path
        Where its table may be; it has no owner any more.
    tasks : iterable of str
    """
    tasks = list(tasks)
    for path in tables:
        try:
            with SignalTable.attach(path, writable=True) as table:
                found = read_final(table, tasks)
        except (OSError, ValueError, LookupError):
            continue
        if all((h.counts >= 0).all() for hs in found.histograms.values() for h in hs.values()):
            return found, "the signal table"
    try:
        last = decode(read_bytes(folder / LAST, MOST_KEPT_BYTES), type=_Last)
        late: dict[str, tuple[int, list[tuple[int, np.ndarray]]]] = {
            task: (n, []) for task, n in last.late.items()
        }
        histograms = {
            task: {name: _histogram(bins) for name, bins in found.items()}
            for task, found in last.histograms.items()
        }
        signals = {path: float(value) for path, value in last.signals.items()}
        if set(tasks) <= histograms.keys() and set(tasks) <= late.keys():
            return Final(signals, histograms, late), "the last word of the cycle process"
    except (OSError, msgspec.DecodeError, ValueError):
        pass
    return _from_records(folder, tasks), "the last rows of the records"


def save_rings(folder: Path, shared: SignalTable, tasks: Iterable[str]) -> dict[str, int]:
    """Move the cycles that no recorder took out of a table's rings into the records; return how many, by task.

    Raises
    ------
    OSError, TableError, RecordError
        The table or a record cannot be used; what was added before is whole.
    """
    return {task: _save_ring(shared, task, folder / f"{task}.npy") for task in tasks}


def _save_ring(shared: SignalTable, task: str, path: Path) -> int:
    ring = RingReader(shared, task)
    try:
        if not len(ring.peek(1)):
            return 0
        exists = path.exists() and path.stat().st_size > 0
        if not exists:
            path.unlink(missing_ok=True)
        with RecordWriter(path, shared.paths(task), resume=exists) as writer:
            before = writer.n_rows
            newest = int(open_record(path)["t_ns"][-1]) if before else -1
            while len(rows := ring.peek(BATCH)):
                # a recorder that was killed between writing and taking has written the first ones
                writer.append(rows[rows["t_ns"] > newest])
                ring.advance(len(rows))
            return writer.n_rows - before
    finally:
        ring.close()


def _from_records(folder: Path, tasks: Iterable[str]) -> Final:
    signals: dict[str, float] = {}
    histograms: dict[str, dict[str, Histogram]] = {}
    for task in tasks:
        histograms[task] = {}
        record = record_of(folder / f"{task}.npy")
        if not len(record):
            continue
        names = record.dtype.names or ()
        last = {name: float(record[name][-1]) for name in names if name != "t_ns"}
        # a task's own value of a signal is newer than another one's mirror of it
        own = {p: v for p, v in last.items() if p.startswith(f"loop/{task}/") or p not in signals}
        signals |= own
        for name, column in FROM_RECORD.items():
            path = loop_signal(task, column)
            if path in names:
                values = np.asarray(record[path])
                counted = values[(values >= 0) & (values < 2.0**62)]
                histograms[task][name] = Histogram.of(counted.astype(np.int64))
    return Final(signals, histograms, {task: (0, []) for task in histograms})


def record_of(path: Path) -> np.ndarray:
    """Return a record as far as it goes; empty if there is none."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return open_record(path)
    except (OSError, RecordError):
        return np.empty(0, [("t_ns", "<i8")])


def rows_of(record: np.ndarray, task: str) -> int:
    """Return how many rows of a record were written.

    Cycles count from 1. A row without one is a hole, as of a file that was cut while it grew.
    """
    path = loop_signal(task, "cycle")
    if path not in (record.dtype.names or ()):
        return len(record)
    column = record[path]
    return len(column) - bisect_left(range(len(column)), True, key=lambda row: column[row] > 0)


def _bins(histogram: Histogram) -> _Bins:
    used = np.flatnonzero(histogram.counts)
    first, last = (int(used[0]), int(used[-1]) + 1) if len(used) else (0, 0)
    counts = histogram.counts[first:last].tolist()
    return _Bins(first, counts, histogram.sum_ns, histogram.max_ns)


def _histogram(bins: _Bins) -> Histogram:
    counts = np.zeros(len(Histogram.edges_ns) - 1, np.int64)
    if bins.first < 0 or bins.first + len(bins.counts) > len(counts):
        raise ValueError("more bins than a histogram has")
    counts[bins.first : bins.first + len(bins.counts)] = bins.counts
    return Histogram(counts, bins.sum_ns, bins.max_ns)

"""The recorder process: from the rings of a signal table to one record per task.

    python -m io_bridge.recording.recorder TABLE FOLDER [--pid PID] [--resume] [--wait]

With --wait it is there before the table: a process that is only started once cycles come has not attached when the
rings, which hold two seconds, are full on a busy machine.

It only looks on: the loop never waits for it. It ends when the producer has ended and the rings are
empty; the producer has ended when process PID is gone, when the table's file was removed, or when
SIGTERM came. SIGINT is left to the supervisor, so that Ctrl-C loses no row. A full disk stops the
writing, not the draining, so the rings never fill for that reason; lost cycles are counted in
`recorder.json` and on standard output.
"""

from __future__ import annotations

import argparse
import json
import os
import select
import sys
import time
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path

from io_bridge.recording.producer import Producer
from io_bridge.recording.record import RecordError, RecordWriter, open_record
from rt_core.signals.layout import TableError
from rt_core.signals.table import RingReader, SignalTable

SUMMARY = "recorder.json"
POLL_S = 0.02  # rings hold two seconds
WAIT_S = 0.005
BATCH = 4096  # cycles taken at once, so that one ring cannot starve another


@dataclass
class TaskRecord:
    """The account of the cycles of one task.

    Attributes
    ----------
    record : str
        File name in the run folder.
    rows : int
        Cycles in the record.
    dropped : int
        Cycles that the full ring refused: the recorder was too slow.
    unwritten : int
        Cycles that were taken from the ring but not written, `first_unwritten_ns` on: the disk was
        full.
    reason : str
        Why they were not written.
    """

    record: str
    rows: int = 0
    dropped: int = 0
    unwritten: int = 0
    first_unwritten_ns: int | None = None
    reason: str = ""


class _TaskRecorder:
    def __init__(self, table: SignalTable, task: str, folder: Path, resume: bool) -> None:
        self.result = TaskRecord(record=f"{task}.npy")
        path = folder / self.result.record
        resume = resume and path.exists()
        self.writer = RecordWriter(path, table.paths(task), resume=resume)
        self.result.rows = self.writer.n_rows
        # one that was killed between writing and taking has written the first ones
        self.newest_ns = int(open_record(path)["t_ns"][-1]) if self.writer.n_rows else -1
        self.ring = RingReader(table, task)
        self.why = 0  # errno of the first failure

    def take(self) -> int:
        """Move the cycles in the ring, at most a batch; returns the number of cycles."""
        rows = self.ring.peek(BATCH)
        if not len(rows):
            return 0
        taken, rows = len(rows), rows[rows["t_ns"] > self.newest_ns]
        why = 0
        if not self.result.reason:
            try:
                self.writer.append(rows)
            except OSError as error:
                why = error.errno or 0
                self.result.reason = f"{self.writer.path.name}: {error.strerror or error}"
        lost = self.result.rows + self.result.unwritten + len(rows) - self.writer.n_rows
        if lost > self.result.unwritten:
            if self.result.first_unwritten_ns is None:
                self.result.first_unwritten_ns = int(rows["t_ns"][len(rows) - lost])
            self.result.unwritten = lost
            # seen at once by whoever watches the run: a full disk takes no word of it
            self.why = why or self.why
            self.ring.tell_unwritten(lost, self.why)
        self.result.rows = self.writer.n_rows
        # only now: of a recorder that is killed, the table keeps the cycles that the record lacks
        self.ring.advance(taken)
        return taken

    def close(self) -> TaskRecord:
        self.result.dropped = self.ring.counters()["dropped"]
        try:
            self.writer.close()
        except OSError as error:
            # the rows are there; only the header keeps its zero, which `open_record` understands
            self.result.reason = self.result.reason or f"header: {error.strerror or error}"
        self.ring.close()
        return self.result


def record(
    table_path: str | os.PathLike[str],
    folder: str | os.PathLike[str],
    pid: int | None = None,
    resume: bool = False,
) -> dict[str, TaskRecord]:
    """Record every task of a table until its producer has ended; the work of the process.

    Parameters
    ----------
    table_path : path
        A signal table that exists.
    folder : path
        Run folder; it gets `<task>.npy` for each task, and `recorder.json`.
    pid : int, optional
        The producer's process.
    resume : bool
        Continue the records of a recorder that has died.

    Returns
    -------
    dict of str to TaskRecord
        By task; also written to `recorder.json`, if the disk takes it.

    Raises
    ------
    OSError, TableError
        The table cannot be attached, or a record not be made.
    """
    folder = Path(folder)
    with SignalTable.attach(table_path, writable=True) as table, ExitStack() as rings:
        tasks: dict[str, _TaskRecorder] = {}
        for producer in table.producers:
            if producer.ring_slots:
                tasks[producer.name] = _TaskRecorder(table, producer.name, folder, resume)
                rings.callback(tasks[producer.name].ring.close)
        ended = Producer(table_path, pid)
        results: dict[str, TaskRecord] = {}
        try:
            while True:
                # asked before the rings are emptied: cycles before the end are then in them
                last = ended()
                taken = sum(recorder.take() for recorder in tasks.values())
                if not taken:
                    if last:
                        break
                    time.sleep(POLL_S)
        finally:
            ended.close()
            results = {task: recorder.close() for task, recorder in tasks.items()}
    try:
        text = json.dumps({task: asdict(result) for task, result in results.items()}, indent=2)
        (folder / SUMMARY).write_text(text + "\n", encoding="utf-8")
    except OSError:
        # a full disk; the summary also goes to standard output
        pass
    return results


def wait_for_table(table_path: str | os.PathLike[str], pid: int) -> bool:
    """Wait until the table is there; False: its producer has ended without one."""
    try:
        producer = os.pidfd_open(pid)
    except ProcessLookupError:
        return os.path.exists(table_path)
    try:
        while not os.path.exists(table_path):
            if select.select([producer], [], [], WAIT_S)[0]:
                return os.path.exists(table_path)
    finally:
        os.close(producer)
    return True


def main(arguments: list[str] | None = None) -> int:
    """Run the process; 0: every cycle is in a record, 1: some are not, 2: it could not start."""
    parser = argparse.ArgumentParser(
        prog="python -m io_bridge.recording.recorder", description=__doc__
    )
    parser.add_argument("table", help="path of the signal table")
    parser.add_argument("folder", help="run folder, exists")
    parser.add_argument("--pid", type=int, help="process of the producer")
    parser.add_argument("--resume", action="store_true", help="go on with the records there")
    parser.add_argument("--wait", action="store_true", help="wait for the table that PID makes")
    options = parser.parse_args(arguments)
    if options.wait and options.pid and not wait_for_table(options.table, options.pid):
        return 0  # the run has not started
    try:
        results = record(options.table, options.folder, options.pid, options.resume)
    except (OSError, TableError, RecordError) as error:
        print(f"recorder: {error}", file=sys.stderr)
        return 2
    print(json.dumps({task: asdict(result) for task, result in results.items()}))
    return int(any(result.unwritten or result.dropped for result in results.values()))


if __name__ == "__main__":
    sys.exit(main())

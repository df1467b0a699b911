"""A log of any length, part by part, with time and count that go on from each part to the next.

Faults are found in a part with some rows before and after it, which belong to its neighbours. Time and count of a
part begin where those of the part before had these rows, so that what a jump or a restarted clock added stays off.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from io_bridge.logs.assessed import Assessed, assess
from io_bridge.logs.faults.finding import Finding
from io_bridge.logs.formats.opened import GZIP, ZSTD, Unpacking, head_of
from io_bridge.logs.formats.own_record import record_parts
from io_bridge.logs.formats.read import format_of, read_tables
from io_bridge.logs.formats.table import MOST_STREAMED, LogError, Table
from io_bridge.logs.formats.text import text_parts
from io_bridge.logs.reader import (
    MAX_SPAN_S,
    LogFault,
    check_kinds,
    check_samples,
    counts_of,
    resolved_rad_s,
    table_and_mapping,
    torques_of,
)
from rig_configs.log_schema import LogMapping

Array = NDArray[np.float64]
Rows = NDArray[np.int64]

PART = 50_000  # rows
BESIDE = 1000  # rows of its neighbours that a part sees
SAME_S = 1e-9  # what the rounding of some seams adds up to, and no fault does
MOST_FINDINGS = 100_000


@dataclass(frozen=True)
class LogPart:
    """Samples of a part of a log.

    Attributes
    ----------
    t_s : ndarray of float64, shape (n,)
        Time since the first sample of the log, increasing.
    position_count : ndarray of float64, shape (n,)
        As `EncoderLog` has it.
    torque : dict of str to ndarray of float64, shape (n,)
        By name and unit.
    row : ndarray of int64, shape (n,)
        Data row of each sample.
    """

    t_s: Array
    position_count: Array
    torque: dict[str, Array]
    row: Rows


class LogParts:
    """A log that is read part by part; iterate once.

    Parameters
    ----------
    path : Path
        Texts, plain or packed, and records of ours take bounded memory; other formats are read as a whole.
    mapping : LogMapping, optional
        Default: the shipped one whose header matches.
    size : int, optional
        Rows of a part.

    Attributes
    ----------
    mapping : LogMapping
        Known with the first part, as is the period of the samples.
    findings : list of Finding
        Faults so far, in order; those beyond `MOST_FINDINGS` are counted only.
    untold : int
        How many these are.
    n_rows : int
        Data rows so far.
    duration_s : float
        Time of the newest sample.

    Raises
    ------
    LogError
        As `read_log`.
    """

    def __init__(self, path: Path, mapping: LogMapping | None, size: int | None = None) -> None:
        self.path, self.size = path, size or PART
        self._given = mapping
        self._mapping: LogMapping | None = mapping
        self.sample_period_s = 0.0
        self.findings: list[Finding] = []
        self.torque_faults: list[LogFault] = []
        self.untold = self.n_rows = 0
        self.duration_s = 0.0
        self._zero = 0.0
        self._last: LogPart | None = None
        self._until: dict[str, int] = {}

    @property
    def mapping(self) -> LogMapping:
        """Return the mapping by which the log is read."""
        if self._mapping is None:
            raise RuntimeError("the mapping of a log is known with its first part")
        return self._mapping

    def bandwidth_rad_s(self, rig_bandwidth_rad_s: float) -> float:
        """Filter bandwidth for this log: the rig's, or the bandwidth that the samples resolve if it is smaller."""
        return resolved_rad_s(rig_bandwidth_rad_s, self.mapping, self.sample_period_s)

    def __iter__(self) -> Iterator[LogPart]:
        """Yield the parts; one without a sample is left out."""
        held: Table | None = None
        begin = 0
        for table in self._tables():
            if held is None:
                table, self._mapping = table_and_mapping(self.path, [table], self._given)
                check_kinds(self.path, table, self._mapping)
                held = table
                continue
            held = _joined(held, table)
            end = len(held.row) - BESIDE
            if end - begin < self.size // 2:
                continue
            yield from self._part(held, begin, end)
            first = max(0, end - BESIDE)
            held, begin = _rows(held, first, len(held.row)), end - first
        if held is not None:
            yield from self._part(held, begin, len(held.row))

    def _tables(self) -> Iterator[Table]:
        head = head_of(self.path, most=MOST_STREAMED)
        if head[:2] == GZIP or head[:4] == ZSTD:
            head = next(iter(Unpacking(self.path, MOST_STREAMED)))[:4096]
        kind = format_of(head)
        delimiter = self._given.delimiter if self._given else None
        if kind == "own record":
            yield from record_parts(self.path, self.size)
        elif kind == "text":
            yield from text_parts(self.path, delimiter, self.size)
        else:
            yield table_and_mapping(self.path, read_tables(self.path, delimiter), self._given)[0]

    def _part(self, table: Table, begin: int, end: int) -> Iterator[LogPart]:
        mapping = self.mapping
        done = assess(table, mapping)
        if self._last is None:
            check_samples(self.path, table, mapping, done)
            self.sample_period_s = float(np.median(np.diff(done.t_s)))
        self._take_findings(table, done, begin, end)
        self.n_rows = table.n_rows
        count = counts_of(self.path, mapping, done.value)
        t_s = done.t_s
        torque = torques_of(table, mapping, done.sample, [])
        self._take_torque_faults(_rows(table, begin, end))
        row = table.row[done.sample]
        if self._last is not None and len(row):
            t_s, count = self._going_on(self._last, table, done, t_s, count, row)
        t_s = self._as_logged(table, done, t_s)
        here = (done.sample >= begin) & (done.sample < end)
        if self._last is not None and here.any():
            # a step back over the seam is none
            here &= t_s > self._last.t_s[-1]
        if not here.any():
            return
        part = LogPart(t_s[here], count[here], {n: v[here] for n, v in torque.items()}, row[here])
        self.duration_s = float(part.t_s[-1])
        if not self.duration_s <= MAX_SPAN_S:
            raise LogError(
                f"{self.path}: column {mapping.time.column} spans {self.duration_s:.3g} s, at most {MAX_SPAN_S:.0e} "
                "are read: is its unit right?"
            )
        self._last = part
        yield part

    def _going_on(
        self, last: LogPart, table: Table, done: Assessed, t_s: Array, count: Array, row: Rows
    ) -> tuple[Array, Array]:
        # time and count as the part before had them at the newest row that both have
        near = slice(max(0, len(last.row) - 2 * BESIDE), None)
        _, before, now = np.intersect1d(
            last.row[near], row[: 2 * BESIDE], assume_unique=True, return_indices=True
        )
        if not len(now):
            # all rows of the seam were dropped: its length is that of the rows
            missed = float(row[0] - last.row[-1]) * self.sample_period_s
            return t_s - t_s[0] + last.t_s[-1] + missed, count
        t_s = t_s + (last.t_s[near][before[-1]] - t_s[now[-1]])
        apart = last.position_count[near][before[-1]] - count[now[-1]]
        span = self.mapping.angle.counter_span
        if apart and span:
            low = -span / 2.0 if np.any(count < 0.0) else 0.0
            return t_s, (count + apart - low) % span + low
        return t_s, count + apart

    def _as_logged(self, table: Table, done: Assessed, t_s: Array) -> Array:
        # by the stamps themselves where no fault came before, so that seams round nothing
        time = self.mapping.time
        if time.unit == "stamp" or not len(t_s):
            return t_s
        stamps = table.row.astype(float) if time.unit == "rows" else table.numbers[time.column]
        stamps = stamps[done.sample]
        if self._last is None:
            self._zero = float(stamps[0])
        exact = (stamps - self._zero) * time.seconds
        return np.where(np.abs(exact - t_s) < SAME_S, exact, t_s)

    def _take_findings(self, table: Table, done: Assessed, begin: int, end: int) -> None:
        first = int(table.row[begin]) if begin else 0
        stop = int(table.row[end]) if end < len(table.row) else table.n_rows
        for one in done.findings:
            if not first <= one.row < stop or (
                one.kind != "suspicion of units" and one.row <= self._until.get(one.kind, -1)
            ):
                continue
            if one.last_row >= stop:
                # the next part finds the rest of it
                self._until[one.kind] = one.last_row + 1
            if one.action == "refuse":
                raise LogError(
                    f"{self.path}: refused by the policy of its mapping: {one.kind} at row {one.row}: {one.words}"
                )
            if len(self.findings) < MOST_FINDINGS:
                self.findings.append(one)
            else:
                self.untold += 1

    def _take_torque_faults(self, table: Table) -> None:
        faults: list[LogFault] = []
        torques_of(table, self.mapping, np.zeros(0, dtype=np.int64), faults)
        known = {(fault.kind, fault.words): k for k, fault in enumerate(self.torque_faults)}
        for fault in faults:
            k = known.get((fault.kind, fault.words))
            if k is None:
                self.torque_faults.append(fault)
            else:
                old = self.torque_faults[k]
                self.torque_faults[k] = replace(old, count=old.count + fault.count)


def _joined(one: Table, two: Table) -> Table:
    return replace(
        two,
        numbers={n: np.concatenate([v, two.numbers[n]]) for n, v in one.numbers.items()},
        words={n: [*v, *two.words[n]] for n, v in one.words.items()},
        row=np.concatenate([one.row, two.row]),
        line=None if one.line is None or two.line is None else np.concatenate([one.line, two.line]),
        spoilt=(*one.spoilt, *two.spoilt),
    )


def _rows(table: Table, first: int, end: int) -> Table:
    return replace(
        table,
        numbers={name: values[first:end] for name, values in table.numbers.items()},
        words={name: values[first:end] for name, values in table.words.items()},
        row=table.row[first:end],
        line=None if table.line is None else table.line[first:end],
        spoilt=tuple(s for s in table.spoilt if s.row >= table.row[first]),
    )

"""A log of any length, part by part, with time and count that go on from each part to the next.

Faults are found in a part with some rows before and after it, which belong to its neighbours. Time and count of a
part begin where those of the part before had these rows, so that what a jump or a restarted clock added stays off.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from io_bridge.logs.assessed import Assessed, assess
from io_bridge.logs.chosen import table_and_mapping
from io_bridge.logs.faults.finding import Finding
from io_bridge.logs.formats.table import LogError, Table
from io_bridge.logs.reader import counts_of, resolved_rad_s
from io_bridge.logs.refused import MAX_SPAN_S, check_kinds, check_samples
from io_bridge.logs.sources import Source, source_of, table_as_kept, table_of
from io_bridge.logs.torques import LogFault, torques_of
from rig_configs.log_schema import LogMapping

Array = NDArray[np.float64]
Rows = NDArray[np.int64]

PART = 50_000  # rows
BESIDE = 1000  # rows of its neighbours that a part sees
SAME_S = 1e-9  # what the rounding of some seams adds up to, and no fault does
MOST_FINDINGS = 100_000
KEPT = ("sample_period_s", "untold", "n_rows", "duration_s", "_zero", "_until", "_begin")


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

    def rows(self, which: slice) -> LogPart:
        """Return some of the samples."""
        torque = {name: values[which] for name, values in self.torque.items()}
        return LogPart(self.t_s[which], self.position_count[which], torque, self.row[which])


class LogParts:
    """A log that is read part by part; iterate once.

    Parameters
    ----------
    path : Path
        Texts, plain or packed, records of ours, Parquet, HDF5 and MDF take bounded memory; of MATLAB v5 the file and
        a part of what is computed of it; other formats are read as a whole.
    mapping : LogMapping, optional
        Default: the shipped one whose header matches.
    size : int, optional
        Rows of a part.
    refuses : bool
        A fault that the mapping refuses is an error; else it is one of the findings.

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

    def __init__(
        self,
        path: Path,
        mapping: LogMapping | None,
        size: int | None = None,
        *,
        refuses: bool = True,
    ) -> None:
        self.path, self.size, self._refuses = path, size or PART, refuses
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
        self._source: Source | None = None
        self._held: Table | None = None
        self._begin = 0

    @property
    def place(self) -> dict[str, Any] | None:
        """Return the place behind the newest part, as plain data and arrays; None: its format has none."""
        place = self._source.place if self._source else None
        if place is None or self._held is None or self._last is None:
            return None
        near = slice(max(0, len(self._last.row) - 2 * BESIDE), None)
        last = asdict(self._last.rows(near))
        kept = {name: getattr(self, name) for name in (*KEPT, "size")}
        return kept | {
            "mapping": self.mapping.model_dump_json(),
            "findings": [asdict(one) for one in self.findings],
            "torque_faults": [asdict(one) for one in self.torque_faults],
            "last": last,
            "held": table_as_kept(self._held),
            "source": place,
        }

    @classmethod
    def again(cls, path: Path, place: Mapping[str, Any]) -> LogParts:
        """Return the parts that come behind a place in the same log."""
        mapping = LogMapping.model_validate_json(place["mapping"])
        parts = cls(path, mapping, place["size"])
        for name in KEPT:
            setattr(parts, name, place[name])
        parts.findings = [Finding(**one) for one in place["findings"]]
        parts.torque_faults = [LogFault(**one) for one in place["torque_faults"]]
        parts._last = LogPart(**place["last"])
        parts._held = table_of(place["held"])
        parts._source = source_of(path, mapping.delimiter, parts.size, place["source"])
        return parts

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
        if self._source is None:
            delimiter = self._given.delimiter if self._given else None
            self._source = source_of(self.path, delimiter, self.size)
        coming = iter(self._source)
        for table in coming:
            if self._held is None:
                # of a format that is read as a whole, all tables of the file
                others = coming if self._source.is_whole else self._source.beside
                table, self._mapping = table_and_mapping(self.path, [table, *others], self._given)
                check_kinds(self.path, table, self._mapping)
                self._source.keep(table, self._mapping.columns)
                self._held = table.only(self._mapping.columns)
                continue
            self._held = held = self._held.followed_by(table.only(self.mapping.columns))
            begin, end = self._begin, len(held.row) - BESIDE
            if end - begin < self.size // 2:
                continue
            part = self._part(held, begin, end)
            first = max(0, end - BESIDE)
            self._held, self._begin = held.rows(first, len(held.row)), end - first
            if part:
                yield part
        if self._held is not None:
            part = self._part(self._held, self._begin, len(self._held.row))
            if part:
                yield part

    def _part(self, table: Table, begin: int, end: int) -> LogPart | None:
        mapping = self.mapping
        done = assess(table, mapping)
        if self._last is None:
            check_samples(self.path, table, mapping, done)
            self.sample_period_s = float(np.median(np.diff(done.t_s)))
        self.n_rows = table.n_rows
        count = counts_of(self.path, mapping, done.value)
        t_s = done.t_s
        torque = torques_of(table, mapping, done.sample, [])
        self._take_torque_faults(table.rows(begin, end))
        row = table.row[done.sample]
        if self._last is not None and len(row):
            t_s, count = self._going_on(self._last, table, done, t_s, count, row)
        later_s = float(t_s[0] - done.t_s[0]) if len(t_s) else self.duration_s
        self._take_findings(table, done, begin, end, later_s)
        t_s = self._as_logged(table, done, t_s)
        here = (done.sample >= begin) & (done.sample < end)
        if self._last is not None and here.any():
            # a step back over the seam is none
            here &= t_s > self._last.t_s[-1]
        if not here.any():
            return None
        part = LogPart(t_s[here], count[here], {n: v[here] for n, v in torque.items()}, row[here])
        self.duration_s = float(part.t_s[-1])
        if not self.duration_s <= MAX_SPAN_S:
            raise LogError(
                f"{self.path}: column {mapping.time.column} spans {self.duration_s:.3g} s, at most {MAX_SPAN_S:.0e} "
                "are read: is its unit right?"
            )
        self._last = part
        return part

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

    def _take_findings(
        self, table: Table, done: Assessed, begin: int, end: int, later_s: float
    ) -> None:
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
            if one.action == "refuse" and self._refuses:
                raise LogError(
                    f"{self.path}: refused by the policy of its mapping: {one.kind} at row {one.row}: {one.words}"
                )
            if len(self.findings) < MOST_FINDINGS:
                self.findings.append(replace(one, time_s=one.time_s + later_s))
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

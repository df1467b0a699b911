"""Read a logged encoder: file and mapping to times, counts, torques and faults."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from math import pi
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from io_bridge.logs.assessed import Assessed, assess
from io_bridge.logs.faults.finding import KINDS, Finding
from io_bridge.logs.formats.read import read_tables
from io_bridge.logs.formats.table import LogError, Table
from io_bridge.logs.guess.angle_column import TURN
from rig_configs.log_schema import LogMapping, TorqueColumn, matching_mapping, shipped_mappings
from rig_configs.mistakes import near
from rig_configs.numbers import LARGEST

__all__ = ["EncoderLog", "LogError", "read_log"]

Array = NDArray[np.float64]
Rows = NDArray[np.int64]

MIN_SAMPLES = 10
MAX_LOST_SHARE = 0.5  # of samples whose stamps are no time: the column is not a clock
MAX_SPAN_S = 1e7
MOST_NM = 1e6  # no sensor of a wheel, pedal or arm gives more
RESOLVED = 0.3  # w0 T of a filter that the samples still resolve


@dataclass(frozen=True)
class LogFault:
    """All faults of one kind in one log.

    Attributes
    ----------
    kind : str
        One of `io_bridge.logs.faults.finding.KINDS`, or `torque`.
    count : int
        How often.
    first_row : int
        Data row of the first one, from 0 after the header.
    words : str
        The first one, and what is done about them.
    """

    kind: str
    count: int
    first_row: int
    words: str


@dataclass(frozen=True)
class EncoderLog:
    """A log of an encoder, in counts and seconds.

    Attributes
    ----------
    path : Path
        The file.
    mapping : LogMapping
        How it was read; it holds counts_per_rev, counter_span, zero_count and sign.
    t_s : ndarray of float64, shape (n,)
        Time since the first sample, strictly increasing.
    position_count : ndarray of float64, shape (n,)
        Counts as logged, not unwrapped; without what a reset or an index pulse added.
    torque : dict of str to ndarray of float64, shape (n,)
        By name and unit (`sensor_nm`, `eps_raw`): the newest value not later than the sample, NaN
        before the first.
    row : ndarray of int64, shape (n,)
        Data row of each sample, from 0 after the header.
    n_rows : int
        Data rows in the file.
    faults : tuple of LogFault
        The faults found, by kind, and the remedies taken.
    findings : tuple of Finding
        Each fault with its place.
    """

    path: Path
    mapping: LogMapping
    t_s: Array
    position_count: Array
    torque: dict[str, Array]
    row: Rows
    n_rows: int
    faults: tuple[LogFault, ...]
    findings: tuple[Finding, ...] = ()

    @property
    def sample_period_s(self) -> float:
        """Median interval, s."""
        return float(np.median(np.diff(self.t_s)))

    @property
    def duration_s(self) -> float:
        """From the first to the last sample, s."""
        return float(self.t_s[-1])

    @property
    def angle_rad(self) -> Array:
        """Unwrapped angle as the encoder states it, shape (n,), rad."""
        angle = self.mapping.angle
        count = unwrapped(self.position_count, angle.counter_span, angle.zero_count)
        return angle.sign * 2.0 * pi / angle.counts_per_rev * (count - angle.zero_count)

    def bandwidth_rad_s(self, rig_bandwidth_rad_s: float) -> float:
        """Filter bandwidth for this log: the rig's, or the bandwidth that the samples resolve if it is smaller."""
        return resolved_rad_s(rig_bandwidth_rad_s, self.mapping, self.sample_period_s)


def resolved_rad_s(rig_rad_s: float, mapping: LogMapping, sample_period_s: float) -> float:
    """Return a rig's bandwidth, or that of the mapping or of the samples if it is smaller."""
    return min(rig_rad_s, mapping.bandwidth_rad_s or rig_rad_s, RESOLVED / sample_period_s)


def read_log(path: str | Path, mapping: LogMapping | None = None) -> EncoderLog:
    """Read a log.

    Parameters
    ----------
    path : str or Path
        A file of any format that `io_bridge.logs.formats.read` knows.
    mapping : LogMapping, optional
        How to read it. Default: the shipped one whose header matches.

    Returns
    -------
    EncoderLog
        Times strictly increasing; bad samples are left out, and every fault is listed.

    Raises
    ------
    LogError
        One line: the file, the place, the reason and, where there is one, the remedy.
    """
    path = Path(path)
    tables = read_tables(path, mapping.delimiter if mapping else None)
    table, mapping = table_and_mapping(path, tables, mapping)
    return log_of(path, table, mapping)


def table_and_mapping(
    path: Path, tables: Sequence[Table], mapping: LogMapping | None
) -> tuple[Table, LogMapping]:
    """Return the table that a mapping reads; without one, the shipped mapping that fits a table.

    Raises
    ------
    LogError
        None fits.
    """
    if mapping is not None:
        return table_for(path, tables, mapping), mapping
    for table in tables:
        if (found := matching_mapping(table.columns)) is not None:
            return table, found
    raise LogError(_no_mapping(path, tables[0].columns))


def table_for(path: Path, tables: Sequence[Table], mapping: LogMapping) -> Table:
    """Return the table of a file that a mapping reads.

    Raises
    ------
    LogError
        There is no such table, or it lacks columns: all of them are named.
    """
    named = (
        [table for table in tables if table.name == mapping.table]
        if mapping.table
        else list(tables)
    )
    if not named:
        raise LogError(
            f"{path}: no table {mapping.table}; found {', '.join(t.name for t in tables)[:300]}"
        )
    fits = [table for table in named if set(mapping.columns) <= set(table.columns)]
    if fits:
        return fits[0]
    missing = [name for name in mapping.columns if name not in named[0].columns]
    raise LogError("; ".join(_no_column(path, name, named[0].columns, mapping) for name in missing))


def log_of(
    path: Path,
    table: Table,
    mapping: LogMapping,
    doubts: tuple[str, ...] = (),
    *,
    refuses: bool = True,
) -> EncoderLog:
    """Return the log of a table, as a mapping reads it.

    Parameters
    ----------
    path, table, mapping
        The file, its table, and how it is read.
    doubts : tuple of str
        Of whoever guessed the mapping.
    refuses : bool
        A fault that the mapping refuses is an error; else it is one of the findings.

    Raises
    ------
    LogError
        Policies that cannot be, too few samples, no clock, or a fault that the mapping refuses.
    """
    check_kinds(path, table, mapping)
    done = assess(table, mapping, doubts)
    check_samples(path, table, mapping, done)
    if done.refused and refuses:
        raise LogError(
            f"{path}: refused by the policy of its mapping: {'; '.join(done.refused[:5])}"
        )
    count = counts_of(path, mapping, done.value)
    faults = kinds_of(done.findings)
    torque = torques_of(table, mapping, done.sample, faults)
    if mapping.free_s and hashlib.sha256(path.read_bytes()).hexdigest() != mapping.free_of:
        mapping = mapping.model_copy(update={"free_s": None, "free_of": ""})
    return EncoderLog(
        path=path,
        mapping=mapping,
        t_s=done.t_s,
        position_count=count,
        torque=torque,
        row=table.row[done.sample],
        n_rows=table.n_rows,
        faults=tuple(sorted(faults, key=lambda fault: fault.first_row)),
        findings=done.findings,
    )


def counts_of(path: Path, mapping: LogMapping, value: Array) -> Array:
    """Return an angle as counts.

    Raises
    ------
    LogError
        The counts are more than the mapping's counter has.
    """
    angle = mapping.angle
    if angle.unit != "counts":
        return np.asarray(np.rint(value * (angle.counts_per_rev / TURN[angle.unit])))
    if angle.counter_span and len(value) and np.ptp(value) >= angle.counter_span:
        raise LogError(
            f"{path}: column {angle.column} spans {np.ptp(value):.10g} counts, but the "
            f"mapping says that it repeats after {angle.counter_span}"
        )
    return value


def torques_of(
    table: Table, mapping: LogMapping, sample: Rows, faults: list[LogFault]
) -> dict[str, Array]:
    """Return the torques of a log at its samples, and add the faults of their columns."""
    return {
        f"{column.name}_{column.unit}": _held(table, column, faults)[sample]
        for column in mapping.torque
    }


def kinds_of(findings: Sequence[Finding]) -> list[LogFault]:
    """Sum findings up by kind."""
    found: dict[str, list[Finding]] = {}
    for one in findings:
        found.setdefault(one.kind, []).append(one)
    return [
        LogFault(
            kind, len(ones), ones[0].row, f"{KINDS[kind].words} ({ones[0].words}); {ones[0].action}"
        )
        for kind, ones in found.items()
    ]


def check_kinds(path: Path, table: Table, mapping: LogMapping) -> None:
    """Refuse a mapping whose columns are words, or whose policies cannot be."""
    wanted = [mapping.angle.column, *(t.column for t in mapping.torque)]
    wanted += [mapping.time.column] if mapping.time.column and mapping.time.unit != "stamp" else []
    words = [name for name in dict.fromkeys(wanted) if name not in table.numbers]
    if words:
        shown = "; ".join(
            f"column {name}: {table.words[name][0]!r:.40} is not a number" for name in words
        )
        raise LogError(f"{path}: {shown}")
    unknown = sorted(set(mapping.policy) - set(KINDS))
    if unknown:
        raise LogError(
            f"{path}: no kind of fault {', '.join(unknown)}; there are {', '.join(KINDS)}"
        )
    wrong = [
        f"{kind} cannot {policy}, but {', '.join((KINDS[kind].policy, *KINDS[kind].others))}"
        for kind, policy in mapping.policy.items()
        if policy not in (KINDS[kind].policy, *KINDS[kind].others)
    ]
    if wrong:
        raise LogError(f"{path}: policy: {'; '.join(wrong)}")


def check_samples(path: Path, table: Table, mapping: LogMapping, done: Assessed) -> None:
    """Refuse a log with too few samples, or without a clock."""
    if mapping.rows and not len(done.sample):
        cells = table.words.get(mapping.rows.column, [])
        found = ", ".join(list(dict.fromkeys(cells))[:5])
        raise LogError(
            f"{path}: no row has {mapping.rows.column} = {mapping.rows.equals}; there are {found}"
        )
    backward = [one for one in done.findings if one.kind in ("backward stamps", "restarted clock")]
    lost = sum(one.samples for one in backward)
    if lost > max(MAX_LOST_SHARE * len(table.row), MIN_SAMPLES) and lost:
        raise LogError(
            f"{path}: {lost} of {len(table.row)} samples go back in time, the first at row {backward[0].row}; "
            "is it the right column, or a counter that wraps (counter_bits)?"
        )
    if len(done.t_s) < MIN_SAMPLES:
        raise LogError(
            f"{path}: {len(done.t_s)} usable angle samples in {table.n_rows} rows, "
            f"at least {MIN_SAMPLES} are needed"
        )
    if not done.t_s[-1] <= MAX_SPAN_S:
        raise LogError(
            f"{path}: column {mapping.time.column} spans {done.t_s[-1]:.3g} s, at most {MAX_SPAN_S:.0e} are "
            "read: is its unit right?"
        )


def unwrapped(count: Array, span: int, zero_count: float = 0.0) -> Array:
    """Unwrap a counter that repeats after `span`; the first count is nearest to `zero_count`."""
    if not span:
        return count
    steps = np.diff(count, prepend=zero_count)
    return zero_count + np.cumsum(steps - span * np.floor(steps / span + 0.5))


def _held(table: Table, column: TorqueColumn, faults: list[LogFault]) -> Array:
    # newest value not later than the row
    cells = table.numbers[column.column]
    with np.errstate(over="ignore", invalid="ignore"):
        value = column.scale * (cells - column.offset)
    there = np.isfinite(cells)
    good = np.isfinite(value) & (np.abs(value) <= (MOST_NM if column.unit == "nm" else LARGEST))
    what = f"{MOST_NM:g} Nm" if column.unit == "nm" else f"{LARGEST:g}"
    for kind, where, words in (
        ("blank cells", ~there, "has no value in these rows"),
        ("wild torque", there & ~good, f"is beyond ±{what} in these rows"),
    ):
        hits = np.flatnonzero(where)
        if len(hits):
            told = f"column {column.column} {words}; the newest value before is held"
            faults.append(LogFault(kind, len(hits), int(table.row[hits[0]]), told))
    newest = np.maximum.accumulate(np.where(good, np.arange(len(value)), -1))
    return np.where(newest >= 0, value[newest], np.nan)


def _no_column(path: Path, name: str, columns: tuple[str, ...], mapping: LogMapping) -> str:
    return (
        f"{path}: no column {name} (mapping {mapping.name}); found {', '.join(columns)}; "
        f"{near(name, columns)}"
    )


def _no_mapping(path: Path, columns: tuple[str, ...]) -> str:
    known = shipped_mappings()
    found = f"{path}: no shipped mapping fits its columns {', '.join(columns)}"
    # the mapping that misses least, if it is close
    nearest = min(known, key=lambda m: len(set(m.header) - set(columns)) / len(m.header))
    lacking = [name for name in nearest.header if name not in columns]
    hint = (
        f"; for {nearest.name} it lacks {', '.join(lacking)}"
        if 0 < len(lacking) < len(nearest.header)
        else ""
    )
    names = ", ".join(m.name for m in known)
    remedy = f"`rigloop log check {path} --write FILE` makes one for --mapping FILE"
    return f"{found}{hint}; {remedy} (shipped: {names})"

"""Read a logged encoder: text file and mapping to times, counts, torques and faults."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from math import pi
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from io_bridge.logs.faults import LogFault, at, count_faults, interval_faults
from io_bridge.logs.table import LogError, TextTable, read_header, read_table
from rig_configs.log_schema import (
    LogMapping,
    TimeColumn,
    TorqueColumn,
    matching_mapping,
    shipped_mappings,
)
from rig_configs.numbers import LARGEST

__all__ = ["EncoderLog", "LogError", "read_log"]

Array = NDArray[np.float64]
Rows = NDArray[np.int64]

MIN_SAMPLES = 10
MAX_BACKWARD_SHARE = 0.1  # of samples that go back in time; with more the column is not a clock
MAX_COUNT = 2.0**53  # beyond it, not every count is a number
MAX_SPAN_S = 1e7
MOST_NM = 1e6  # no sensor of a wheel, pedal or arm gives more
MAX_ROUNDING_COUNTS = 0.25  # of a printed angle to its count
RESOLVED = 0.3  # w0 T of a filter that the samples still resolve


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
        Counts as logged (not unwrapped).
    torque : dict of str to ndarray of float64, shape (n,)
        By name and unit (`sensor_nm`, `eps_raw`): the newest value not later than the sample, NaN
        before the first.
    row : ndarray of int64, shape (n,)
        Data row of each sample, from 0 after the header.
    n_rows : int
        Data rows in the file.
    faults : tuple of LogFault
        The faults found, and the remedies taken.
    """

    path: Path
    mapping: LogMapping
    t_s: Array
    position_count: Array
    torque: dict[str, Array]
    row: Rows
    n_rows: int
    faults: tuple[LogFault, ...]

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
        logged = self.mapping.bandwidth_rad_s or rig_bandwidth_rad_s
        return min(rig_bandwidth_rad_s, logged, RESOLVED / self.sample_period_s)


def read_log(path: str | Path, mapping: LogMapping | None = None) -> EncoderLog:
    """Read a log.

    Parameters
    ----------
    path : str or Path
        A delimited text file with a header line.
    mapping : LogMapping, optional
        How to read it. Default: the shipped one whose header matches.

    Returns
    -------
    EncoderLog
        Times strictly increasing, counts as logged, faults listed.

    Raises
    ------
    LogError
        One line: the file, the place, the reason and, where there is one, the remedy.
    """
    path = Path(path)
    columns = read_header(path, mapping.delimiter if mapping else ",")
    if mapping is None:
        mapping = matching_mapping(columns)
        if mapping is None:
            raise LogError(_no_mapping(path, columns))
    missing = [name for name in mapping.columns if name not in columns]
    if missing:
        raise LogError(_no_column(path, missing[0], columns, mapping))
    table = read_table(path, mapping.columns, mapping.delimiter)

    n_rows = len(table.cells[mapping.time.column])
    rows = np.arange(n_rows, dtype=np.int64)
    faults: list[LogFault] = []
    if table.dropped_last:
        words = "the last line has no end and may be cut; left out"
        faults.append(LogFault("cut last line", 1, n_rows, words))
    t_s, keep = _times(table, mapping, rows, faults)
    torque = {
        f"{column.name}_{column.unit}": _held(table, column, rows, faults)
        for column in mapping.torque
    }
    keep &= _angle_rows(table, mapping)
    raw = _counts(table, mapping, rows, keep, faults)
    keep &= np.isfinite(raw)
    if keep.sum() < MIN_SAMPLES:
        raise LogError(
            f"{path}: {keep.sum()} usable angle samples in {n_rows} rows, "
            f"at least {MIN_SAMPLES} are needed"
        )
    keep[keep] = _increasing(path, t_s[keep], rows[keep], faults)
    t_s, raw, rows = t_s[keep], raw[keep], rows[keep]
    if not t_s[-1] - t_s[0] <= MAX_SPAN_S:
        raise LogError(
            f"{path}: column {mapping.time.column} spans {t_s[-1] - t_s[0]:.3g} s, at most {MAX_SPAN_S:.0e} are "
            "read: is its unit right?"
        )
    if len(rows) < MIN_SAMPLES:
        raise LogError(f"{path}: time stands still: column {mapping.time.column} is no clock")

    angle = mapping.angle
    count = unwrapped(raw, angle.counter_span, angle.zero_count)
    faults += interval_faults(t_s, rows)
    faults += count_faults(
        t_s, count, raw, angle.counter_span, 2.0 * pi / angle.counts_per_rev, rows
    )
    return EncoderLog(
        path=path,
        mapping=mapping,
        t_s=t_s - t_s[0],
        position_count=raw,
        torque={name: values[keep] for name, values in torque.items()},
        row=rows,
        n_rows=n_rows,
        faults=tuple(sorted(faults, key=lambda fault: fault.first_row)),
    )


def unwrapped(count: Array, span: int, zero_count: float = 0.0) -> Array:
    """Unwrap a counter that repeats after `span`; the first count is nearest to `zero_count`."""
    if not span:
        return count
    steps = np.diff(count, prepend=zero_count)
    return zero_count + np.cumsum(steps - span * np.floor(steps / span + 0.5))


def _times(
    table: TextTable, mapping: LogMapping, rows: Rows, faults: list[LogFault]
) -> tuple[Array, NDArray[np.bool_]]:
    # seconds for every row, and which of them are numbers
    column: TimeColumn = mapping.time
    stamp = table.numbers(column.column)
    good = np.isfinite(stamp)
    faults += at("bad time", ~good, rows, "blank or not finite; the rows are left out")
    stamp_good = stamp[good]
    if column.counter_bits and len(stamp_good):
        span = 2.0**column.counter_bits
        if stamp_good.min() < 0 or stamp_good.max() >= span:
            raise LogError(
                f"{table.path}: column {column.column} leaves 0 ... 2^{column.counter_bits}: "
                "counter_bits of the mapping is too small"
            )
        # a jump back by more than half the span is a wrap, a smaller one is a fault
        wraps = np.diff(stamp_good, prepend=stamp_good[0]) < -span / 2
        faults += at(
            "time counter wrap",
            wraps,
            rows[good],
            f"the {column.counter_bits} bit counter of column {column.column} runs over; unwrapped",
        )
        stamp_good = stamp_good + span * np.cumsum(wraps)
    t_s = np.full(len(stamp), np.nan)
    if len(stamp_good):
        # the first stamp is subtracted first: large stamps keep their digits
        t_s[good] = (stamp_good - stamp_good[0]) * column.seconds
    if mapping.rows:
        faults += at(
            "repeated time, all rows",
            np.diff(t_s, prepend=np.nan) == 0.0,
            rows,
            "rows share the time of the row before (of any kind); kept, the angle's rows matter",
        )
    return t_s, good


def _angle_rows(table: TextTable, mapping: LogMapping) -> NDArray[np.bool_]:
    filter_ = mapping.rows
    if filter_ is None:
        return np.ones(len(table.cells[mapping.angle.column]), dtype=bool)
    cells = table.cells[filter_.column]
    chosen = np.array([cell == filter_.equals for cell in cells])
    if not chosen.any():
        found = ", ".join(list(dict.fromkeys(cells))[:5])
        raise LogError(
            f"{table.path}: no row has {filter_.column} = {filter_.equals}; there are {found}"
        )
    return chosen


def _counts(
    table: TextTable,
    mapping: LogMapping,
    rows: Rows,
    keep: NDArray[np.bool_],
    faults: list[LogFault],
) -> Array:
    angle = mapping.angle
    value = table.numbers(angle.column)
    turn = {"counts": angle.counts_per_rev, "deg": 360.0, "rad": 2.0 * pi}[angle.unit]
    value = np.where(
        np.abs(value) < MAX_COUNT * min(1.0, turn / angle.counts_per_rev), value, np.nan
    )
    faults += at(
        "bad angle",
        keep & ~np.isfinite(value),
        rows,
        f"blank, not finite, or beyond {MAX_COUNT:.0e} counts; the rows are left out",
    )
    if angle.unit == "counts":
        off = keep & np.isfinite(value) & (value != np.rint(value))
        faults += at("fractional count", off, rows, "not a whole number of counts; kept")
        if angle.counter_span and len(value):
            width = np.nanmax(value) - np.nanmin(value)
            if width >= angle.counter_span:
                raise LogError(
                    f"{table.path}: column {angle.column} spans {width:.10g} counts, but the "
                    f"mapping says that it repeats after {angle.counter_span}"
                )
        return value
    exact = value * (angle.counts_per_rev / turn)
    count = np.rint(exact)
    faults += at(
        "off the grid",
        keep & (np.abs(exact - count) > MAX_ROUNDING_COUNTS),
        rows,
        f"angles more than {MAX_ROUNDING_COUNTS} counts from a multiple of "
        f"1/{angle.counts_per_rev:g} turn; rounded (is counts_per_rev of the mapping right?)",
    )
    return count


def _held(table: TextTable, column: TorqueColumn, rows: Rows, faults: list[LogFault]) -> Array:
    # newest value not later than the row
    cells = table.numbers(column.column)
    with np.errstate(over="ignore"):
        value = column.scale * (cells - column.offset)
    there = np.isfinite(cells)
    faults += at(
        "blank cells",
        ~there,
        rows,
        f"column {column.column} has no value in these rows; the newest one before is held",
    )
    good = np.abs(value) <= (MOST_NM if column.unit == "nm" else LARGEST)
    what = f"{MOST_NM:g} Nm" if column.unit == "nm" else f"{LARGEST:g}"
    faults += at(
        "wild torque",
        there & ~good,
        rows,
        f"column {column.column} is beyond ±{what} in these rows; the newest value before is held",
    )
    newest = np.maximum.accumulate(np.where(good, np.arange(len(value)), -1))
    return np.where(newest >= 0, value[newest], np.nan)


def _increasing(path: Path, t_s: Array, rows: Rows, faults: list[LogFault]) -> NDArray[np.bool_]:
    # keep the newest of samples with one time, leave out those that go back
    reached = np.maximum.accumulate(t_s)
    backward = t_s < reached
    if backward.mean() > MAX_BACKWARD_SHARE:
        raise LogError(
            f"{path}: {backward.sum()} of {len(t_s)} samples go back in time, the first at row "
            f"{rows[np.argmax(backward)]}; is it the right column, "
            "or a counter that wraps (counter_bits)?"
        )
    faults += at("decreasing time", backward, rows, "samples earlier than one before; left out")
    forward = np.flatnonzero(~backward)
    superseded = np.zeros(len(t_s), dtype=bool)
    superseded[forward[:-1]] = np.diff(t_s[forward]) == 0.0
    faults += at(
        "repeated time",
        superseded,
        rows,
        "samples with the time of the next one; left out, the newest counts",
    )
    return ~(backward | superseded)


def _near(name: str, columns: tuple[str, ...]) -> str:
    near = difflib.get_close_matches(name, columns, n=1, cutoff=0.5)
    return f"; near: {near[0]}" if near else ""


def _no_column(path: Path, name: str, columns: tuple[str, ...], mapping: LogMapping) -> str:
    return f"{path}: no column {name} (mapping {mapping.name}); found {', '.join(columns)}" + _near(
        name, columns
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
    return (
        f"{found}{hint}; give one with --mapping FILE (shipped: {', '.join(m.name for m in known)})"
    )

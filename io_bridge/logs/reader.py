"""Read a logged encoder: file and mapping to times, counts, torques and faults."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from math import pi
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from io_bridge.logs.assessed import assess
from io_bridge.logs.chosen import table_and_mapping
from io_bridge.logs.faults.finding import Finding
from io_bridge.logs.formats.read import read_tables
from io_bridge.logs.formats.table import LogError, Table
from io_bridge.logs.guess.beside import TURN
from io_bridge.logs.refused import check_kinds, check_samples
from io_bridge.logs.torques import LogFault, kinds_of, torques_of
from rig_configs.log_schema import LogMapping

__all__ = ["EncoderLog", "LogError", "read_log"]

Array = NDArray[np.float64]
Rows = NDArray[np.int64]

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


def unwrapped(count: Array, span: int, zero_count: float = 0.0) -> Array:
    """Unwrap a counter that repeats after `span`; the first count is nearest to `zero_count`."""
    if not span:
        return count
    steps = np.diff(count, prepend=zero_count)
    return zero_count + np.cumsum(steps - span * np.floor(steps / span + 0.5))

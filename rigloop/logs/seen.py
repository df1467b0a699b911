"""Figures and faults of a log: of one that is read as a whole, or of one that is read part by part."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from io_bridge.logs.faults.finding import Finding
from io_bridge.logs.formats.table import Table
from io_bridge.logs.parts import LogParts
from io_bridge.logs.reader import EncoderLog, unwrapped
from io_bridge.logs.sources import source_of
from io_bridge.logs.torques import LogFault
from rig_configs.log_schema import LogMapping

OF_TORQUE = ("blank cells", "wild torque")
HEAD_ROWS = 250_000  # of a long log, by which its mapping is guessed


@dataclass(frozen=True)
class Seen:
    """A log that was looked through.

    Attributes
    ----------
    mapping : LogMapping
        By which it was read.
    n_rows, samples : int
        Data rows, and those that give a sample.
    duration_s, period_s : float
        From the first to the last sample, and the typical interval.
    range_rad : tuple of float
        Smallest and largest angle.
    findings : sequence of Finding
        Faults, in order.
    notes : tuple of str
        Sentences on torques, and on faults that are not listed.
    """

    mapping: LogMapping
    n_rows: int
    samples: int
    duration_s: float
    period_s: float
    range_rad: tuple[float, float]
    findings: Sequence[Finding]
    notes: tuple[str, ...]


def seen_of(log: EncoderLog) -> Seen:
    """Return the figures of a log that was read as a whole."""
    angle = log.angle_rad
    return Seen(
        log.mapping,
        log.n_rows,
        len(log.t_s),
        log.duration_s,
        log.sample_period_s,
        (float(np.min(angle)), float(np.max(angle))),
        log.findings,
        _of_torques(log.faults),
    )


def head_tables(path: Path, delimiter: str | None) -> list[Table]:
    """Return the first rows of each table of a log that is read part by part.

    Raises
    ------
    LogError
        It cannot be read.
    """
    source = source_of(path, delimiter, HEAD_ROWS)
    first = next(iter(source))
    return [first, *source.beside]


def look_through(
    path: Path,
    mapping: LogMapping,
    doubts: Sequence[str] = (),
    told: Callable[[int, float], None] | None = None,
) -> Seen:
    """Read a log part by part in bounded memory.

    Parameters
    ----------
    doubts : sequence of str
        Of whoever guessed the mapping; each becomes a suspicion of units.
    told : callable, optional
        Called with the rows and seconds so far.

    Raises
    ------
    LogError
        It cannot be read.
    """
    parts = LogParts(path, mapping, refuses=False)
    low, high, samples, last = math.inf, -math.inf, 0, mapping.angle.zero_count
    for part in parts:
        count = unwrapped(part.position_count, mapping.angle.counter_span, last)
        low, high = min(low, float(np.min(count))), max(high, float(np.max(count)))
        last = float(count[-1])
        samples += len(count)
        if told:
            told(parts.n_rows, parts.duration_s)
    angle = mapping.angle
    scale = angle.sign * 2.0 * math.pi / angle.counts_per_rev
    ends = sorted(scale * (count - angle.zero_count) for count in (low, high))
    nowhere = math.nan
    suspected = [
        Finding("suspicion of units", 0, 0, 1, 0.0, nowhere, words, "refuse") for words in doubts
    ]
    notes = [*_of_torques(parts.torque_faults)]
    if parts.untold:
        notes.append(
            f"{parts.untold} faults more are counted only, after the first {len(parts.findings)}"
        )
    return Seen(
        mapping,
        parts.n_rows,
        samples,
        parts.duration_s,
        parts.sample_period_s,
        (ends[0], ends[1]),
        [*suspected, *parts.findings],
        tuple(notes),
    )


def _of_torques(faults: Iterable[LogFault]) -> tuple[str, ...]:
    return tuple(f"{f.kind}: {f.count}, {f.words}" for f in faults if f.kind in OF_TORQUE)

"""Torques of a log at its samples, and the faults of a log summed up by kind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from io_bridge.logs.faults.finding import KINDS, Finding
from io_bridge.logs.formats.table import Table
from rig_configs.log_schema import LogMapping, TorqueColumn
from rig_configs.numbers import LARGEST

Array = NDArray[np.float64]
Rows = NDArray[np.int64]

MOST_NM = 1e6  # no sensor of a wheel, pedal or arm gives more


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

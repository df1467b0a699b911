"""The samples of a log under a mapping: every fault found, and what is done about each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from io_bridge.logs.faults.clock import Clock, read_clock
from io_bridge.logs.faults.finder import find_faults
from io_bridge.logs.faults.finding import KINDS, Finding, Found, Policy, policy_of, runs
from io_bridge.logs.formats.stamps import seconds_of_all
from io_bridge.logs.formats.table import Table
from io_bridge.logs.guess.angle_span import too_fast
from io_bridge.logs.guess.beside import TURN
from io_bridge.logs.guess.clock_column import IMPOSSIBLE_HZ
from io_bridge.logs.guess.names import ANGLE_UNITS, TIME_UNITS, unit_in
from rig_configs.log_schema import LogMapping

Array = NDArray[np.float64]
Rows = NDArray[np.int64]

OFTEN_MISSING = 0.2  # of the rows without an angle: they are those of other messages
LONG_GAP = 4.0  # periods
FRACTIONS = 0.5  # of the rows: an angle is taken as counts


@dataclass(frozen=True)
class Assessed:
    """Samples of a log.

    Attributes
    ----------
    t_s : ndarray of float64, shape (n,)
        Time since the first sample that is kept, s.
    value : ndarray of float64, shape (n,)
        Angle column in its own unit; what jumps added is taken off.
    sample : ndarray of int64, shape (n,)
        Index of each into the rows of the table.
    findings : tuple of Finding
        By row.
    refused : tuple of str
        Faults that the mapping refuses.
    """

    t_s: Array
    value: Array
    sample: Rows
    findings: tuple[Finding, ...]
    refused: tuple[str, ...]


def assess(table: Table, mapping: LogMapping, doubts: tuple[str, ...] = ()) -> Assessed:
    """Find the faults of a log and do what is to be done about each.

    Parameters
    ----------
    table : Table
        It has the columns of the mapping.
    mapping : LogMapping
    doubts : tuple of str
        Of whoever guessed the mapping.
    """
    angle, rows = mapping.angle, np.arange(len(table.row))
    if mapping.rows:
        cells = table.words.get(mapping.rows.column) or []
        chosen = np.array([cell == mapping.rows.equals for cell in cells], dtype=bool)
        rows = rows[chosen] if len(chosen) == len(rows) else rows[:0]
    value = table.numbers[angle.column][rows].copy()
    blank = ~np.isfinite(value)
    listed = np.array([s.row for s in table.spoilt if s.column == angle.column], dtype=np.int64)
    if blank.any() and np.mean(blank) > OFTEN_MISSING and not mapping.rows:
        rows, value = rows[~blank], value[~blank]
    stamp = _stamps(table, mapping)[rows]
    clock = read_clock(stamp, mapping.time.seconds, mapping.time.counter_bits)
    turn = TURN.get(angle.unit, angle.counts_per_rev)
    span = angle.counter_span * (1.0 if angle.unit == "counts" else turn / angle.counts_per_rev)
    found = [*clock.found, *find_faults(value, clock, span, turn)]
    is_listed = np.isin(table.row[rows], listed)
    found += [
        Found("missing value", b, e - 1, "no angle") for b, e in runs(np.isnan(value) & ~is_listed)
    ]
    # a row that could not be read, and is listed so, leaves no gap of its own
    lost = np.diff(table.row[rows], prepend=0) > 1
    found = [
        one
        for one in found
        if one.kind != "gap" or not lost[one.first] or one.size > LONG_GAP * clock.period_s
    ]
    t_s, kept, samples = _undertake(found, mapping, clock, value, span)
    # by what is left: a stretch of ones is no fast motion
    fast = too_fast(kept, t_s, turn, span) if len(t_s) > 10 and not clock.jitters else 0.0
    found += _suspicions(table, mapping, value, clock, fast, doubts)
    findings = [_told(one, table, mapping, rows, clock, value) for one in found]
    findings += _of_file(table, mapping)
    findings.sort(key=lambda one: (one.row, one.kind))
    refused = tuple(
        f"{one.kind} at row {one.row}: {one.words}"
        for one in findings
        if one.action == Policy.REFUSE
    )
    return Assessed(t_s, kept, rows[samples], tuple(findings), refused)


def _stamps(table: Table, mapping: LogMapping) -> Array:
    if mapping.time.unit == "rows":
        return table.row.astype(float)
    if mapping.time.unit == "stamp":
        return seconds_of_all(table.words[mapping.time.column])
    return table.numbers[mapping.time.column]


def _undertake(
    found: list[Found], mapping: LogMapping, clock: Clock, value: Array, span: float
) -> tuple[Array, Array, Rows]:
    # drop, hold and split; the times and values of what is left
    keep = clock.keep & np.isfinite(value)
    t_s, logged, value = clock.t_s.copy(), value, value.copy()
    is_count = mapping.angle.unit == "counts"
    for one in found:
        policy = policy_of(one.kind, mapping.policy)
        # for whoever shows a log that is refused
        policy = KINDS[one.kind].policy if policy is Policy.REFUSE else policy
        here = slice(one.first, one.last + 1)
        if one.kind in ("gap", "restarted clock"):
            if one.kind == "gap" and policy is Policy.SPLIT:
                t_s[one.first :] -= one.size - clock.period_s
        elif one.kind in ("reset to zero", "index jump"):
            if policy is Policy.SPLIT:
                value[one.first :] -= np.rint(one.size) if is_count else one.size
            elif policy is Policy.DROP:
                keep[one.first :] = False
        elif policy is Policy.DROP and one.kind not in (
            "missing time",
            "repeated stamps",
            "backward stamps",
        ):
            keep[here] = False
        elif policy is Policy.HOLD:
            before = np.flatnonzero(keep[: one.first])
            if len(before):
                value[here] = value[before[-1]]
                keep[here] = clock.keep[here]
    if span and any(one.kind in ("reset to zero", "index jump") for one in found):
        # a counter stays within its span, whatever was taken off
        low = -span / 2.0 if np.any(logged[keep] < 0.0) else 0.0
        value = (value - low) % span + low
    samples = np.flatnonzero(keep)
    t_s = t_s[samples]
    return (t_s - t_s[0] if len(t_s) else t_s), value[samples], samples


def _told(
    one: Found, table: Table, mapping: LogMapping, rows: Rows, clock: Clock, value: Array
) -> Finding:
    first, last = int(rows[one.first]), int(rows[one.last])
    of_time = one.kind in (
        "missing time",
        "repeated stamps",
        "backward stamps",
        "restarted clock",
        "clock wrap",
    )
    return Finding(
        kind=one.kind,
        row=int(table.row[first]),
        last_row=int(table.row[last]),
        samples=one.last - one.first + 1,
        time_s=float(clock.t_s[one.first]),
        value=float(_stamps(table, mapping)[first]) if of_time else float(value[one.first]),
        words=one.words,
        action=str(policy_of(one.kind, mapping.policy)),
        column=mapping.time.column
        if of_time or one.kind in ("gap", "bunched stamps")
        else mapping.angle.column,
        line=int(table.line[first]) if table.line is not None else 0,
    )


def _of_file(table: Table, mapping: LogMapping) -> list[Finding]:
    return [
        Finding(
            s.kind, s.row, s.row, 1, float("nan"), float("nan"), f"{s.text!r}, expected {s.expected}",
            str(policy_of(s.kind, mapping.policy)), s.column, s.line,
        )
        for s in table.spoilt
        if s.column in ("", *mapping.columns)
    ]  # fmt: skip


def _suspicions(
    table: Table,
    mapping: LogMapping,
    value: Array,
    clock: Clock,
    fast: float,
    doubts: tuple[str, ...],
) -> list[Found]:
    words = list(doubts)
    time, angle = mapping.time, mapping.angle
    hz = 1.0 / clock.period_s if clock.period_s > 0.0 else np.inf
    if time.unit not in ("rows", "stamp") and not IMPOSSIBLE_HZ[0] <= hz <= IMPOSSIBLE_HZ[1]:
        other = "ms taken as s" if hz < IMPOSSIBLE_HZ[0] else "s taken as a smaller unit"
        words.append(f"{hz:.4g} samples a second in {time.unit}: {other}?")
    stated = unit_in(time.column, table.units.get(time.column, ""), TIME_UNITS)
    if stated and time.unit in TIME_UNITS and stated != time.unit and not doubts:
        words.append(f"column {time.column} is named {stated} and taken as {time.unit}")
    good = value[np.isfinite(value)]
    stated = unit_in(angle.column, table.units.get(angle.column, ""), ANGLE_UNITS)
    if angle.unit == "counts" and len(good) and np.mean(good != np.rint(good)) > FRACTIONS:
        words.append("counts with fractions: degrees or radians taken as counts?")
    elif stated and stated != angle.unit and not doubts:
        words.append(f"column {angle.column} is named {stated} and taken as {angle.unit}")
    if fast and not words:
        words.append(f"a tenth of the motion is faster than {fast:.4g} rad/s: is its unit right?")
    return [Found("suspicion of units", 0, 0, text) for text in words]

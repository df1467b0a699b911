"""Logs and mappings that are refused: columns of words, policies that cannot be, too few samples, no clock."""

from __future__ import annotations

from pathlib import Path

from io_bridge.logs.assessed import Assessed
from io_bridge.logs.faults.finding import KINDS
from io_bridge.logs.formats.table import LogError, Table
from rig_configs.log_schema import LogMapping

MIN_SAMPLES = 10
MAX_LOST_SHARE = 0.5  # of samples whose stamps are no time: the column is not a clock
MAX_SPAN_S = 1e7


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

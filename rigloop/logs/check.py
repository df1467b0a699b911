"""One log looked at: how it is to be read, every fault in it, and whether it is good enough."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import msgspec
import tomlkit

from io_bridge.logs.chosen import table_for
from io_bridge.logs.faults.finding import counted
from io_bridge.logs.formats.read import read_tables
from io_bridge.logs.formats.table import Table
from io_bridge.logs.guess.clock_column import Choice
from io_bridge.logs.guess.guess import guess_mapping
from io_bridge.logs.reader import log_of
from io_bridge.logs.sources import is_long
from rig_configs.log_schema import LogMapping, matching_mapping
from rigloop.logs.seen import Seen, head_tables, look_through, seen_of
from rigloop.logs.verdict import against

UNSURE = 0.5
SIGNS = {
    ",": "comma", ".": "point", ";": "semicolon", "\t": "tabulator", " ": "blanks", "|": "bar", ":": "colon",
}  # fmt: skip


class FoundFault(msgspec.Struct, frozen=True):
    """A fault, as `io_bridge.logs.faults.finding.Finding`; null for a missing one."""

    kind: str
    row: int
    last_row: int
    samples: int
    line: int
    time_s: float | None
    value: float | None
    column: str
    words: str
    action: str


class Certainty(msgspec.Struct, frozen=True):
    """A guess, how sure it is from 0 to 1, and why."""

    what: str
    choice: str
    sure: float
    why: str


class Checked(msgspec.Struct, frozen=True):
    """Everything that is known of a log."""

    file: str
    good: bool
    reasons: list[str]
    format: dict[str, str]
    mapping: dict[str, object]
    mapping_from: str
    certainty: list[Certainty]
    rows: int
    samples: int
    duration_s: float
    rate_hz: float
    range_rad: tuple[float, float]
    faults: list[FoundFault]
    counts: dict[str, int]
    notes: list[str]


def check_log(
    path: Path,
    *,
    mapping: LogMapping | None = None,
    counts_per_rev: float | None = None,
    period_s: float | None = None,
    angle: str | None = None,
    unit: str | None = None,
    dbc: Path | None = None,
    told: Callable[[int, float], None] | None = None,
) -> tuple[Checked, LogMapping]:
    """Look at a log.

    Parameters
    ----------
    path : Path
        Of any known format.
    mapping : LogMapping, optional
        How to read it; else the shipped one that fits its header, else guessed.
    counts_per_rev, period_s, angle, unit : optional
        Known facts that a guess takes as they are.
    dbc : Path, optional
        Signals of a CAN log.
    told : callable, optional
        Called with the rows and seconds so far of a log that is read part by part.

    Raises
    ------
    LogError
        It cannot be read, or has no angle.
    """
    delimiter = mapping.delimiter if mapping else None
    long = is_long(path)
    tables = head_tables(path, delimiter) if long else read_tables(path, delimiter, dbc)
    choices: tuple[Choice, ...] = ()
    doubts: tuple[str, ...] = ()
    source = "given"
    if mapping is not None:
        table = table_for(path, tables, mapping)
    else:
        knows = counts_per_rev or period_s or angle or unit
        fits = [] if knows else [(t, m) for t in tables if (m := matching_mapping(t.columns))]
        if fits:
            table, mapping = fits[0]
            source = f"shipped: {mapping.name}"
        else:
            guess = guess_mapping(
                path,
                tables,
                counts_per_rev=counts_per_rev,
                period_s=period_s,
                angle=angle,
                unit=unit,
            )
            table, mapping, choices, doubts = (
                guess.table,
                guess.mapping,
                guess.choices,
                guess.doubts,
            )
            source = "guessed"
    if long:
        seen = look_through(path, mapping, doubts, told)
    else:
        # a refusal is a verdict here, and no reason to show nothing
        seen = seen_of(log_of(path, table, mapping, doubts, refuses=False))
    refused = [
        f"{one.kind} at row {one.row} is refused by the mapping's policy"
        for one in seen.findings
        if mapping.policy.get(one.kind) == "refuse"
    ]
    reasons = [*against(seen.findings, seen.n_rows, seen.period_s), *refused[:5]]
    notes = [
        f"{one.what}: {one.choice} is a guess of little certainty ({one.why})"
        for one in choices
        if one.sure < UNSURE
    ]
    return _checked(path, table, seen, source, choices, reasons, [*notes, *seen.notes]), mapping


def mapping_text(mapping: LogMapping, choices: list[Certainty]) -> str:
    """Return the text of a mapping file, with how sure each guess is beside it."""
    data = mapping.model_dump(exclude_defaults=True, mode="json")
    # a stretch without hands is that of one log
    data.pop("free_s", None)
    data.pop("free_of", None)
    document = tomlkit.document()
    for one in choices:
        document.add(
            tomlkit.comment(
                f"{one.what}: {one.choice}, {100 * one.sure:.0f} % sure: {one.why}".replace(
                    "\n", " "
                )
            )
        )
    for key, value in data.items():
        document.add(key, tomlkit.item(value))
    return tomlkit.dumps(document)


def _checked(
    path: Path,
    table: Table,
    seen: Seen,
    source: str,
    choices: tuple[Choice, ...],
    reasons: list[str],
    notes: list[str],
) -> Checked:
    form = dict(table.form)
    for key in {"delimiter", "decimal"} & set(form):
        form[key] = SIGNS.get(form[key], form[key])
    if table.name:
        form["table"] = table.name
    return Checked(
        file=str(path),
        good=not reasons,
        reasons=reasons,
        format=form,
        mapping=seen.mapping.model_dump(exclude_defaults=True, mode="json"),
        mapping_from=source,
        certainty=[Certainty(c.what, c.choice, round(c.sure, 2), c.why) for c in choices],
        rows=seen.n_rows,
        samples=seen.samples,
        duration_s=seen.duration_s,
        rate_hz=1.0 / seen.period_s,
        range_rad=seen.range_rad,
        faults=[
            FoundFault(
                f.kind, f.row, f.last_row, f.samples, f.line, _number(f.time_s), _number(f.value),
                f.column, f.words, f.action,
            )
            for f in seen.findings
        ],
        counts=counted(seen.findings),
        notes=notes,
    )  # fmt: skip


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None

"""A checked log for people: how it is read, its faults, the verdict."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.status import Status

from rigloop.console.screen import Screen
from rigloop.display.tables import Cell, Column, Table, Tone, Toned, facts, show
from rigloop.display.verdict import remark, show_verdict
from rigloop.logs.check import Checked

SHOWN = 40  # faults in a terminal; --json has all


class Going:
    """A line on the terminal that says how far a long log was read; nothing where there is no terminal."""

    def __init__(self, file: Path) -> None:
        self._name = file.name
        self._console = Screen(stderr=True)
        self._status: Status | None = None

    def say(self, rows: int, seconds: float) -> None:
        """Show the rows and the time so far."""
        if not self._console.is_terminal:
            return
        words = f"{self._name}: {rows:,} rows, {seconds / 60.0:.1f} min of the log".replace(
            ",", " "
        )
        if self._status is None:
            self._status = self._console.status(escape(words))
            self._status.start()
        self._status.update(escape(words))

    def end(self) -> None:
        """Remove the line."""
        if self._status is not None:
            self._status.stop()


def show_checked(found: Checked, console: Console) -> None:
    """Print what is known of a log."""
    form = ", ".join(_said(key, value) for key, value in found.format.items())
    rows = [
        ("log", found.file, form),
        ("mapping", found.mapping_from, ""),
        (
            "rows",
            f"{found.rows}",
            f"{found.samples} samples, {found.duration_s:.3f} s, {found.rate_hz:.6g} Hz",
        ),
        ("angle", f"{found.range_rad[0]:.4g} … {found.range_rad[1]:.4g}", "rad"),
    ]
    show(facts(rows), console)
    if found.certainty:
        columns = (Column("guess"), Column("is"), Column("sure", is_figure=True), Column("because"))
        guesses: list[list[Cell]] = [
            [one.what, one.choice, Toned(f"{100 * one.sure:.0f} %", _tone(one.sure)), one.why]
            for one in found.certainty
        ]
        show(Table(columns, guesses), console)
    if found.faults:
        heads = (
            Column("row", is_figure=True), Column("time, s", is_figure=True), Column("value", is_figure=True),
            Column("fault", whole=True), Column("done"), Column("words"),
        )  # fmt: skip
        listed = [
            [
                f"{one.row}" if one.last_row == one.row else f"{one.row}–{one.last_row}",
                "" if one.time_s is None else f"{one.time_s:.4f}",
                "" if one.value is None else f"{one.value:.10g}",
                one.kind,
                one.action,
                one.words,
            ]
            for one in found.faults[:SHOWN]
        ]
        show(Table(heads, listed), console)
        counts = ", ".join(f"{kind} {n}" for kind, n in found.counts.items())
        more = f"; the first {SHOWN} are shown, --json has all" if len(found.faults) > SHOWN else ""
        remark(f"{len(found.faults)} faults: {counts}{more}", console)
    for note in found.notes:
        remark(note, console)
    show_verdict(found.good, found.reasons, console, otherwise="can be replayed")


def _said(key: str, value: str) -> str:
    if key == "header_line" and value == "0":
        return "no line of names"
    return f"{key.replace('_', ' ')} {value}"


def _tone(sure: float) -> Tone:
    return Tone.GOOD if sure >= 0.8 else Tone.WARN if sure >= 0.5 else Tone.BAD

"""Captures on a terminal: where the trigger was, a row of figures a signal, gaps, differences."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rich.console import Console

from rigloop.display import tables
from rigloop.display.numbers import figure
from rigloop.display.tables import Table
from rigloop.display.verdict import line, remark
from rigloop.scope.capture import Capture
from rigloop.scope.compared import Difference, differences
from rigloop.scope.measure import delay_s, measure, spectrum
from rigloop.scope.message import figures_of

MOST_SHOWN = 40  # signals


def facts_of(
    capture: Capture, delays: Sequence[tuple[str, str]], against: Capture | None
) -> dict[str, object]:
    """Return everything about a capture but its cycles, as JSON takes it."""
    return {
        "number": capture.number,
        "rig": capture.rig,
        "run": capture.origin,
        "trigger": capture.trigger,
        "why": capture.why,
        "trigger_s": capture.trigger_s,
        "complete": capture.complete,
        "cycles": {group.name: len(group) for group in capture.groups},
        "lost": capture.lost,
        "gaps": capture.gaps,
        "signals": {
            path: {
                "unit": unit,
                **figures_of(measure(*capture.trace(path))),
                "line_hz": _number(_line(capture, path)[0]),
                "line": _number(_line(capture, path)[1]),
            }
            for path, unit in capture.units.items()
        },
        "delays": [
            {"from": a, "to": b, "delay_s": _number(_delay(capture, a, b))} for a, b in delays
        ],
        "differences": [] if against is None else differences(capture, against),
    }


def show_capture(
    capture: Capture,
    delays: Sequence[tuple[str, str]],
    against: Capture | None,
    console: Console,
) -> None:
    """Print a capture."""
    rows = ", ".join(f"{len(group)} cycles of {group.name}" for group in capture.groups)
    why = {"trigger": capture.trigger, "auto": f"{capture.trigger}: has not come", "now": "now"}
    place = f"{capture.number}  {why[capture.why]}  at {capture.trigger_s:.6f} s: {rows}"
    line(place, console, tone="bold")
    if not capture.complete:
        remark("the run ended before the time after the trigger was over", console)
    for task, gaps in capture.gaps.items():
        if gaps:
            lost, skipped = (sum(getattr(g, what) for g in gaps) for what in ("lost", "skipped"))
            words = f"{task}: {len(gaps)} gaps: {lost} cycles lost, {skipped} periods skipped by the loop"
            remark(words, console)
    tables.show(_figures(capture), console)
    for a, b in delays:
        delay = _delay(capture, a, b)
        found = "none: one of them does not cross its middle" if math.isnan(delay) else ""
        line(f"delay from {a} to {b}: {found or f'{1e3 * delay:.4g} ms'}", console)
    if against is not None:
        tables.show(_apart(differences(capture, against)), console)


def _figures(capture: Capture) -> Table:
    heads = ("min", "max", "mean", "RMS", "frequency, Hz", "line, Hz", "its amplitude")
    rows = []
    for path, unit in capture.units.items():
        found = measure(*capture.trace(path))
        values = (found.minimum, found.maximum, found.mean, found.rms)
        line_hz, amplitude = _line(capture, path)
        cells = [
            *map(_shown, values),
            _shown(found.frequency_hz),
            _shown(line_hz),
            _shown(amplitude),
        ]
        rows.append([path, unit, *cells])
    columns = [*tables.words("signal", "unit", whole=True), *tables.figures(*heads)]
    return Table(columns, rows, most=MOST_SHOWN)


def _apart(found: Sequence[Difference]) -> Table:
    rows = [
        [one.path, str(one.n), _shown(one.largest), _shown(one.at_s), _shown(one.rms)]
        for one in found
    ]
    heads = tables.figures("cycles", "largest difference", "at, s", "RMS")
    note = "" if found else "no signal is in both captures"
    columns = [*tables.words("beside the stored capture", whole=True), *heads]
    return Table(columns, rows, note=note, most=MOST_SHOWN)


def _line(capture: Capture, path: str) -> tuple[float, float]:
    group = capture.group_of(path)
    return spectrum(group.rows["t_ns"], capture.trace(path)[1], group.period_ns).peak


def _delay(capture: Capture, a: str, b: str) -> float:
    return delay_s(capture.trace(a), capture.trace(b))


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _shown(value: float) -> str:
    return figure(value) if math.isfinite(value) else "–"

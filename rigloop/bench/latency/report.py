"""`report.html` of a latency test: verdict, distributions, parts, longest latencies; no links out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rigloop.bench.latency.events import GROUPS, STAGES
from rigloop.bench.latency.outcome import LatencyOutcome, Measured
from rigloop.display.numbers import milliseconds
from rigloop.display.pages import fill
from rigloop.display.tables import Cell, Table, Tone, Toned, figures, words
from rigloop.report.tables import host
from rigloop.run_folder.manifest import REPORT, read_manifest
from rt_core.doctor.check import banner
from rt_core.lateness.cause import WORDS, Cause

LONGEST = 5
STAGE_WORDS = {
    "wait_sample": "sign change → first sample of it",
    "filter": "sample → filtered angle of the new sign",
    "wait_tick": "filtered angle → tick of the simulation",
    "step": "model and relay",
    "hand_over": "torque request → cycle of the guard",
    "bus": "guard → frame at the drive",
}


def write_latency_report(
    folder: Path, outcome: LatencyOutcome, measured: Sequence[Measured]
) -> Path:
    """Write the report of a latency test into its folder."""
    # matplotlib loads here, not with the command line
    from rigloop.bench.latency.plots import latency_plot

    manifests = [read_manifest(m.result.run) for m in measured]
    text = fill(
        "latency.html.jinja",
        outcome=outcome,
        banner=next((words for m in manifests if (words := banner(m.checks))), ""),
        started=manifests[0].started if manifests else "",
        host=host(manifests[0].host if manifests else {}),
        runs=_runs(measured),
        tiles=[tile for m in measured for tile in _tiles(m)],
        sections=[
            {
                "result": m.result,
                "svg": latency_plot(m),
                "stages": _stages(m),
                "longest": _longest(m),
            }
            for m in measured
        ],
    )
    path = folder / REPORT
    path.write_text(text, encoding="utf-8")
    return path


def _tiles(measured: Measured) -> Iterator[tuple[str, str, str]]:
    r = measured.result
    period = f"Ts = {r.period_us / 1e3:g} ms"
    yield f"p99.9, {period}", f"{r.latency.p99_9 / 1e6:.2f} ms", f"limit {r.limit_ns / 1e6:.2f} ms"
    model = (r.path_delay_ns + 500.0 * r.period_us) / 1e6
    yield f"Mean, {period}", f"{r.latency.mean / 1e6:.2f} ms", f"model {model:.2f} ms"
    yield (
        f"Maximum, {period}",
        f"{r.latency.max / 1e6:.2f} ms",
        f"published, with drive: {r.published_ns / 1e6:.1f} ms",
    )
    yield f"Sign changes, {period}", f"{r.latency.n:,}", f"wheel driven at {r.frequency_hz:.2f} Hz"


def _stage_rows(measured: Measured) -> Iterator[tuple[str, str, Any]]:
    """Yield part, stage, figures; the first stage of a part names it, and each part ends with its sum."""
    r = measured.result
    for group, stages in GROUPS.items():
        for stage in stages:
            yield group if stage == stages[0] else "", STAGE_WORDS[stage], r.stages[stage]
    yield "all", "sign change → torque of the new sign at the drive", r.latency
    yield "", "the same, had every cycle kept its deadline", r.nominal
    if r.response is not None:
        yield "", "sign change → torque that the drive reports", r.response


def _stages(measured: Measured) -> Table:
    rows = [
        [part, name, *map(milliseconds, (f.min, f.mean, f.p50, f.p99, f.p99_9, f.max))]
        for part, name, f in _stage_rows(measured)
    ]
    heads = figures("min", "mean", "p50", "p99", "p99.9", "max")
    return Table([*words("Part", "From → to"), *heads], rows)


def _longest(measured: Measured) -> Table:
    events = measured.found.events
    rows = []
    for i in np.argsort(-events["total_ns"])[:LONGEST]:
        event = events[i]
        times = (event[f"{name}_ns"] for name in ("total", *STAGES, "late", "lost"))
        cause = WORDS.get(Cause(int(event["cause"])), "")
        rows.append([f"{event['t0_ns'] * 1e-9:.3f}", *map(milliseconds, times), cause])
    stages = ("sample", "filter", "tick", "step", "hand-over", "bus")
    heads = figures("at s", "latency", *stages, "latest begin", "cycles lost")
    return Table([*heads, *words("")], rows)


def _runs(measured: Sequence[Measured]) -> Table:
    rows: list[list[Cell]] = [
        [
            f"Ts = {m.result.period_us / 1000:g} ms",
            Toned(Path(m.result.run).name, Tone.CODE),
            "real-time" if m.result.real_time else "not real-time",
        ]
        for m in measured
    ]
    return Table([*words("", tone=Tone.SOFT), *words("", "")], rows)

"""`report.html` of a latency test: verdict, distributions, parts, longest latencies; no links out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rigloop.bench.latency.events import GROUPS, STAGES
from rigloop.bench.latency.outcome import LatencyOutcome, Measured
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
    # matplotlib and jinja2 load here, not with the command line
    from jinja2 import Environment, PackageLoader, StrictUndefined

    from rigloop.bench.latency.plots import latency_plot

    environment = Environment(
        loader=PackageLoader("rigloop"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["ms"] = lambda ns: f"{ns / 1e6:.3f}"
    manifests = [read_manifest(m.result.run) for m in measured]
    text = environment.get_template("latency.html.jinja").render(
        outcome=outcome,
        banner=next((words for m in manifests if (words := banner(m.checks))), ""),
        started=manifests[0].started if manifests else "",
        host=manifests[0].host if manifests else {},
        tiles=[tile for m in measured for tile in _tiles(m)],
        sections=[
            {
                "result": m.result,
                "svg": latency_plot(m),
                "stages": list(_stage_rows(m)),
                "longest": list(_longest(m)),
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


def _longest(measured: Measured) -> Iterator[dict[str, Any]]:
    events = measured.found.events
    for i in np.argsort(-events["total_ns"])[:LONGEST]:
        event = events[i]
        yield {
            "at_s": event["t0_ns"] * 1e-9,
            "total": event["total_ns"],
            "late": event["late_ns"],
            "lost": event["lost_ns"],
            "cause": WORDS.get(Cause(int(event["cause"])), ""),
            **{stage: event[f"{stage}_ns"] for stage in STAGES},
        }

"""The report of a latency test: every figure is there, and the picture keeps its scale."""

import re

import numpy as np
import pytest
from run_manifests import run_manifest

from rigloop.bench.latency.events import EVENT, GROUPS, STAGES, Found
from rigloop.bench.latency.model import figures
from rigloop.bench.latency.outcome import LatencyOutcome, Measured, Result
from rigloop.bench.latency.report import write_latency_report
from rigloop.run_folder.manifest import Named, TaskFacts, write_manifest
from rt_core.lateness.cause import Cause

N = 400


def measured(run, latest_ns=0.0):
    """A result whose latencies are those of the model; the last one `latest_ns` if given."""
    events = np.zeros(N, EVENT)
    events["t0_ns"] = np.arange(N) * 113.6e6
    events["wait_sample_ns"] = 50_000
    events["wait_tick_ns"] = 100_000 + (np.arange(N) + 0.5) / N * 1e6
    events["step_ns"], events["hand_over_ns"], events["bus_ns"] = 5_000, 95_000, 100_000
    if latest_ns:
        events["wait_tick_ns"][-1] += latest_ns
        events["cause"][-1], events["lost_ns"][-1] = Cause.LATE_WAKE, latest_ns
    events["total_ns"] = sum(events[f"{s}_ns"] for s in STAGES)
    events["nominal_ns"] = events["total_ns"]
    events["response_ns"] = events["total_ns"] + 350_000
    result = Result(
        period_us=1000, fast_period_us=100, run=str(run), good=True, reasons=(), notes=("a <note>",),
        real_time=True, device_clock="nominal", latency=figures(events["total_ns"]),
        nominal=figures(events["nominal_ns"]), response=figures(events["response_ns"]),
        stages={s: figures(events[f"{s}_ns"]) for s in STAGES},
        groups={g: figures(sum(events[f"{s}_ns"] for s in parts)) for g, parts in GROUPS.items()},
        path_delay_ns=280_000.0, filter_delay_ns=-20_000.0, frequency_hz=4.4, limit_ns=1.5e6,
        t9_limit_ns=1.48e6, beyond_t9={"late wake": 1} if latest_ns else {}, published_ns=3.2e6, distance=0.01,
        allowed_distance=0.3, skipped={"unarmed": 3},
    )  # fmt: skip
    return Measured(result, Found(events, 3, 0, 0, 0, 0, "nominal"))


@pytest.fixture
def run(tmp_path):
    folder = tmp_path / "run"
    folder.mkdir()
    write_manifest(
        folder,
        run_manifest(
            rig=Named("latency_bench", "0" * 64), duration_s=45.0, host={"cpu": "two <cores>"},
            tasks={"estimation": TaskFacts(100_000, "estimation.npy", 450_000, 0, 0)},
        ),
    )  # fmt: skip
    return folder


def page(folder, found, good=True, reasons=()):
    outcome = LatencyOutcome(
        good, list(reasons), str(folder), "latency_bench", "simulated", [m.result for m in found]
    )
    return write_latency_report(folder, outcome, found).read_text()


@pytest.mark.slow
def test_report_has_the_figures_of_every_period(run):
    text = page(run.parent, [measured(run), measured(run)])
    assert text.count("<svg") == 2
    mean = 0.05 + 0.1 + 0.5 + 0.005 + 0.095 + 0.1
    assert f"{mean:.3f}" in text
    assert "limit 1.50 ms" in text
    assert "published, with drive: 3.2 ms" in text
    assert "Left out: 3 unarmed" in text
    assert "A &lt;note&gt;." in text
    assert "two &lt;cores&gt;" in text
    assert not re.search(r'(?:src|href)="(?!#)', text)


def test_a_bad_verdict_shows_its_reasons(run):
    text = page(run.parent, [measured(run)], good=False, reasons=["p99.9 is <too> long"])
    assert "Not good" in text
    assert "p99.9 is &lt;too&gt; long" in text


def test_one_long_latency_is_told_and_does_not_spoil_the_scale(run):
    text = page(run.parent, [measured(run, latest_ns=40e6)])
    assert "one beyond, 41.3 ms" in text
    assert "= 1.480 ms: 1 late wake." in text
    assert re.search(r"40\.000</td><td>late wake</td>", text)
    ticks = [float(t) for t in re.findall(r">\s*(\d+\.\d)\s*</text>", text)]
    assert max(ticks) <= 3.5


@pytest.mark.slow
def test_a_test_without_any_sign_change_still_has_a_page(run):
    text = page(run.parent, [], good=False, reasons=["is the wheel driven?"])
    assert "is the wheel driven?" in text
    assert "<svg" not in text

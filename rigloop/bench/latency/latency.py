"""The latency test: one run for each period of the simulation, then their distributions, judged."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np

from io_bridge.recording.record import open_record
from rig_configs.load import LoadedRig
from rigloop.bench.latency import model
from rigloop.bench.latency.events import GROUPS, STAGES, Found
from rigloop.bench.latency.follow import find_events
from rigloop.bench.latency.model import Figures, figures
from rigloop.bench.latency.outcome import LatencyOutcome, Measured, Result
from rigloop.bench.latency.rig import at_period, bandwidth_rad_s, signal_path, slow_guard
from rigloop.compose.blocks import backend_of
from rigloop.host.children import cycle_process
from rigloop.live.run_options import RunOptions
from rigloop.live.supervise import run_live
from rigloop.run_folder import messages
from rigloop.run_folder.folders import new_run_folder
from rigloop.run_folder.manifest import read_manifest
from rt_core.lateness.cause import WORDS, Cause

FEWEST = 20  # sign changes that a distribution can be told from
ENOUGH = 1000  # for a p99.9 that is not the maximum
RESULT = "latency.json"


def run_latency(
    loaded: LoadedRig,
    periods_ms: list[float],
    seconds: float,
    options: RunOptions,
) -> LatencyOutcome:
    """Run a rig once for each period, each time for `seconds`, then write the report of all.

    Raises
    ------
    ConfigError
        The rig is not one of a latency test, or cannot have one of the periods.
    NotStartedError
        A run did not start.
    """
    from rigloop.bench.latency.report import write_latency_report

    folder = new_run_folder(options.runs, "bench-latency")
    rigs = [at_period(loaded, round(1000 * ms), folder) for ms in periods_ms]
    for rig in rigs:
        signal_path(rig)
    backend = backend_of(loaded.rig, signal_path(loaded).bus, options.bus)
    measured: list[Measured] = []
    reasons: list[str] = []
    for rig, ms in zip(rigs, periods_ms, strict=True):
        options.console.print(f"Ts = {ms:g} ms, {seconds:g} s", highlight=False)
        with cycle_process() as cycle:
            ran = run_live(
                rig,
                cycle,
                replace(options, seconds=seconds, runs=folder),
            )
        run = Path(ran.folder)
        found = events_of(run, rig, backend)
        if len(found.events) < FEWEST:
            reasons += [f"Ts = {ms:g} ms: run: {reason}" for reason in ran.reasons if not ran.good]
            reasons.append(_too_few(ms, found))
        else:
            measured.append(Measured(judge(run, rig, found), found))
        if read_manifest(run).duration_s < seconds:
            if ran.good:
                reasons.append(f"Ts = {ms:g} ms: the run was interrupted")
            break
    results = [m.result for m in measured]
    reasons += [reason for result in results for reason in result.reasons]
    outcome = LatencyOutcome(not reasons, reasons, str(folder), loaded.name, backend, results)
    (folder / RESULT).write_bytes(msgspec.json.format(msgspec.json.encode(outcome)))
    write_latency_report(folder, outcome, measured)
    return outcome


def events_of(run: Path, loaded: LoadedRig, backend: str) -> Found:
    """Follow the sign changes of a recorded run."""
    path = signal_path(loaded)
    manifest = read_manifest(run)
    report = messages.read_report(run)
    zero_ns = report.first_cycle_ns if report is not None else 0
    fast, slow = (open_record(run / manifest.tasks[t].record) for t in (path.fast, path.slow))
    return find_events(fast, slow, path, zero_ns, nominal_clock=backend == "simulated")


def judge(run: Path, loaded: LoadedRig, found: Found) -> Result:
    """Return the figures of a run's events, and whether they are good.

    Parameters
    ----------
    found : Found
        With one event or more.
    """
    path, manifest, events = signal_path(loaded), read_manifest(run), found.events
    latency, nominal = figures(events["total_ns"]), figures(events["nominal_ns"])
    assert latency is not None
    assert nominal is not None
    frequency = model.frequency_hz(events["t0_ns"])
    filter_ns = model.filter_delay_ns(path.fast_ns, bandwidth_rad_s(loaded), frequency)
    delay_ns = model.path_delay_ns(path.fast_ns, filter_ns)
    t9 = path.slow_ns + delay_ns + model.LOG_STEP_NS
    beyond_ms = loaded.rig.verdict.max_latency_ms
    limit = path.slow_ns + 1e6 * beyond_ms
    distance = model.distance(events["total_ns"], delay_ns, path.slow_ns)
    allowed = model.allowed_distance(len(events), path.slow_ns)
    stages = {s: _known(events[f"{s}_ns"]) for s in STAGES}
    groups = {
        name: _known(np.sum([events[f"{s}_ns"] for s in parts], axis=0))
        for name, parts in GROUPS.items()
    }
    response = figures(events["response_ns"])
    reasons = [f"run: {r}" for r in manifest.reasons] if manifest.verdict == "bad" else []
    notes = [note for note in (slow_guard(loaded),) if note]
    late = []
    if latency.p99_9 > limit:
        late.append(
            f"p99.9 of {len(events)} latencies is {latency.p99_9 / 1e6:.2f} ms, limit Ts + "
            f"verdict.max_latency_ms = {limit / 1e6:.2f} ms"
        )
    if distance > allowed:
        late.append(f"the distribution is {distance:.3f} from uniform over Ts, limit {allowed:.3f}")
    if manifest.real_time:
        reasons += late
    else:
        notes += ["not real-time: latencies are only reported and do not affect the verdict", *late]
    if found.lost:
        late.append(f"{found.lost} sign changes had no answer before the next one")
    if found.bridged:
        notes.append(
            f"{found.bridged} sign changes came while the encoder filter bridged a jump, as after a gap: excluded"
        )
    if len(events) < ENOUGH:
        notes.append(f"{len(events)} sign changes: p99.9 is the maximum; {ENOUGH} tell them apart")
    period = f"Ts = {path.slow_ns / 1e6:g} ms: "
    return Result(
        period_us=path.slow_ns // 1000,
        fast_period_us=path.fast_ns // 1000,
        run=str(run),
        good=not reasons,
        reasons=tuple(period + reason for reason in reasons),
        notes=tuple(notes),
        real_time=manifest.real_time,
        device_clock=found.clock,
        latency=latency,
        nominal=nominal,
        response=response,
        stages=stages,
        groups=groups,
        path_delay_ns=delay_ns,
        filter_delay_ns=filter_ns,
        frequency_hz=frequency,
        limit_ns=limit,
        t9_limit_ns=t9,
        beyond_t9=causes(events[events["total_ns"] > t9]),
        published_ns=path.slow_ns + model.PUBLISHED_NS,
        distance=distance,
        allowed_distance=allowed,
        skipped={
            "unarmed": found.unarmed,
            "bridged": found.bridged,
            "crowded": found.crowded,
            "lost": found.lost,
            "unrecorded": found.unrecorded,
        },
    )


def causes(events: np.ndarray) -> dict[str, int]:
    """Return how many events lost cycles to which cause, most frequent first."""
    counts = Counter(WORDS.get(Cause(cause), "no cycle lost") for cause in events["cause"].tolist())
    return dict(counts.most_common())


def _known(values: np.ndarray) -> Figures:
    known = figures(values)
    assert known is not None
    return known


def _too_few(ms: float, found: Found) -> str:
    return (
        f"Ts = {ms:g} ms: {len(found.events)} sign changes of the encoder were followed by the torque, "
        f"{FEWEST} are needed ({found.unarmed} came while guard or drive held back, {found.bridged} while "
        f"the filter bridged a jump, {found.crowded} too soon after another, {found.lost} without an "
        f"answer, {found.unrecorded} not wholly in the record): is the wheel driven, and armed for long "
        "enough?"
    )

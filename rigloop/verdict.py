"""Judge a live run: what the rig file asks, what the signals, counters and processes say; and keep the evidence."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from codegen.build import BuiltKernel
from rig_configs.load import LoadedRig
from rigloop import order
from rigloop.complaints import complaints, lost_cycles
from rigloop.compose import paths
from rigloop.degraded import with_rights
from rigloop.ended import Ended, Final, exposure_of, overruns_by_cause
from rigloop.exposure import HOLES
from rigloop.late import write_events
from rigloop.manifest import (
    HistogramBins,
    Injected,
    Manifest,
    Named,
    Right,
    TaskFacts,
    versions,
    write_manifest,
    write_timing,
)
from rigloop.order import Mode
from rigloop.outcome import Outcome
from rigloop.report import write_report
from rigloop.spins import spin_in_words
from rt_core.cause import WORDS
from rt_core.doctor.check import Check, banner

if TYPE_CHECKING:
    from rigloop.inject.request import Injection


def conclude(
    folder: Path,
    loaded: LoadedRig,
    kernels: dict[str, BuiltKernel],
    ended: Ended,
    seconds: float | None,
    mode: Mode,
    checks: list[Check],
    injections: Sequence[Injection] = (),
) -> Outcome:
    """Write manifest, timing and report of a live run; return its verdict."""
    seen, final = ended.seen, ended.final
    report = order.read_report(folder) or order.Report(error="the cycle process left no report")
    records = _records(folder)
    bad = complaints(loaded, ended, report, records, seconds)
    notes = (
        []
        if report.real_time
        else ["not real-time: lateness and overruns are reported, not judged"]
    )
    injected, blocks = _injected(folder, loaded, final, injections)
    if injected:
        # what the faults did to the run is what they were for; the verdict is whether it met them as it states
        notes = [*bad, *notes]
        bad = [verdict.line() for verdict in injected if not verdict.good]
    timing = {
        task: {
            name: HistogramBins.of(h.edges_ns, h.counts, h.max_ns)
            for name, h in found.items()
            # blocks have one each; a task without a bus has no bus time; what holes say is in `exposure`
            if "/" not in name and (name != "bus" or h.max_ns > 0) and name not in HOLES
        }
        for task, found in final.histograms.items()
    }
    manifest = Manifest(
        kind="live",
        rig=Named(loaded.name, loaded.sha256),
        kernels=tuple(Named(name, kernel.hash) for name, kernel in kernels.items()),
        started=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - seen.armed_s)),
        duration_s=seen.armed_s,
        verdict="bad" if bad else "good",
        reasons=tuple([*bad, *notes] if injected else bad or notes),
        tasks={
            name: TaskFacts(
                period_ns=task.period_us * 1000,
                record=records.get(name, {}).get("record", f"{name}.npy"),
                cycles=int(final.signals[f"loop/{name}/cycle"]),
                overruns=int(final.signals[f"loop/{name}/overruns"]),
                skipped=int(final.signals[f"loop/{name}/skipped"]),
                dropped=lost_cycles(records.get(name, {})),
                causes={
                    WORDS[cause]: n
                    for cause, n in overruns_by_cause(final.signals, name).items()
                    if n
                },
                late_events=final.late[name][0],
                blocks=tuple(blocks[name]),
                spin=spin_in_words(
                    task.spin_us, report.spins.get(name), final.signals[f"loop/{name}/spin_ns"]
                ),
                exposure=exposure_of(final, name, task.period_us * 1000),
            )
            for name, task in loaded.rig.tasks.items()
        },
        versions=versions(),
        host=report.host,
        rights=tuple(Right(**right) for right in report.rights),
        mode=mode.value,
        checks=tuple(with_rights(checks, report.rights)),
        real_time=report.real_time,
        timing={
            task: {name: found.percentiles() for name, found in names.items()}
            for task, names in timing.items()
        },
        counters=_counters(loaded, final),
        signals=roles(loaded),
        injections=tuple(injected),
    )
    for task, (_, events) in final.late.items():
        write_events(folder, task, events)
    write_manifest(folder, manifest)
    write_timing(folder, timing)
    write_report(folder)
    first_cycle_s = 1e-9 * max(0, report.first_cycle_ns - seen.process_began_ns)
    missing = [
        f"{right.name}: {right.why}; {right.remedy}" for right in manifest.rights if not right.held
    ]
    return Outcome(
        not bad,
        list(manifest.reasons),
        str(folder),
        _figures(manifest, first_cycle_s),
        missing,
        banner(manifest.checks),
        injected,
    )


def _injected(
    folder: Path, loaded: LoadedRig, final: Final, injections: Sequence[Injection]
) -> tuple[list[Injected], dict[str, list[str]]]:
    """Return what became of the faults on purpose, and every task's blocks with those of the faults."""
    if not injections:
        return [], {name: task.blocks for name, task in loaded.rig.tasks.items()}
    from rigloop.inject.judge import judge
    from rigloop.inject.limits import limits_of
    from rigloop.inject.place import stages

    limits = limits_of(loaded.rig)
    return judge(folder, injections, limits, final.signals), stages(injections, limits)


def _records(folder: Path) -> dict[str, Any]:
    try:
        return json.loads((folder / "recorder.json").read_text())
    except (OSError, ValueError):
        return {}


def _counters(loaded: LoadedRig, final: Final) -> dict[str, int | float]:
    """Return the signals that count: the loop's, the bus's, the filters', the guard's trip."""
    ports = {
        "lost",
        "late",
        "missed",
        "rejected",
        "repaired",
        "jumps",
        "trip",
        "iterations",
        "residual",
        "status",
        "reassembled",
        "singular",
    }
    found: dict[str, int | float] = {}
    for name, block in loaded.rig.blocks.items():
        found |= {p: final.signals[p] for port, p in paths(name, block)[1].items() if port in ports}
    for task in loaded.rig.tasks:
        found[f"loop/{task}/torn"] = final.signals[f"loop/{task}/torn"]
    return {path: int(value) if value == int(value) else value for path, value in found.items()}


def roles(loaded: LoadedRig) -> dict[str, tuple[str, str]]:
    """Return what the report plots: role → task and signal."""
    rig = loaded.rig
    owner = {
        path: task
        for task, config in rig.tasks.items()
        for block in config.blocks
        for path in paths(block, rig.blocks[block])[1].values()
    }
    shown = rig.show.model_dump()
    return {
        role.removesuffix("_torque"): (owner[path], path)
        for role, path in shown.items()
        if path in owner
    }


def _figures(manifest: Manifest, first_cycle_s: float) -> list[tuple[str, str, str]]:
    rows = [
        ("first cycle after", f"{first_cycle_s:.2f} s", "from the start of the command"),
        ("armed for", f"{manifest.duration_s:.1f} s", ""),
    ]
    for task, names in manifest.timing.items():
        facts = manifest.tasks[task]
        late, step = names["late"], names["step"]
        period = f"period {facts.period_ns // 1000} µs"
        rows += [
            (
                f"{task} cycles",
                f"{facts.cycles}",
                f"{period}, {_overruns(facts)}, {facts.skipped} skipped",
            ),
            (
                "  late p50 / p99 / p99.9",
                _us(late.p50, late.p99, late.p99_9),
                f"max {late.max * 1e-3:.0f} µs",
            ),
            (
                "  step p50 / p99 / p99.9",
                _us(step.p50, step.p99, step.p99_9),
                f"max {step.max * 1e-3:.0f} µs",
            ),
        ]
        if facts.exposure is not None:
            rows.append(("  untold holes", *facts.exposure.brief()))
    rows.append(("rights", "real-time" if manifest.real_time else "not real-time", ""))
    return rows


def _overruns(facts: TaskFacts) -> str:
    told = ", ".join(f"{n} {words}" for words, n in facts.causes.items())
    return f"{facts.overruns} overruns" + (f": {told}" if told else "")


def _us(*durations_ns: float) -> str:
    return " / ".join(f"{duration * 1e-3:.1f}" for duration in durations_ns) + " µs"

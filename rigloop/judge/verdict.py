"""Judge a live run: what the rig file asks, what the signals, counters and processes say; and keep the evidence."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from io_bridge.recording.record import take_cut_records
from rig_configs.bounded import read_bytes
from rig_configs.load import LoadedRig
from rigloop.compose.blocks import find_guard, paths
from rigloop.compose.shown import shown_roles
from rigloop.host.disk_reserve import give_back
from rigloop.host.missing_checks import with_rights
from rigloop.host.neighbours import shared_by_tasks
from rigloop.host.spin_choice import spin_in_words
from rigloop.judge.axes import judge_axes
from rigloop.judge.felt import felt_figures
from rigloop.judge.live_refused import refused_in_cycle
from rigloop.judge.reasons import JudgedRun, lost_cycles, reasons_against
from rigloop.judge.tripped import faults_of
from rigloop.judge.trust import distrust
from rigloop.judge.wire_warnings import wire_warnings
from rigloop.report.felt import STATE
from rigloop.report.status_words import status_figures, status_words
from rigloop.run_folder import messages
from rigloop.run_folder.bring_up_losses import bring_up_figures, brought_up
from rigloop.run_folder.evidence import Keeping
from rigloop.run_folder.exposure import HOLES
from rigloop.run_folder.last_state import LAST, record_of, rows_of
from rigloop.run_folder.late import late_file, write_events
from rigloop.run_folder.limited import limited_line
from rigloop.run_folder.manifest import (
    REPORT,
    TIMING,
    Felt,
    HistogramBins,
    Injected,
    Manifest,
    Named,
    Number,
    Right,
    TaskFacts,
    count,
    number,
    versions,
    write_timing,
)
from rigloop.run_folder.outcome import Outcome
from rigloop.run_folder.run_end import Ended, Final, exposure_of, overruns_by_cause
from rigloop.sign_off.limit import limited_rig
from rt_core.doctor.check import banner
from rt_core.lateness.cause import WORDS
from rt_core.plan import LOOP_SIGNALS, loop_signal

if TYPE_CHECKING:
    from rigloop.inject.request import Injection


@dataclass(frozen=True)
class CutShort:
    """A run whose processes did not come to their end: the parts that it did not leave, and why it is never good."""

    missing: Sequence[str]
    reasons: Sequence[str]


def conclude(
    folder: Path,
    loaded: LoadedRig,
    ended: Ended,
    before: Manifest,
    injections: Sequence[Injection] = (),
    cut: CutShort | None = None,
) -> Outcome:
    """Write manifest, timing and report of a live run; return its verdict.

    Parameters
    ----------
    before : Manifest
        As it was kept while the run went on: kernels, mode, time asked for, what the doctor found.
    cut : CutShort, optional
        Of a run that was cut short.
    """
    missing, cut_short = ((), ()) if cut is None else (cut.missing, cut.reasons)
    seen, final = ended.seen, ended.final
    give_back(folder)
    keeping = Keeping(folder, loaded)
    report = (
        _report(folder) or ended.report or messages.Report(error="the cycle process left no report")
    )
    real_time = report.real_time and not seen.demoted
    limited = report.limited or before.limited
    loaded = replace(loaded, rig=limited_rig(loaded.rig, limited))
    records = _records(folder)
    kept = {task: record_of(folder / f"{task}.npy") for task in loaded.rig.tasks}
    rows = {task: rows_of(record, task) for task, record in kept.items()}
    injected, blocks = _injected(folder, loaded, final, injections)
    faults = faults_of(loaded.rig, final.signals, folder, seen.trips, report.bus_faults, blocks)
    axes = judge_axes(loaded.rig, final.signals, folder, len(seen.trips))
    doubts = distrust(loaded.rig, kept, is_live=True)
    bad = [
        *cut_short,
        *keeping.lost,
        *reasons_against(
            JudgedRun(loaded, ended, report, before.asked_s, records, rows, faults, axes, blocks)
        ),
        *doubts.red,
    ]
    notes = (
        []
        if report.real_time
        else [
            "not real-time: lateness and overruns are only reported and do not affect the verdict"
        ]
    )
    worth_knowing = [
        *([limited.line()] if limited is not None else []),
        *seen.notes,
        *doubts.amber,
        *refused_in_cycle(loaded.rig, final.signals),
        *shared_by_tasks(loaded.rig),
        *wire_warnings(report),
    ]
    if injected:
        from rigloop.inject.judge import judge_words

        injected = judge_words(injected, injections, bad)
        # what the faults did to the run is what they were for; the verdict is whether it met them as it states
        notes = [*bad[len(cut_short) :], *notes]
        bad = [*cut_short, *(verdict.line() for verdict in injected if not verdict.good)]
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
        kernels=before.kernels,
        started=before.started,
        duration_s=seen.armed_s,
        verdict="bad" if bad else "good",
        reasons=tuple([*bad, *notes] if injected else bad or notes),
        tasks={
            name: TaskFacts(
                period_ns=(period_ns := task.period_us * 1000),
                record=f"{name}.npy",
                cycles=count(final.signals[f"loop/{name}/cycle"]),
                overruns=count(final.signals[f"loop/{name}/overruns"]),
                skipped=count(final.signals[f"loop/{name}/skipped"]),
                dropped=lost_cycles(final, name, rows[name]),
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
                exposure=exposure_of(final, name, period_ns),
            )
            for name, task in loaded.rig.tasks.items()
        },
        versions=versions(),
        host=report.host,
        rights=tuple(Right(**right) for right in report.rights),
        mode=before.mode,
        checks=tuple(with_rights(before.checks, report.rights)),
        real_time=real_time,
        timing={
            task: {name: found.percentiles() for name, found in names.items()}
            for task, names in timing.items()
        },
        counters=_counters(loaded, final),
        statuses=status_words(loaded.rig, final.signals),
        signals=roles(loaded),
        faults=faults,
        felt=next((axis.felt for axis in axes.values()), None),
        axes=axes,
        bringup=brought_up(report),
        injections=tuple(injected),
        state="interrupted" if cut_short else "ended",
        asked_s=before.asked_s,
        processes=before.processes,
        boot=before.boot,
        table=before.table,
        notes=tuple(worth_knowing),
        missing=tuple(missing),
        limited=limited,
        first_cycle_ns=report.first_cycle_ns,
        clocks=tuple(report.clocks),
    )
    for task, (_, events) in final.late.items():
        # of a run that was cut short, the cycle process may have left them itself
        if events or not cut_short:
            keeping.keep(late_file(task), partial(write_events, folder, task, events))
    keeping.keep(TIMING, lambda: write_timing(folder, timing))
    manifest = keeping.keep_manifest(manifest)
    if ended.page:
        # of a page alone: figures, templates
        from rigloop.report.report import write_report

        keeping.keep(REPORT, lambda: write_report(folder))
    if REPORT in keeping.failed:
        manifest = keeping.keep_manifest(manifest)
    if damaged := take_cut_records():
        reasons = (*damaged, *manifest.reasons)
        manifest = keeping.keep_manifest(
            msgspec.structs.replace(manifest, verdict="bad", reasons=reasons)
        )
    with contextlib.suppress(OSError):
        # what the cycle process left for a supervisor that is killed
        (folder / LAST).unlink()
    first_cycle_s = (
        1e-9 * max(0, report.first_cycle_ns - seen.process_began_ns)
        if seen.process_began_ns
        else None
    )
    unheld = [
        f"{right.name}: {right.why}; {right.remedy}" for right in manifest.rights if not right.held
    ]
    return Outcome(
        manifest.verdict == "good",
        list(manifest.reasons),
        str(folder),
        _figures(manifest, first_cycle_s),
        [*unheld, *worth_knowing],
        banner(manifest.checks),
        injected,
        limited_line(limited),
    )


def _injected(
    folder: Path, loaded: LoadedRig, final: Final, injections: Sequence[Injection]
) -> tuple[list[Injected], dict[str, list[str]]]:
    """Return what became of the faults on purpose, and every task's blocks with those of the faults."""
    if not injections:
        return [], {name: task.blocks for name, task in loaded.rig.tasks.items()}
    from rigloop.inject.judge import judge
    from rigloop.inject.place import stages

    return judge(folder, injections, final.signals), stages(injections, loaded.rig)


def _records(folder: Path) -> dict[str, Any]:
    try:
        found = json.loads(read_bytes(folder / "recorder.json"))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _report(folder: Path) -> messages.Report | None:
    try:
        return messages.read_report(folder)
    except (OSError, msgspec.DecodeError):
        return None


def _counters(loaded: LoadedRig, final: Final) -> dict[str, Number]:
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
    found: dict[str, float] = {}
    for name, block in loaded.rig.blocks.items():
        found |= {p: final.signals[p] for port, p in paths(name, block)[1].items() if port in ports}
    for task in loaded.rig.tasks:
        found[f"loop/{task}/torn"] = final.signals[f"loop/{task}/torn"]
    return {path: number(value) for path, value in found.items()}


def roles(loaded: LoadedRig) -> dict[str, tuple[str, str]]:
    """Return what the report plots: role → task and signal."""
    rig = loaded.rig
    wired = [
        (task, paths(block, rig.blocks[block]))
        for task, config in rig.tasks.items()
        for block in config.blocks
    ]
    # a task records what it reads of others, too; that of the signal's own task counts
    owner = {path: task for task, (reads, _) in wired for path in reads.values()}
    owner |= {path: task for task, (_, writes) in wired for path in writes.values()}
    owner |= {loop_signal(task, name): task for task in rig.tasks for name in LOOP_SIGNALS}
    guard = find_guard(rig)
    state = {} if guard is None else {STATE: paths(*guard)[1]["state"]}
    return {
        role.removesuffix("_torque"): (owner[path], path)
        for role, path in (shown_roles(rig) | state).items()
        if path in owner
    }


def _figures(manifest: Manifest, first_cycle_s: float | None) -> list[tuple[str, str, str]]:
    rows = [("armed for", f"{manifest.duration_s:.1f} s", "")]
    if first_cycle_s is not None:
        first = ("first cycle after", f"{first_cycle_s:.2f} s", "from the start of the command")
        rows.insert(0, first)
    for task, names in manifest.timing.items():
        facts = manifest.tasks[task]
        if not {"late", "step"} <= names.keys():
            continue
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
    rows += bring_up_figures(manifest.bringup)
    rows += [
        row for name, axis in manifest.axes.items() for row in _of_axis(manifest, name, axis.felt)
    ]
    rows += status_figures(manifest.statuses)
    rows.append(("rights", "real-time" if manifest.real_time else "not real-time", ""))
    return rows


def _of_axis(manifest: Manifest, name: str, felt: Felt | None) -> list[tuple[str, str, str]]:
    # the rows of a rig with one axis do not name it
    rows = felt_figures(felt)
    if len(manifest.axes) < 2:
        return rows
    return [(f"{name}: {label}", value, aside) for label, value, aside in rows]


def _overruns(facts: TaskFacts) -> str:
    told = ", ".join(f"{n} {words}" for words, n in facts.causes.items())
    return f"{facts.overruns} overruns" + (f": {told}" if told else "")


def _us(*durations_ns: float) -> str:
    return " / ".join(f"{duration * 1e-3:.1f}" for duration in durations_ns) + " µs"

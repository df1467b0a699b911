"""Figures of a soak against their limits."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec

from io_bridge.recording.record import open_record
from rig_configs.load import LoadedRig
from rigloop.run_folder.manifest import Manifest
from rigloop.soak.watch import Sample
from rt_core.lateness.cause import WORDS, Cause, explain_overruns

WARM_UP, WARM_UP_S = (
    0.1,
    5.0,
)  # of the run, and at least, if that is not half: what comes once has come by then
ENDS = 0.1  # of the rest: medians of its first and last part are compared
MOST_GROWTH_KIB = 2048
MOST_DRIFT_S = 0.005  # and two periods: how old the newest image may be when it is read
MOST_PACE = 200e-6  # of the clock of a bus against ours: two quartzes
MOST_STEP_S = 0.05  # of the wall clock, from one sample to the next
LEAST_SAMPLES = 5
LEAST_WATCHED = 0.9  # of the armed time


class Row(msgspec.Struct, frozen=True):
    """One line of the verdict; `good` is None where there is no limit."""

    what: str
    found: str
    limit: str = ""
    good: bool | None = None


def judge(
    loaded: LoadedRig,
    samples: Sequence[Sample],
    manifest: Manifest,
    folder: Path,
    *,
    follows_bus: bool = False,
    trouble: str = "",
) -> list[Row]:
    """Return everything that a soak looks at.

    Parameters
    ----------
    loaded : LoadedRig
    samples : sequence of Sample
        Of the armed run.
    manifest : Manifest
        Of the run, ended.
    folder : Path
        Its records.
    follows_bus : bool
        The loop may take its pace from the clock of a real bus, which runs a little faster or slower than ours.
    trouble : str
        What ended the sampling before the run.
    """
    is_bad = manifest.verdict != "good"
    rows = [
        Row("run", "; ".join(["bad", *manifest.reasons]) if is_bad else "good", "good", not is_bad),
        Row("armed for", f"{manifest.duration_s:.1f} s"),
        *_overruns(manifest),
        *_records(manifest, folder),
    ]
    end_s = samples[-1].t_s if samples else 0.0
    rows.append(watched(end_s, manifest.duration_s, trouble))
    warm_s = max(WARM_UP * end_s, min(WARM_UP_S, end_s / 2))
    steady = [sample for sample in samples if sample.t_s >= warm_s]
    if len(steady) < LEAST_SAMPLES:
        few = f"{len(steady)} after the warm-up"
        return [*rows, Row("samples", few, f"≥ {LEAST_SAMPLES}", False)]
    rows += [*_processes(list(samples[0].processes), steady), *_faults(steady, manifest)]
    return [*rows, *_clocks(steady, loaded, MOST_PACE if follows_bus else 0.0)]


def watched(end_s: float, armed_s: float, trouble: str = "") -> Row:
    """Say how much of the armed time was sampled: what nobody looked at is not good."""
    words = f"{end_s:.0f} of {armed_s:.0f} s" + (f": {trouble}" if trouble else "")
    # of a short soak the start and the last interval are much
    enough = not trouble and end_s >= LEAST_WATCHED * armed_s - 2.0
    return Row("watched", words, f"≥ {100 * LEAST_WATCHED:.0f} %", enough)


def _overruns(manifest: Manifest) -> list[Row]:
    rows = []
    for task, facts in manifest.tasks.items():
        causes = {cause: facts.causes.get(WORDS[cause], 0) for cause in Cause if cause}
        told = explain_overruns(causes)
        words = f"{facts.overruns} of {facts.cycles} cycles" + (f": {told}" if told else "")
        rows.append(Row(f"overruns, {task}", words))
        own = causes[Cause.OWN]
        rows.append(Row("  of its own making", str(own), "0", own == 0))
        if facts.exposure is not None:
            seen = facts.exposure
            limit = "no more than holes explain"
            rows.append(Row("  own or untold, against holes", seen.words(), limit, seen.good))
        nameless = facts.overruns - sum(causes.values())
        rows.append(Row("  without a cause", str(nameless), "0", nameless == 0))
    return rows


def _records(manifest: Manifest, folder: Path) -> list[Row]:
    rows = []
    for task, facts in manifest.tasks.items():
        record = open_record(folder / facts.record)
        lost = facts.cycles - len(record)
        size = (folder / facts.record).stat().st_size
        per_hour = size / max(1e-9, facts.cycles * facts.period_ns * 1e-9) * 3600
        words = f"{len(record)} cycles, {size / 1e6:.1f} MB, {per_hour / 1e9:.2f} GB an hour"
        rows.append(Row(f"record, {task}", words))
        rows.append(Row("  cycles that are not in it", f"{lost}", "0", lost == 0 == facts.dropped))
    return rows


def _ends(values: Sequence[float]) -> tuple[float, float]:
    # medians, so that one odd sample is no growth
    n = max(1, int(ENDS * len(values)))
    return statistics.median(values[:n]), statistics.median(values[-n:])


def _processes(roles: Sequence[str], steady: Sequence[Sample]) -> list[Row]:
    rows = []
    for role in roles:
        seen = [sample for sample in steady if role in sample.processes]
        if len(seen) < len(steady):
            lived_s = seen[-1].t_s if seen else steady[0].t_s
            rows.append(Row(f"{role} lived", f"{lived_s:.1f} s at most", "to the end", False))
        if not seen:
            continue
        first, last = _ends([sample.processes[role].own_kib for sample in seen])
        resident = seen[-1].processes[role].resident_kib
        rows.append(
            Row(
                f"memory, {role}",
                f"{last - first:+.0f} KiB, {resident / 1024:.0f} MiB resident",
                f"≤ {MOST_GROWTH_KIB} KiB",
                last - first <= MOST_GROWTH_KIB,
            )
        )
        for name in ("threads", "files"):
            counts = [getattr(sample.processes[role], name) for sample in seen]
            grew = counts[-1] > counts[0]
            words = f"{counts[0]} to {counts[-1]}, at most {max(counts)}"
            rows.append(Row(f"  {name}", words, "no more", not grew))
    return rows


def _faults(steady: Sequence[Sample], manifest: Manifest) -> list[Row]:
    locked = any(right.name == "memory lock" and right.held for right in manifest.rights)
    first, last = (sample.processes.get("cycle") for sample in (steady[0], steady[-1]))
    if first is None or last is None:
        return []
    rows = []
    for task, before in first.faults.items():
        n = last.faults.get(task, before) - before
        limit, good = ("0", n == 0) if locked else ("memory is not locked", None)
        rows.append(Row(f"page faults, {task}", str(n), limit, good))
    return rows


def _clocks(steady: Sequence[Sample], loaded: LoadedRig, pace: float) -> list[Row]:
    period_s = 1e-6 * min(task.period_us for task in loaded.rig.tasks.values())
    first, last = _ends([sample.t_s - sample.loop_s for sample in steady])
    drift_s = last - first
    span_s = steady[-1].t_s - steady[0].t_s
    limit_s = MOST_DRIFT_S + 2 * period_s + pace * span_s
    wall_s = steady[-1].wall_s - steady[0].wall_s
    steps = [abs(b.wall_s - a.wall_s) for a, b in pairwise(steady)]
    stepped = max(steps) > MOST_STEP_S
    words = f"{1e3 * wall_s:+.3f} ms, {1e6 * wall_s / span_s:+.1f} ppm"
    return [
        Row(
            "loop against clock",
            f"{1e3 * drift_s:+.2f} ms in {span_s:.0f} s",
            f"± {1e3 * limit_s:.1f} ms",
            abs(drift_s) <= limit_s,
        ),
        # the loop does not look at it: said, not judged
        Row("wall clock against it", words + (", stepped" if stepped else "")),
    ]


def as_message(rows: Sequence[Row], outcome: Any, samples: Sequence[Sample]) -> dict[str, Any]:
    """Return the answer of the command as plain data."""
    return {
        "good": is_good(rows),
        "reasons": reasons(rows),
        "folder": outcome.folder,
        "samples": len(samples),
        "rows": list(rows),
        "run": outcome,
    }


def is_good(rows: Sequence[Row]) -> bool:
    """True: no limit is broken."""
    return all(row.good is not False for row in rows)


def reasons(rows: Sequence[Row]) -> list[str]:
    """Return the limits that are broken, in words."""
    found, head = [], ""
    for row in rows:
        # an indented line belongs to the last one that is not
        head = head if row.what.startswith(" ") else row.what
        if row.good is False:
            what = row.what.strip() if head == row.what else f"{head}: {row.what.strip()}"
            found.append(f"{what}: {row.found}, limit {row.limit}")
    return found

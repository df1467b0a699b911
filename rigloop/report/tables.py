"""The tables of a report: each section's facts in columns and rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rigloop.display.levels import TONES
from rigloop.display.numbers import fact, figure, microseconds
from rigloop.display.tables import Cell, Table, Tone, Toned, figures, words
from rigloop.report.axes import AxisRow
from rigloop.report.filter_statistics import FilterFacts
from rigloop.report.observer_statistics import ObserverFacts, TorqueFacts
from rigloop.run_folder.manifest import (
    DataFault,
    Injected,
    Manifest,
    Percentiles,
    Right,
    TaskFacts,
)
from rt_core.doctor.check import Check, Level

if TYPE_CHECKING:
    from rigloop.identify.identify import Identification
    from rigloop.live_values.journal import Entry

NONE = "–"


@dataclass(frozen=True)
class Distribution:
    """The percentiles of one time of a task."""

    task: str
    name: str
    values: Percentiles
    period_ns: int


def injections(found: Sequence[Injected]) -> Table:
    """Return faults on purpose, and what became of each."""
    rows = [
        [
            one.asked,
            one.guard or NONE,
            one.does,
            one.reaction if one.good else f"{one.reaction}, not as stated: {'; '.join(one.why)}",
            one.found_by or NONE,
            *_or_none(one.began, one.to_find, one.to_zero, one.to_zero_bound),
        ]
        for one in found
    ]
    heads = figures("In cycle", "Found after", "Zero after", "At most")
    return Table([*words("Fault", "Axis", "What it does", "Reaction", "Found by"), *heads], rows)


def live_changes(found: Sequence[Entry], first_cycle_ns: int) -> Table:
    """Return the changes of live values, with the time since the first cycle."""
    rows = [
        [
            f"{(entry.monotonic_ns - first_cycle_ns) * 1e-9:.4f}",
            str(entry.sequence or NONE),
            entry.change,
            entry.author,
        ]
        for entry in found
    ]
    return Table([*figures("Time, s", "Number"), *words("Change", "Author")], rows)


def axes(found: Sequence[AxisRow]) -> Table:
    """Return the axes of a run with several."""
    rows = []
    for axis in found:
        felt = [NONE] * 4
        if axis.felt:
            felt = [
                f"{axis.felt.longest_gap_ms:.1f}",
                f"{axis.felt.gap_step_nm:.2f}",
                f"{axis.felt.saturated_percent:.1f}",
                f"{axis.felt.most_given_j:.3f}",
            ]
        peak = NONE if axis.peak_nm is None else f"{axis.peak_nm:.2f}"
        rows.append([axis.guard, axis.drive, axis.verdict, peak, *felt])
    return Table(
        [
            *words("Guard", "Drive", "Verdict"),
            *figures(
                "Peak torque, N m",
                "Longest without a fresh command, ms",
                "Step across a gap, N m",
                "Request at the limit, %",
                "Work given, J",
            ),
        ],
        rows,
    )


def identified(found: Identification) -> Table:
    """Return identified parameters with their intervals."""
    head = f"Identified from {found.from_s:g} to {found.to_s:g} s"
    rows = [
        [p.name, f"{p.value:.4g}", f"{p.low:.4g} … {p.high:.4g}", p.unit] for p in found.parameters
    ]
    return Table([*words(head), *figures("Value", "95 % interval"), *words("Unit")], rows)


def encoder_filter(found: FilterFacts) -> Table:
    """Return the innovation statistics of an encoder filter."""
    return _one_row(
        {
            "Samples": f"{found.samples:,}",
            "Mean NIS": figure(found.nis_mean),
            "95 % of means": f"{found.nis_low:.3f} … {found.nis_high:.3f}",
            "Above 95 % bound": f"{found.beyond_percent:.1f} %",
            "Correlation of neighbours": f"{found.correlation:.2f}",
            "Innovation RMS": f"{found.innovation_rms_rad:.3g} rad",
            "Rejected": f"{found.rejected}",
            "Jumps": f"{found.jumps}",
        }
    )


def virtual_torque(found: TorqueFacts) -> Table:
    """Return how far a virtual torque is from the measured one."""
    return _one_row(
        {
            "Difference, RMS": f"{found.rms_nm:.3f} N m",
            "largest": f"{found.worst_nm:.3f} N m",
            "Mean NEES": figure(found.nees_mean),
            "95 % of means": f"{found.nees_low:.3f} … {found.nees_high:.3f}",
            "Outside the 95 % band": f"{found.outside_percent:.1f} %",
            "Compared in": f"{found.settled_percent:.1f} % of cycles",
        }
    )


def observer(found: ObserverFacts) -> Table:
    """Return the innovation statistics of an observer."""
    return _one_row(
        {
            "Cycles with samples": f"{found.cycles:,}",
            "Outside the 95 % bounds": f"{found.outside_percent:.1f} %",
            "Mean NIS of a sample": figure(found.nis_mean),
            "95 % of means": f"{found.nis_low:.3f} … {found.nis_high:.3f}",
            "Rejected": f"{found.rejected}",
            "Covariance begun again": f"{found.repaired}",
            "No position, or held": f"{found.failed}",
        }
    )


def data_faults(found: Sequence[DataFault]) -> Table:
    """Return faults of a log, or of a live run."""
    rows = [[one.kind, f"{one.count:,}", f"{one.first_row:,}", one.words] for one in found]
    heads = [*words("Fault"), *figures("Count", "First row")]
    return Table([*heads, *words("Description and treatment")], rows)


def distributions(found: Iterable[Distribution]) -> Table:
    """Return the percentiles of all times."""
    rows = []
    for one in found:
        v = one.values
        times = map(microseconds, (v.p50, v.p99, v.p99_9, v.max))
        share = f"{100 * v.p99_9 / one.period_ns:.1f} %"
        rows.append([one.task, one.name, f"{v.n:,}", *times, share])
    heads = figures("Cycles", "p50", "p99", "p99.9", "max", "p99.9 of period")
    return Table([*words("Task", "Time of"), *heads], rows)


def red_checks(checks: Sequence[Check]) -> Table:
    """Return the checks that are not green, with cause and remedy."""
    rows: list[list[Cell]] = [
        [check.name, _level(check), check.found, check.cause, Toned(check.remedy, Tone.CODE)]
        for check in checks
        if check.level is not Level.GREEN
    ]
    return Table(words("Check", "", "Found", "Why it matters", "What to do"), rows)


def green_checks(checks: Sequence[Check]) -> Table:
    """Return the green checks."""
    return Table(
        words("", "", ""), [[c.name, _level(c), c.found] for c in checks if c.level is Level.GREEN]
    )


def rights(found: Sequence[Right]) -> Table:
    """Return the real-time rights of a run."""
    rows: list[list[Cell]] = []
    for right in found:
        tone = Tone.GOOD if right.held else Tone.WARN if right.needed else Tone.PLAIN
        held = Toned(fact(right.held), tone)
        rows.append([right.name, held, fact(right.needed), right.why, right.remedy])
    return Table(words("Right", "Held", "Needed", "Why", "Remedy"), rows)


def tasks(found: Mapping[str, TaskFacts]) -> Table:
    """Return what each task counted."""
    rows = [
        [
            name,
            f"{task.cycles:,}",
            f"{task.overruns}",
            ", ".join(f"{n} {cause}" for cause, n in task.causes.items()),
            f"{task.skipped}",
            f"{task.dropped}",
        ]
        for name, task in found.items()
    ]
    heads = [*words("Task"), *figures("Cycles", "Overruns"), *words("of them")]
    return Table([*heads, *figures("Skipped", "Not recorded")], rows)


def counters(found: Mapping[str, float | str]) -> Table:
    """Return the counters of a run."""
    rows = [[_spaced(name), figure(value)] for name, value in found.items()]
    return Table([*words("", tone=Tone.SOFT), *figures("")], rows)


def host(found: Mapping[str, object]) -> Table:
    """Return the facts of a host."""
    rows = [[_spaced(name), fact(value)] for name, value in found.items()]
    return Table([*words("", tone=Tone.SOFT), *words("")], rows)


def sources(manifest: Manifest) -> Table:
    """Return what ran: files with their hashes, and versions."""
    rows: list[list[Cell]] = [["rig", manifest.rig.name, _hash(manifest.rig.sha256)]]
    rows += [["kernel", one.name, _hash(one.sha256)] for one in manifest.kernels]
    if manifest.replay:
        log = manifest.replay.log
        rows.append(["log", f"{log.name} (mapping {manifest.replay.mapping})", _hash(log.sha256)])
    rows += [[name, version, ""] for name, version in manifest.versions.items()]
    return Table(words("", "", ""), rows)


def _one_row(cells: Mapping[str, str]) -> Table:
    return Table(figures(*cells), [list(cells.values())])


def _or_none(*counts: int | None) -> list[str]:
    return [NONE if count is None else str(count) for count in counts]


def _level(check: Check) -> Toned:
    return Toned(str(check.level), TONES[check.level])


def _spaced(name: str) -> str:
    return name.replace("_", " ")


def _hash(text: str) -> Toned:
    return Toned(text, Tone.CODE)

"""`report.html` of a run folder: verdict, signals, timing, late cycles, host, rights; no links out."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from io_bridge.recording.record import RecordError, open_record
from rigloop.display.numbers import microseconds
from rigloop.display.pages import fill
from rigloop.live_values.journal import read_journal
from rigloop.report import tables
from rigloop.report.axes import axis_panels, axis_rows
from rigloop.report.felt import felt_marks, felt_tiles, peak_tile
from rigloop.report.latest import latest_cycles
from rigloop.report.seen import packed_traces, panel_words, timing_words, title_of, uplot_files
from rigloop.report.status_words import status_figures
from rigloop.run_folder.limited import limited_line
from rigloop.run_folder.manifest import (
    REPORT,
    Manifest,
    Percentiles,
    Timing,
    read_manifest,
    read_timing,
)
from rigloop.run_folder.recorded import is_sane, recorded_signal
from rt_core.doctor.check import banner

Array = NDArray[np.float64]
T = TypeVar("T")

MOST_CHANGES = 200  # of live values on the page
HISTOGRAMS = ("step", "late", "bus", "total")
# role, label in the plots; torques have labels of their own, angles do not
RATES = (("rate", "rate"),)
TORQUES = (("torque", "model"), ("command", "commanded"), ("measured", "measured"))


@dataclass
class Run:
    """A run folder, as far as it is there; `notes` says what is not."""

    folder: Path
    manifest: Manifest
    timing: Timing
    records: dict[str, np.memmap]
    notes: list[str]

    def signal(self, role: str) -> tuple[Array, Array] | None:
        """Time (s) and value of a role; none if the run does not have it."""
        task, path = self.manifest.signals.get(role, ("", ""))
        return recorded_signal(self.records, task, path)


def write_report(folder: str | Path) -> Path:
    """Write `report.html` into a run folder.

    Parameters
    ----------
    folder : str or Path
        With `manifest.json`; records and `timing.json` as far as they are there.

    Returns
    -------
    Path
        The report.

    Raises
    ------
    ManifestError
        `manifest.json` is missing or wrong.
    """
    run = load_run(folder)
    text = fill("report.html.jinja", **_context(run))
    path = run.folder / REPORT
    path.write_text(text, encoding="utf-8")
    return path


def load_run(folder: str | Path) -> Run:
    """Open what a run folder holds."""
    folder = Path(folder)
    manifest = read_manifest(folder)
    records: dict[str, np.memmap] = {}
    notes: list[str] = []
    for task, facts in manifest.tasks.items():
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                records[task] = open_record(folder / facts.record)
            except (OSError, RecordError) as error:
                notes.append(f"No record of {task}: {getattr(error, 'strerror', None) or error}.")
        notes += [
            f"{Path(str(w.message).partition(':')[0]).name}:{str(w.message).partition(':')[2]}."
            for w in caught
        ]
    return Run(folder, manifest, read_timing(folder), records, notes)


def _context(run: Run) -> dict[str, Any]:
    from rigloop.plots import figures
    from rigloop.report.filter_statistics import filter_facts
    from rigloop.report.late import late_pages
    from rigloop.report.observer_plots import nis_plot, torque_plot
    from rigloop.report.observer_statistics import observer_facts, torque_facts
    from rigloop.report.smoothed import smoothed_sections
    from rigloop.report.torque import torque_section

    manifest = run.manifest
    failed: list[str] = []
    section = partial(_section, failed)
    summary = _summary(run)
    timing = [
        {
            "task": task,
            "svg": figures.timing_plot(
                task,
                {name: bins[name] for name in HISTOGRAMS if name in bins and bins[name].counts},
                summary[task],
                manifest.tasks[task].period_ns,
            ),
            "alt": timing_words(task, summary[task]),
        }
        for task, bins in run.timing.items()
        if task in manifest.tasks
        and any(name in bins and sum(bins[name].counts) for name in HISTOGRAMS)
    ]
    angle, torques = run.signal("angle"), _lines(run, TORQUES)
    panels: list[tuple[str, list[figures.Line]]] = []
    if angle:
        panels.append(("angle (deg)", [("", angle[0], np.degrees(_drawable(angle[1])))]))
    panels += [("rate (rad/s)", [("", t, v)]) for _, t, v in _lines(run, RATES)]
    if torques:
        panels.append(("torque (N m)", torques))
    # signals without a role are roles of their own
    others = ((path, run.signal(path)) for path in manifest.signals if "/" in path)
    panels += [(path, [("", *signal)]) for path, signal in others if signal]
    axes = axis_panels(manifest, run.records)
    loop = None
    if angle and torques:
        # the loop needs both at the same times: those of the torque
        _, t, torque = torques[0]
        at = np.interp(t, angle[0], _drawable(angle[1]))
        loop = figures.loop_plot(at, [(torques[0][0], torque)], "N m")
    signals = manifest.signals
    virtual = None
    if "virtual" in signals and "measured" in signals:
        roles = signals["virtual"], signals["measured"]
        virtual = section("virtual torque", lambda: torque_facts(run.records, *roles))
    packed = section("all signals", lambda: packed_traces(run))
    context = {
        "tables": tables,
        "heading": title_of(run.folder),
        "packed": packed,
        **(uplot_files() if packed else {"uplot": "", "uplot_css": ""}),
        "alt": {
            "time": panel_words(panels),
            "axes": panel_words(axes),
            "loop": "Torque over angle: the loop that a hand at the wheel feels",
        },
        "manifest": manifest,
        "banner": banner(manifest.checks),
        "limited": limited_line(manifest.limited),
        "live_changes": read_journal(run.folder) if manifest.kind == "live" else [],
        "most_changes": MOST_CHANGES,
        "tiles": _tiles(run, summary, torques),
        "time_svg": section(
            "signals",
            lambda: figures.time_plot(panels, felt_marks(manifest.felt)) if panels else None,
        ),
        "loop_svg": loop,
        "filters": section(
            "encoder filters",
            lambda: [
                (
                    facts,
                    figures.time_plot(
                        [("innovation (mrad)", [("", facts.t_s, 1e3 * facts.innovation_rad)])]
                    ),
                )
                for facts in filter_facts(run.records)
            ],
        ),
        "axes": section("axes", lambda: axis_rows(manifest, run.records)) or [],
        "axes_svg": section("axes", lambda: figures.time_plot(axes, []) if axes else None),
        "observers": section(
            "observers", lambda: [(facts, nis_plot(facts)) for facts in observer_facts(run.records)]
        ),
        "virtual": section("virtual torque", lambda: virtual and (virtual, torque_plot(virtual))),
        "smoothed": section("smoothed motion", lambda: smoothed_sections(run.folder)),
        "observed": section("observed torque", lambda: torque_section(run.folder)),
        "timing": timing,
        "summary": [
            tables.Distribution(task, name, values, manifest.tasks[task].period_ns)
            for task, by_name in summary.items()
            for name, values in by_name.items()
            if task in manifest.tasks
        ],
        "late_pages": section("late cycles", lambda: late_pages(run.folder, manifest)),
        "late": section("latest cycles", lambda: latest_cycles(manifest, run.records)),
    }
    return context | {"notes": [*manifest.missing, *run.notes, *failed]}


def _section(failed: list[str], name: str, make: Callable[[], T]) -> T | None:
    """Return what a section of the page shows; one whose numbers cannot be drawn takes no other along."""
    try:
        return make()
    except (ArithmeticError, LookupError, ValueError) as error:
        failed.append(f"The section on {name} could not be drawn: {error}.")
        return None


def _drawable(values: Array) -> Array:
    """Return values with gaps where they are none, or beyond what an axis can hold."""
    return np.where(is_sane(values), values, np.nan)


def _lines(run: Run, roles: tuple[tuple[str, str], ...]) -> list[tuple[str, Array, Array]]:
    found = ((label, run.signal(role)) for role, label in roles)
    return [(label, *signal) for label, signal in found if signal]


def _summary(run: Run) -> dict[str, dict[str, Percentiles]]:
    # the manifest's own figures win; bins fill in what it lacks
    summary = {
        task: {name: bins.percentiles() for name, bins in by_name.items()}
        for task, by_name in run.timing.items()
    }
    for task, by_name in run.manifest.timing.items():
        summary.setdefault(task, {}).update(by_name)
    return summary


def kinds_of_fault(n: int) -> str:
    """Return a number of kinds of data fault in words."""
    return f"{n} kind{'' if n == 1 else 's'} of data fault"


def _tiles(
    run: Run,
    summary: dict[str, dict[str, Percentiles]],
    torques: list[tuple[str, Array, Array]],
) -> list[tuple[str, str, str]]:
    manifest = run.manifest
    tiles = [("Duration", f"{manifest.duration_s:.2f} s", "")]
    if manifest.replay:
        tiles.append(("Replay speed", f"{manifest.replay.speed:,.0f} ×", "faster than real time"))
        tiles.append(
            ("Log rows", f"{manifest.replay.rows:,}", kinds_of_fault(len(manifest.faults)))
        )
    else:
        cycles = sum(task.cycles for task in manifest.tasks.values())
        tiles.append(("Cycles", f"{cycles:,}", " + ".join(manifest.tasks)))
        overruns = sum(task.overruns for task in manifest.tasks.values())
        skipped = sum(task.skipped for task in manifest.tasks.values())
        tiles.append(("Overruns", f"{overruns:,}", f"{skipped:,} periods skipped"))
    for task, by_name in summary.items():
        for name, label in (("step", "Step"), ("late", "Lateness")):
            if name in by_name and by_name[name].n:
                tiles.append(
                    (
                        f"{label} p99.9, {task}",
                        f"{microseconds(by_name[name].p99_9)} µs",
                        f"max {microseconds(by_name[name].max)} µs",
                    )
                )
    if manifest.bringup:
        tiles.append(
            ("Bus in OP after", f"{manifest.bringup.to_op_s:.2f} s", manifest.bringup.losses)
        )
    return [
        *tiles,
        *peak_tile(manifest, run.records, torques),
        *felt_tiles(manifest.felt),
        *status_figures(manifest.statuses),
    ]

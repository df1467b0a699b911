"""Parts of a report beside its figures: signals that the reader chooses, words for those who do not see, its title."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np

from rig_configs.bounded import UnreadableError, parse_toml, read_text
from rig_configs.units import of_name
from rigloop.display.numbers import figure, microseconds
from rigloop.report.traces import packed, traces_of
from rigloop.run_folder.manifest import Manifest, Percentiles

if TYPE_CHECKING:
    from rigloop.plots.figures import Line

MOST_SIGNALS = 1000
LONGEST_TITLE = 120


class Recorded(Protocol):
    """A run folder, as far as its signals go."""

    @property
    def manifest(self) -> Manifest: ...

    @property
    def records(self) -> Mapping[str, np.ndarray]: ...


def uplot_files() -> dict[str, str]:
    """Return script and style of uPlot, which a page has within itself."""
    folder = resources.files("rigloop") / "monitor" / "static" / "vendor"
    names = {"uplot": "uPlot.iife.min.js", "uplot_css": "uPlot.min.css"}
    return {key: (folder / name).read_text(encoding="utf-8") for key, name in names.items()}


def homes_of(records: Mapping[str, np.ndarray]) -> dict[str, str]:
    """Return the task of each signal: of one that several records have, the one with most cycles."""
    found: dict[str, str] = {}
    for task, record in sorted(records.items(), key=lambda item: -len(item[1])):
        for path in record.dtype.names or ():
            if path != "t_ns":
                found.setdefault(path, task)
    return dict(list(found.items())[:MOST_SIGNALS])


def shown_paths(manifest: Manifest) -> set[str]:
    """Return the signals that a run shows."""
    return {path for _, path in manifest.signals.values()}


def packed_traces(run: Recorded) -> str | None:
    """Return the signals of a run as a page takes them; none without any cycle."""
    homes = homes_of(run.records)
    traces = traces_of(run.records, homes)
    if not traces:
        return None
    return packed(traces, units_of(homes), shown_paths(run.manifest))


def units_of(paths: Mapping[str, str]) -> dict[str, str]:
    """Return the unit of each signal that its path says."""
    return {path: of_name(path) or "" for path in paths}


def panel_words(panels: Sequence[tuple[str, Sequence[Line]]]) -> str:
    """Return panels over time in words: what is drawn, and from where to where it goes."""
    said = []
    for label, lines in panels:
        for name, _, values in lines:
            good = values[np.isfinite(values)]
            if len(good):
                whose = f"{label}, {name}" if name else label
                said.append(f"{whose}: {figure(float(good.min()))} to {figure(float(good.max()))}")
    return "Over time: " + "; ".join(said) if said else "Over time: nothing that can be drawn"


def timing_words(task: str, by_name: Mapping[str, Percentiles]) -> str:
    """Return the histograms of a task in words."""
    said = [
        f"{name}: half below {microseconds(p.p50)} µs, 99.9 % below {microseconds(p.p99_9)} µs"
        for name, p in by_name.items()
        if p.n
    ]
    return f"Histograms of {task}: " + "; ".join(said)


def title_of(folder: Path) -> str:
    """Return the title that the rig file of a run gives; "" without one."""
    try:
        title = parse_toml(read_text(folder / "rig.toml")).get("title", "")
    except (UnreadableError, OSError):
        return ""
    return title[:LONGEST_TITLE] if isinstance(title, str) else ""

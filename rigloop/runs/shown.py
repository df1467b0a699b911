"""One run in short: what it was, and what happened in it."""

from __future__ import annotations

from pathlib import Path

import msgspec

from rigloop.api.events import Event
from rigloop.api.recorded_run import open_run
from rigloop.runs.found import FoundRun, found_run


class ShownTask(msgspec.Struct, frozen=True):
    """A task of a run, in short."""

    period_ns: int
    cycles: int
    rows: int
    overruns: int
    skipped: int

    def words(self) -> str:
        """Return it in words."""
        return (
            f"of {self.period_ns * 1e-3:g} µs, {self.rows} recorded, {self.overruns} overruns, "
            f"{self.skipped} skipped"
        )


class ShownRun(msgspec.Struct, frozen=True):
    """A run, its tasks, kernels, faults and events."""

    run: FoundRun
    tasks: dict[str, ShownTask]
    kernels: dict[str, str]
    versions: dict[str, str]
    signals: int
    events: list[Event]
    injections: list[str]


def show_of(folder: Path) -> ShownRun:
    """Return what is shown of a run.

    Raises
    ------
    ManifestError
        No run folder, or a record of it is missing or damaged.
    """
    opened = open_run(folder)
    manifest = opened.manifest
    return ShownRun(
        found_run(folder, manifest),
        {
            name: ShownTask(
                task.period_ns, task.cycles, len(opened.records[name]), task.overruns, task.skipped
            )
            for name, task in manifest.tasks.items()
        },
        {kernel.name: kernel.sha256 for kernel in manifest.kernels},
        dict(manifest.versions),
        len(opened.signals),
        list(opened.events),
        [injected.line() for injected in manifest.injections],
    )

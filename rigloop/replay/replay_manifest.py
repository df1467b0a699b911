"""The manifest of a replay: of one that is done, and of one that goes on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from codegen.kernels.build import BuiltKernel
from rig_configs.load import LoadedRig
from rigloop.replay.script import Pace
from rigloop.report.report import write_report
from rigloop.run_folder.clocks import utc_text
from rigloop.run_folder.manifest import (
    DataFault,
    Manifest,
    Named,
    Replay,
    TaskFacts,
    versions,
    write_manifest,
)
from rt_core.host.facts import host_facts

Kernels = Mapping[str, BuiltKernel]


@dataclass(frozen=True)
class Replayed:
    """A replay that has been stepped: its folder, with a record of each task, its rig and kernels, and its pace."""

    folder: Path
    loaded: LoadedRig
    kernels: Kernels
    pace: Pace
    page: bool = True  # the folder gets its report page


@dataclass(frozen=True)
class Findings:
    """The parts of a replay's verdict: what is bad, what is worth knowing, its length, signals and data faults."""

    bad: list[str]
    notes: list[str]
    duration_s: float
    signals: dict[str, tuple[str, str]]
    faults: tuple[DataFault, ...] = ()


def keep_manifest(
    done: Replayed, cycles: Mapping[str, int], found: Findings, replay: Replay
) -> Manifest:
    """Write the manifest of a replay, `cycles` by task, and its page where one is wanted."""
    manifest = manifest_of(done, cycles, found, replay)
    write_manifest(done.folder, manifest)
    if done.page:
        write_report(done.folder)
    return manifest


def manifest_of(
    done: Replayed, cycles: Mapping[str, int], found: Findings, replay: Replay | None
) -> Manifest:
    """Return the manifest of a replay, `cycles` by task; of one that goes on, `replay` is not known yet."""
    loaded = done.loaded
    return Manifest(
        kind="replay",
        rig=Named(loaded.name, loaded.sha256),
        kernels=tuple(Named(name, kernel.hash) for name, kernel in done.kernels.items()),
        started=utc_text(),
        duration_s=found.duration_s,
        verdict="bad" if found.bad else "good",
        reasons=tuple(found.bad or found.notes),
        tasks={
            name: TaskFacts(task.period_us * 1000, f"{name}.npy", cycles=cycles[name])
            for name, task in loaded.rig.tasks.items()
        },
        versions=versions(),
        host=host_facts(),
        faults=found.faults,
        replay=replay,
        signals=found.signals,
    )

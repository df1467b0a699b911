"""The manifest of a run that has not ended: there from the start, and current whenever it may be cut short."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from rig_configs.load import LoadedRig
from rigloop.run_folder.clocks import utc_text
from rigloop.run_folder.manifest import (
    Manifest,
    Named,
    Right,
    State,
    TaskFacts,
    versions,
    write_manifest,
)
from rigloop.run_folder.messages import Order, Report
from rigloop.run_folder.process_state import Process, boot
from rt_core.doctor.check import Check


def unended(state: State) -> str:
    """Return why a run that has come so far is not good."""
    return (
        f"the run did not reach its end: it was {state}; `rigloop report` determines its verdict from the data "
        "that exist"
    )


class KeptManifest:
    """Written at once, and again as a whole with each change.

    A disk that takes it no more does not end the run: the verdict says so.
    """

    def __init__(
        self,
        folder: Path,
        loaded: LoadedRig,
        kernels: Mapping[str, str],
        order: Order,
        asked_s: float | None,
        processes: Mapping[str, int],
    ) -> None:
        self.trouble = ""
        self._folder = folder
        self._writer: threading.Thread | None = None
        self.manifest = Manifest(
            kind="live",
            rig=Named(loaded.name, loaded.sha256),
            kernels=tuple(Named(name, sha256) for name, sha256 in kernels.items()),
            started=utc_text(),
            duration_s=0.0,
            verdict="bad",
            reasons=(unended("starting"),),
            tasks={
                name: TaskFacts(task.period_us * 1000, f"{name}.npy", blocks=tuple(task.blocks))
                for name, task in loaded.rig.tasks.items()
            },
            versions=versions(),
            host={},
            mode=order.mode.value,
            state="starting",
            asked_s=asked_s,
            processes=_processes(processes),
            boot=boot(),
            table=order.table,
        )
        self._write()

    def know(
        self, processes: Mapping[str, int], report: Report | None, checks: Iterable[Check]
    ) -> None:
        """Add the processes of the run, what the cycle process says of rights and host, and what the doctor found."""
        changes: dict[str, Any] = {"processes": _processes(processes), "checks": tuple(checks)}
        if report is not None:
            changes |= {
                "host": report.host,
                "rights": tuple(Right(**right) for right in report.rights),
                "real_time": report.real_time,
                "limited": report.limited,
            }
        self.manifest = msgspec.structs.replace(self.manifest, **changes)
        self._write()

    def runs(self, notes: tuple[str, ...] = ()) -> None:
        """Say that the run is armed; beside the caller, whose heartbeat does not wait for a disk."""
        self.manifest = msgspec.structs.replace(
            self.manifest, state="running", reasons=(unended("running"),), notes=notes
        )
        self.settle()
        self._writer = threading.Thread(target=self._write, name="manifest")
        self._writer.start()

    def not_started(self, why: str) -> None:
        """Say why the run could not start; this is its end."""
        self.settle()
        self.manifest = msgspec.structs.replace(
            self.manifest, state="not started", reasons=tuple(why.splitlines())
        )
        self._write()

    def settle(self) -> None:
        """Wait until nothing is being written."""
        if self._writer is not None:
            self._writer.join()
            self._writer = None

    def _write(self) -> None:
        try:
            write_manifest(self._folder, self.manifest)
        except OSError as error:
            self.trouble = f"the manifest could not be kept current: {error.strerror}"


def _processes(pids: Mapping[str, int]) -> dict[str, Process]:
    return {role: Process.of(pid) for role, pid in pids.items()}

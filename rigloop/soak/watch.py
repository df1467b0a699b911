"""Samples of a run, taken by a thread of the supervisor from its first armed cycle to its last."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rig_configs.load import LoadedRig
from rigloop.live.arming import state_of
from rigloop.soak.processes import ProcessSample, processes_of_run, sample
from rt_core.lateness.cause import Cause, signal_of
from rt_core.plan import loop_signal
from rt_core.safety.trips import State
from rt_core.signals.layout import TableError
from rt_core.signals.table import SignalTable

POLL_S = 0.1
LEAST_S, MOST_S = 0.2, 5.0  # from one sample to the next
SAMPLES = 600


@dataclass(frozen=True)
class Sample:
    """One moment of the run.

    Attributes
    ----------
    t_s : float
        Since the first sample, by CLOCK_MONOTONIC.
    wall_s : float
        CLOCK_REALTIME less CLOCK_MONOTONIC.
    loop_s : float
        Nominal time of the fastest task's newest cycle, skipped periods counted.
    overruns : dict
        Of all tasks together, by cause.
    processes : dict of str to ProcessSample
        By role.
    record_bytes : int
        Size of all records in the run folder.
    """

    t_s: float
    wall_s: float
    loop_s: float
    overruns: dict[Cause, int]
    processes: dict[str, ProcessSample]
    record_bytes: int


class Watcher:
    """Samples while it is entered; `samples` is what it has.

    Parameters
    ----------
    loaded : LoadedRig
    table : str
        Path that the run's signal table will have.
    runs : Path
        Folder of run folders, for the sizes of the records.
    seconds : float
        How long the run is to be: some 600 samples of it are taken.
    tell : callable
        Gets each new sample.
    """

    def __init__(
        self,
        loaded: LoadedRig,
        table: str,
        runs: Path,
        seconds: float,
        tell: Callable[[Sample], None],
    ) -> None:
        self.samples: list[Sample] = []
        self.error: Exception | None = None
        self._rig = loaded.rig
        self._table = table
        self._runs = runs
        self._known = set(runs.glob("*")) if runs.exists() else set()
        self._interval_s = min(max(seconds / SAMPLES, LEAST_S), MOST_S)
        self._tell = tell
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="soak")

    def __enter__(self) -> Watcher:
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._over.set()
        self._thread.join()

    def _watch(self) -> None:
        try:
            while not self._over.wait(POLL_S):
                try:
                    with SignalTable.attach(self._table) as table:
                        self._follow(table)
                        return
                except FileNotFoundError:
                    continue
        except (OSError, TableError) as error:
            # told with the verdict: a soak that saw nothing is not good
            self.error = error

    def _follow(self, table: SignalTable) -> None:
        while state_of(table, self._rig) != State.RUNNING:
            if self._over.wait(POLL_S):
                return
        began = time.monotonic()
        pids = processes_of_run(os.getpid())
        records = [
            folder / f"{task}.npy"
            for folder in set(self._runs.glob("*")) - self._known
            for task in self._rig.tasks
        ]
        due = began
        # the ramp out and the end belong to the run's own verdict; a hold is bridged or ends there
        while state_of(table, self._rig) in (State.RUNNING, State.HOLD):
            self._sample(table, began, pids, records)
            due += self._interval_s
            if self._over.wait(max(0.0, due - time.monotonic())):
                return

    def _sample(
        self, table: SignalTable, began: float, pids: dict[str, int], records: list[Path]
    ) -> None:
        fast, config = min(self._rig.tasks.items(), key=lambda item: item[1].period_us)
        before = time.monotonic()
        image = dict(zip(table.paths(fast), table.latest(fast), strict=True))
        after = time.monotonic()
        periods = image[loop_signal(fast, "cycle")] + image[loop_signal(fast, "skipped")]
        found = {role: sample(pid) for role, pid in pids.items()}
        self.samples.append(
            Sample(
                t_s=(before + after) / 2 - began,
                wall_s=time.time() - time.monotonic(),
                loop_s=float(periods) * config.period_us * 1e-6,
                overruns={
                    cause: int(
                        sum(table.value(loop_signal(t, signal_of(cause))) for t in self._rig.tasks)
                    )
                    for cause in Cause
                    if cause
                },
                processes={role: seen for role, seen in found.items() if seen is not None},
                record_bytes=sum(os.path.getsize(path) for path in records if path.exists()),
            )
        )
        self._tell(self.samples[-1])

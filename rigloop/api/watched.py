"""A run that goes on, seen from a program: its newest signals, conditions on them, and its cycles as arrays."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rig_configs.load import LoadedRig
from rigloop.api.columns import Columns
from rigloop.api.looking import LOOK_S, Looking, RunEndedError
from rigloop.api.recorded_run import RecordedRun
from rigloop.compose.wiring import load
from rigloop.live.arming import state_of
from rigloop.run_folder import messages
from rigloop.run_folder.tables import supervisor_of
from rt_core.safety.trips import State
from rt_core.signals.layout import run_of
from rt_core.signals.reading import SignalReader
from rt_core.signals.table import SignalTable

Array = NDArray[np.float64]
RECORD_S = 0.02  # the recorder writes about as often
RECORD_TIMEOUT_S = 10.0  # for cycles that the loop has stepped to be in the record


class Watched(Looking):
    """A running loop through its signal table, which it does not notice.

    Parameters
    ----------
    table : Path
        The signal table of a run of this user.

    Raises
    ------
    FileNotFoundError, TableError
        There is no table, or it is not of this version.
    """

    signals: SignalReader

    def __init__(self, table: Path) -> None:
        self._table = SignalTable.attach(table)
        self.signals = SignalReader(self._table)
        self.folder = Path(run_of(self._table.layout))
        self._supervisor = supervisor_of(table)

    def close(self) -> None:
        """Look away; the run goes on."""
        self.signals.close()
        self._table.close()

    @property
    def name(self) -> str:
        """Name of the rig."""
        return self._recorded.manifest.rig.name

    @property
    def lives(self) -> bool:
        """True: its supervisor still runs, and the loop has its table."""
        return (
            self._supervisor is not None
            and self._supervisor.lives
            and Path(self._table.path).exists()
        )

    @cached_property
    def loaded(self) -> LoadedRig:
        """The rig of the run, as its folder has it."""
        return load(str(self.folder / "rig.toml"))

    @property
    def state(self) -> State:
        """State of the guards together; RUNNING once the torque follows."""
        return state_of(self._table, self.loaded.rig)

    @property
    def t_s(self) -> float:
        """Time since the first cycle, s, by the clock of this machine."""
        return (time.monotonic_ns() - self._first_cycle_ns) * 1e-9

    def capture(
        self, paths: Sequence[str], seconds: float, *, before_s: float = 0.0, at: str | None = None
    ) -> Columns:
        """Return every cycle of some signals from now on, or from before.

        They are taken from the record of the run: the loop does nothing more for it, and no cycle is missing.

        Parameters
        ----------
        paths : sequence of str
        seconds : float
            From now on.
        before_s : float
            And before now.
        at : str, optional
            See `RecordedRun.columns`.

        Returns
        -------
        Columns
            `t_s` is the time since the run's first cycle.

        Raises
        ------
        KeyError
            Nothing writes one of them.
        RunEndedError
            The run ended before the time was over.
        TimeoutError
            The record lags behind by more than 10 s.
        """
        for path in paths:
            self.signals[path]  # raises with the nearest names
        self._recorded.refresh()
        self._recorded.columns(*paths, at=at, between_s=(0.0, 0.0))  # a wrong `at` is refused now
        now_s = self.t_s
        end_s = now_s + seconds
        time.sleep(max(0.0, seconds))
        patience = time.monotonic() + RECORD_TIMEOUT_S
        run = self._recorded
        while True:
            run.refresh()
            homes = {run.signals[path] for path in (*paths, *([at] if at in run.signals else []))}
            reached = [int(run.records[h]["t_ns"][-1]) if len(run.records[h]) else 0 for h in homes]
            if min(reached, default=0) * 1e-9 >= end_s:
                return run.columns(*paths, at=at, between_s=(now_s - before_s, end_s))
            if not self.lives:
                raise RunEndedError(f"the run ended before {seconds:g} s were over: {self.folder}")
            if time.monotonic() >= patience:
                raise TimeoutError(f"{self.folder}: the record lags behind: see its recorder.log")
            time.sleep(RECORD_S)

    @cached_property
    def _recorded(self) -> RecordedRun:
        return RecordedRun(self.folder)

    @cached_property
    def _first_cycle_ns(self) -> int:
        until = time.monotonic() + RECORD_TIMEOUT_S
        while time.monotonic() < until:
            report = messages.read_report(self.folder)
            if report is not None and report.first_cycle_ns:
                return report.first_cycle_ns
            if not self.lives:
                break
            time.sleep(LOOK_S)
        raise RunEndedError(f"the loop of this run has stepped no cycle: {self.folder}")

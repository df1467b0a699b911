"""A run on another machine, seen through its service: what `Watched` is for a run on this one."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rig_configs.condition import Readable
from rigloop.api.columns import Columns
from rigloop.api.looking import Looking, RunEndedError
from rigloop.protocol import requests as asked
from rigloop.protocol.answers import Phase, RigStatus, SignalRow, ToCapture, Why
from rigloop.protocol.client import ServiceClient, ServiceError
from rt_core.safety.trips import State

RECORD_S = 0.02
ASKED_WRONG = (Why.VALUE, Why.MESSAGE, Why.SIZE)
RECORD_TIMEOUT_S = 10.0  # for cycles that the loop has stepped to be in the record


@contextlib.contextmanager
def _as_of_a_run() -> Iterator[None]:
    """Raise in place of a refusal what a run on this machine would raise."""
    try:
        yield
    except ServiceError as error:
        if error.why == Why.UNKNOWN:
            raise KeyError(str(error)) from None
        if error.why in ASKED_WRONG:
            raise ValueError(str(error)) from None
        raise RunEndedError(str(error)) from None


class RemoteSignals(Mapping[str, float]):
    """Newest values of a rig by path; each question goes to the service.

    Parameters
    ----------
    client : ServiceClient
    rig : str
    known : mapping of str to SignalRow
    """

    def __init__(self, client: ServiceClient, rig: str, known: Mapping[str, SignalRow]) -> None:
        self._client, self._rig, self._known = client, rig, known

    def __getitem__(self, path: str) -> float:
        return float(self.read((path,))[0])

    def read(self, paths: Sequence[str]) -> NDArray[np.float64]:
        """Return the newest values of some signals, shape (n,); those of one task are of one cycle.

        Raises
        ------
        KeyError
            Nothing writes one of them.
        RunEndedError
            The run has ended.
        """
        with _as_of_a_run():
            found = self._client.ask(asked.Read, rig=self._rig, paths=list(paths))
        return np.array(found.values, np.float64)

    def __contains__(self, path: object) -> bool:
        return path in self._known

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)


class RemoteRun(Looking):
    """The run of a rig of a service.

    Parameters
    ----------
    client : ServiceClient
    status : RigStatus
        Of the rig, whose run goes on.
    known : mapping of str to SignalRow
        Its signals.
    """

    def __init__(
        self, client: ServiceClient, status: RigStatus, known: Mapping[str, SignalRow]
    ) -> None:
        self._client, self._rig, self._run = client, status.rig, status.n_runs
        self._known = known
        self.signals = RemoteSignals(client, status.rig, known)
        self.folder = Path(status.folder)

    @property
    def lives(self) -> bool:
        """True: this run goes on."""
        now = self._client.status(self._rig)
        return now.n_runs == self._run and now.phase != Phase.IDLE

    @property
    def state(self) -> State:
        """State of the guards together; RUNNING once the torque follows."""
        word = self._now().state
        return State[word] if word else State.INIT

    @property
    def t_s(self) -> float:
        """Time since the first cycle, s, by the clock of its machine."""
        return self._now().t_s

    def newest(self, paths: Sequence[str]) -> Readable:
        """Return the newest values of some signals, asked for at once; or of each that is asked for."""
        if not paths:
            return self.signals
        return dict(zip(paths, self.signals.read(paths).tolist(), strict=True))

    def capture(
        self, paths: Sequence[str], seconds: float, *, before_s: float = 0.0, at: str | None = None
    ) -> Columns:
        """Return every cycle of some signals from now on, or from before; it raises as `Watched.capture` does."""
        for path in paths:
            self.signals.read((path,))  # raises with the nearest names
        with contextlib.suppress(RunEndedError):  # a record that is not there yet
            self._piece(paths, 0.0, 0.0, at)  # a wrong `at` is refused before the time is over
        now_s = self.t_s
        from_s, to_s = max(0.0, now_s - before_s), now_s + seconds
        time.sleep(max(0.0, seconds))
        patience = time.monotonic() + RECORD_TIMEOUT_S
        pieces: list[ToCapture] = []
        while True:
            found = self._piece(paths, from_s, to_s, at)
            if found.complete_to_s > from_s:
                pieces.append(found)
                from_s = found.complete_to_s
                patience = time.monotonic() + RECORD_TIMEOUT_S
            if from_s >= to_s:
                return self._joined(paths, pieces)
            if not self.lives:
                raise RunEndedError(f"the run ended before {seconds:g} s were over: {self.folder}")
            if time.monotonic() >= patience:
                raise TimeoutError(f"{self.folder}: the record lags behind: see its recorder.log")
            time.sleep(RECORD_S)

    def close(self) -> None:
        """Look away; the run goes on, and the connection stays."""

    def _piece(self, paths: Sequence[str], from_s: float, to_s: float, at: str | None) -> ToCapture:
        with _as_of_a_run():
            found: ToCapture = self._client.ask(
                asked.Capture,
                rig=self._rig,
                paths=list(paths),
                from_s=from_s,
                to_s=to_s,
                at=at or "",
            )
        return found

    def _joined(self, paths: Sequence[str], pieces: Sequence[ToCapture]) -> Columns:
        t_s = np.frombuffer(b"".join(piece.t_s for piece in pieces), "<f8")
        columns = {
            path: np.frombuffer(b"".join(piece.columns[path] for piece in pieces), "<f8")
            for path in paths
        }
        units = {path: self._known[path].unit for path in paths if path in self._known}
        return Columns(t_s, columns, {path: unit for path, unit in units.items() if unit})

    def _now(self) -> RigStatus:
        now = self._client.status(self._rig)
        if now.n_runs != self._run or now.phase == Phase.IDLE:
            raise RunEndedError(f"the run has ended: {self.folder}")
        return now

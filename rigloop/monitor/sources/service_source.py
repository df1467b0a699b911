"""A rig of a service as a source: all of it through the service's own protocol."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rigloop.monitor.sources.source import (
    Moment,
    Piece,
    Source,
    SourceGoneError,
    SourceRefusedError,
)
from rigloop.protocol import requests as asked
from rigloop.protocol.answers import Phase, RigStatus, SignalRow, ToCapture, Why
from rigloop.protocol.client import ServiceClient, ServiceError
from rigloop.protocol.description import ToDescribe

NAME = "page"
KEPT_NOTICES = 5
COMMANDS: dict[str, type[asked.Request]] = {
    "start": asked.Start,
    "arm": asked.Arm,
    "stop": asked.Stop,
    "reset": asked.Reset,
    "write": asked.Write,
}


class ServiceSource(Source):
    """A rig of a service.

    Parameters
    ----------
    service, rig, key : str
        As of `rigloop.api.service_seat.ServiceSeat`.

    Raises
    ------
    ServiceError
        No such service or rig, or it does not let this client in.
    """

    kind = "service"

    def __init__(self, service: str, rig: str = "", key: str = "") -> None:
        self._client = ServiceClient(service, NAME, key=key)
        self._token = ""
        self._notices: tuple[str, ...] = ()
        try:
            self._rig = self._client.status(rig).rig
            self.description: ToDescribe = self._client.ask(asked.Describe, rig=self._rig)
            rows = self._client.ask(asked.Signals, rig=self._rig)
        except (ServiceError, TimeoutError):
            self._client.close()
            raise
        self.signals: dict[str, SignalRow] = {row.path: row for row in rows}
        self._verdict_of, self._verdict = 0, ""

    def moment(self) -> Moment:
        """Return the state of the rig."""
        status: RigStatus = self._asking(lambda: self._client.status(self._rig))
        new = [notice.words for notice in self._client.notices() if notice.what == "control"]
        self._notices = (*self._notices, *new)[-KEPT_NOTICES:]
        if new:
            self._token = ""
        words = (*self._notices, *status.faults)
        if status.phase == Phase.IDLE and status.n_runs:
            words = (self._last_verdict(status.n_runs), *words)
        return Moment(
            status.folder,
            status.n_runs,
            status.phase.value,
            status.state,
            status.control,
            status.needs_reset,
            status.t_s,
            bool(self._token),
            tuple(word for word in words if word),
        )

    def capture(self, paths: Sequence[str], task: str, from_ns: int, to_ns: int) -> Piece:
        """Return cycles from the record of the run that goes on, or of the last one."""
        try:
            found: ToCapture = self._client.ask(
                asked.Capture,
                rig=self._rig,
                paths=list(paths),
                from_s=from_ns * 1e-9,
                to_s=max(from_ns, to_ns) * 1e-9,
                at=task,
            )
        except ServiceError as error:
            if error.why in (Why.STATE, Why.FAILED):
                # no run has a record, or its record is not readable yet
                return Piece(np.empty(0, np.int64), {p: np.empty(0) for p in paths}, from_ns)
            raise SourceGoneError(str(error)) from None
        except TimeoutError as error:
            raise SourceGoneError(str(error)) from None
        t_ns = np.rint(np.frombuffer(found.t_s, "<f8") * 1e9).astype(np.int64)
        columns = {path: np.frombuffer(found.columns[path], "<f8") for path in paths}
        # the last cycle is there, and the next one is not
        return Piece(t_ns, columns, round(found.complete_to_s * 1e9))

    def newest(self, paths: Sequence[str]) -> dict[str, float]:
        """Return the newest values of the run that goes on."""
        try:
            found = self._client.ask(asked.Read, rig=self._rig, paths=list(paths))
        except ServiceError as error:
            if error.why in (Why.STATE, Why.UNKNOWN):
                return {}
            raise SourceGoneError(str(error)) from None
        except TimeoutError as error:
            raise SourceGoneError(str(error)) from None
        return dict(zip(paths, found.values, strict=True))

    def command(self, name: str, **keys: Any) -> str:
        """Do a command; those that change something need control."""
        try:
            if name == "take":
                answer = self._client.ask(asked.Take, rig=self._rig, over=bool(keys.get("over")))
                self._token = answer.token
                return f"control taken over from {answer.before}" if answer.before else "in control"
            if name == "give":
                self._give()
                return "control given back"
            kind = COMMANDS[name]
            done = self._client.ask(kind, rig=self._rig, token=self._token, **keys)
        except ServiceError as error:
            if error.why is None:
                raise SourceGoneError(str(error)) from None
            raise SourceRefusedError(str(error)) from None
        except TimeoutError as error:
            raise SourceGoneError(str(error)) from None
        return f"change {done.sequence}" if name == "write" else name

    def close(self) -> None:
        """Give control back and leave; the run goes on."""
        try:
            self._give()
        except (ServiceError, TimeoutError):
            # taken over meanwhile, or the service is gone
            self._token = ""
        self._client.close()

    def _give(self) -> None:
        if self._token:
            token, self._token = self._token, ""
            self._client.ask(asked.Give, rig=self._rig, token=token)

    def _last_verdict(self, run: int) -> str:
        if self._verdict_of != run:
            self._verdict_of = run
            last = self._asking(lambda: self._client.ask(asked.Verdict, rig=self._rig))
            outcome = last.outcome
            if outcome is None:
                self._verdict = f"not started: {last.error}"
            else:
                good = "good" if outcome["good"] else "bad"
                self._verdict = "; ".join([f"verdict {good}", *map(str, outcome["reasons"])])
        return self._verdict

    def _asking(self, ask: Any) -> Any:
        try:
            return ask()
        except (ServiceError, TimeoutError) as error:
            raise SourceGoneError(str(error)) from None

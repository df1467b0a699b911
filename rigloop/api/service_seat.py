"""A seat at a service: one of its rigs, looked at, and controlled after `take`."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import msgspec

from rigloop.api.looking import Looking
from rigloop.api.remote_run import RemoteRun
from rigloop.api.watched import Watched
from rigloop.protocol import requests as asked
from rigloop.protocol.answers import Phase, RigStatus, SignalRow
from rigloop.protocol.client import ServiceClient, ServiceError
from rigloop.run_folder.not_started import NotStartedError
from rigloop.run_folder.outcome import Outcome
from rt_core.signals.layout import TableError

LOOK_S = 0.01
FRESH_S = 0.05  # for so long nobody asks whether a run still goes on


class ServiceSeat:
    """One rig of a service.

    Parameters
    ----------
    service : str
        Name or endpoint.
    rig : str
        Of a service with several; else empty.
    key : str
        Over TCP, name of the service's key.
    name : str
        Who asks; empty: user and process.

    Raises
    ------
    ServiceError
        No such service or rig, or it does not let this client in.
    """

    def __init__(self, service: str, rig: str = "", key: str = "", name: str = "") -> None:
        self.client = ServiceClient(service, name, key=key)
        try:
            self.name = self.client.status(rig).rig
        except ServiceError:
            self.client.close()
            raise
        self._token = ""
        self._signals: dict[str, SignalRow] = {}
        self._looking: Looking | None = None
        self._looked_at = 0.0

    @property
    def status(self) -> RigStatus:
        """State of the rig, asked for now."""
        return self.client.status(self.name)

    @property
    def signals(self) -> dict[str, SignalRow]:
        """Signals of the rig."""
        if not self._signals:
            rows = self.client.ask(asked.Signals, rig=self.name)
            self._signals = {row.path: row for row in rows}
        return self._signals

    def looking(self) -> Looking | None:
        """Return the run that goes on; None: there is none."""
        now = time.monotonic()
        if self._looking is not None and now - self._looked_at < FRESH_S:
            return self._looking
        self._looked_at = now
        if self._looking is not None and self._looking.lives:
            return self._looking
        self._look_away()
        status = self.status
        if not status.table:
            return None
        try:
            self._looking = (
                Watched(Path(status.table))
                if self.client.is_local
                else RemoteRun(self.client, status, self.signals)
            )
        except (OSError, TableError):
            # it has ended in between
            return None
        return self._looking

    def take(self, *, over: bool) -> None:
        """Take control."""
        self._token = self.client.ask(asked.Take, rig=self.name, over=over).token

    def give(self) -> None:
        """Give control back, if it was not taken over meanwhile. Harmless when repeated."""
        if self._token:
            token, self._token = self._token, ""
            try:
                self.client.ask(asked.Give, rig=self.name, token=token)
            except (ServiceError, TimeoutError):
                # somebody has taken it over, or the service has gone
                return

    def do(self, command: type[asked.Request], **keys: Any) -> Any:
        """Do a command that needs control."""
        return self.client.ask(command, rig=self.name, token=self._token, **keys)

    def begin(self, command: type[asked.Request], seconds: float | None, timeout_s: float) -> None:
        """Start or arm, and return once the run waits, or its torque follows.

        Raises
        ------
        NotStartedError
            The run ended before.
        TimeoutError
            It has not come so far within the time; it goes on.
        """
        self._look_away()
        self.do(command, seconds=seconds)
        wanted = Phase.ARMED if command is asked.Arm else Phase.WAITING
        until = time.monotonic() + timeout_s
        while True:
            now = self.status
            # a run that trips at once is for whoever watches to see
            if now.phase == wanted or now.state == "FAULT":
                return
            if now.phase == Phase.IDLE:
                raise NotStartedError(self._why_it_ended())
            if time.monotonic() >= until:
                raise TimeoutError(f"{self.name}: phase {now.phase} after {timeout_s:g} s")
            time.sleep(LOOK_S)

    def wait(self, timeout_s: float | None) -> Outcome:
        """Wait until the run has ended; return its verdict.

        Raises
        ------
        NotStartedError
            It had not started.
        TimeoutError
            It has not ended within the time.
        """
        until = float("inf") if timeout_s is None else time.monotonic() + timeout_s
        while self.status.phase != Phase.IDLE:
            if time.monotonic() >= until:
                raise TimeoutError(f"the run has not ended within {timeout_s:g} s")
            time.sleep(LOOK_S)
        self._look_away()
        return self.verdict()

    def verdict(self) -> Outcome:
        """Return the verdict of the last run.

        Raises
        ------
        ServiceError
            No run has ended.
        NotStartedError
            It did not start.
        """
        last = self.client.ask(asked.Verdict, rig=self.name)
        if last.outcome is None:
            raise NotStartedError(last.error)
        return msgspec.convert(last.outcome, Outcome)

    def close(self) -> None:
        """Give control back and leave. Harmless when repeated."""
        self._look_away()
        self.give()
        self.client.close()

    def _why_it_ended(self) -> str:
        try:
            return "; ".join(self.verdict().reasons) or "the run was over at once"
        except NotStartedError as error:
            return str(error)

    def _look_away(self) -> None:
        if self._looking is not None:
            self._looking.close()
            self._looking = None

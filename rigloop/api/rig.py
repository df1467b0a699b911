"""A rig that a program checks, starts, watches, disturbs and judges; or one that runs already."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

import numpy as np
from numpy.typing import NDArray

from rig_configs.load import LoadedRig
from rigloop.api.changes import sendable, stimuli_named, together
from rigloop.api.columns import Columns
from rigloop.api.looking import Looking, Newest, at_least_zero
from rigloop.api.recorded_run import RecordedRun
from rigloop.api.service_seat import ServiceSeat
from rigloop.api.supervisor import STOP_TIMEOUT_S, Supervisor
from rigloop.api.until_armed import until_armed
from rigloop.api.watched import Watched
from rigloop.compose.wiring import load
from rigloop.fieldbus.running import tables
from rigloop.live_values.writer import Value
from rigloop.protocol import requests
from rigloop.protocol.answers import Notice
from rigloop.run_folder.not_started import NotStartedError
from rigloop.run_folder.outcome import Outcome
from rt_core.safety.trips import State
from rt_core.signals.layout import TableError

START_TIMEOUT_S = 120.0  # a kernel may have to be compiled first
LOOK_S = 0.005


class NotRunningError(RuntimeError):
    """The rig does not run, or runs already, or is somebody else's; the message says which and what to do."""


class Rig:
    """A rig file that is good, and its run once it was started.

    As a context manager it starts, unless it runs already, and at the end, also by an exception, stops. One that was
    attached to goes on.

    Parameters
    ----------
    rig : str or Path
        Name of a rig that ships, or the path of a rig file.

    Raises
    ------
    ConfigError
        Every mistake of the file.

    Examples
    --------
    >>> from rigloop import Rig
    >>> with Rig(example_rig).start(seconds=20, runs=example_runs) as rig:
    ...     _ = rig.wait_until("abs(wheel/angle_rad) > 0.01", timeout_s=20)
    ...     angle_rad = rig.signals["wheel/angle_rad"]
    ...     torque = rig.capture("guard/torque_nm", seconds=0.2)
    >>> torque["guard/torque_nm"].shape == torque.t_s.shape
    True
    >>> rig.verdict.good
    True
    """

    def __init__(self, rig: str | Path) -> None:
        self._loaded: LoadedRig | None = load(str(rig))
        self._name = self._loaded.name
        self._faults: list[str] = []
        self._supervisor: Supervisor | None = None
        self._watched: Looking | None = None
        self._verdict: Outcome | None = None
        self._seat: ServiceSeat | None = None

    @classmethod
    def attach(
        cls, to: str | Path | None = None, *, rig: str = "", key: str = "", name: str = ""
    ) -> Self:
        """Look at a run of this user that goes on, however it was started, or at a rig of a service.

        A run is not stopped from here. A rig of a service is armed and stopped after `take_control`.

        Parameters
        ----------
        to : str or Path, optional
            Folder of a run; the newest one that goes on, if not given. Or a service: its name, or its endpoint
            `tcp://HOST:PORT`.
        rig : str, optional
            Of a service with several.
        key : str, optional
            Over TCP, name of the service's key, where `rigloop keys list` has several.
        name : str, optional
            Who asks a service, in its journal and for other clients; by default user and process.

        Raises
        ------
        NotRunningError
            There is no such run.
        ServiceError
            There is no such service, or it does not let this program in.
        """
        if isinstance(to, str) and ("://" in to or ("/" not in to and not os.path.isdir(to))):
            return cls._seated(ServiceSeat(to, rig, key, name))
        for _, table in tables():
            try:
                watched = Watched(table)
            except (OSError, TableError):
                continue
            if to is None or watched.folder == Path(to).absolute():
                found = cls(watched.folder / "rig.toml")
                found._watched, found._name = watched, watched.name
                return found
            watched.close()
        which = "you have no active run" if to is None else f"{to}: this run is not active"
        raise NotRunningError(f"{which}; start one with Rig(...).start(), or `rigloop run`")

    @classmethod
    def _seated(cls, seat: ServiceSeat) -> Self:
        found = cls.__new__(cls)
        found._loaded, found._name, found._faults = None, seat.name, []
        found._supervisor = found._watched = found._verdict = None
        found._seat = seat
        return found

    def __repr__(self) -> str:
        if self._seat is not None:
            return f"<rig {self.name} of {self._seat.client.endpoint}>"
        how = "runs" if self._watched is not None else "ended" if self._verdict else "not started"
        return f"<rig {self.name}, {how}>"

    @property
    def name(self) -> str:
        """Name of the rig."""
        return self._name

    @property
    def loaded(self) -> LoadedRig:
        """The rig file, checked.

        Raises
        ------
        NotRunningError
            It is a service's, where the file may be another one.
        """
        if self._loaded is None:
            raise NotRunningError(f"{self.name}: its file is with the service")
        return self._loaded

    @property
    def units(self) -> dict[str, str]:
        """Unit of each signal; "" where nobody knows it."""
        from rigloop.signals.listing import signals_of

        if self._seat is not None:
            return {path: row.unit for path, row in self._seat.signals.items()}
        return {signal.path: signal.unit or "" for signal in signals_of(self.loaded.rig)}

    def check(self) -> list[str]:
        """Check what `rigloop check` does; return its notes.

        Raises
        ------
        ConfigError
            Observers that cannot be, a wheel that would sing, times that nobody said.
        """
        from rigloop.api.checking import check_rig

        return list(check_rig(self.loaded).notes)

    def inject(self, *faults: str) -> Self:
        """Have faults happen on purpose in the run that is started next: `FAULT@T`, T seconds after arming.

        `rigloop faults RIG` lists them; they are checked at the start.

        Raises
        ------
        NotRunningError
            The rig runs already: its faults are blocks of the cycle, placed before the start.
        ServiceError
            It is a service's, and refused; there, faults replace those given before.
        """
        if self._seat is not None:
            self._seat.do(requests.Inject, faults=list(faults))
            return self
        if self._watched is not None:
            raise NotRunningError(
                f"{self.name}: runs already; faults are given before start(), with their time: 'sensor-stuck@2'"
            )
        self._faults += faults
        return self

    def start(
        self,
        seconds: float | None = None,
        *,
        bus: str | None = None,
        mode: Literal["degraded", "strict"] = "degraded",
        runs: str | Path = "runs",
        trust: bool = False,
        reset_drives: bool = False,
        telemetry: str | None = None,
        timeout_s: float = START_TIMEOUT_S,
    ) -> Self:
        """Start and arm the rig, as `rigloop run` does; return once its torque follows, or a rig without torque runs.

        Parameters
        ----------
        seconds : float, optional
            The run ends by itself so long after arming; else with `stop`.
        bus, mode, runs, trust, reset_drives, telemetry
            As the options of `rigloop run`. A service has its own.
        timeout_s : float
            For kernels to be built and the bus to come up.

        Raises
        ------
        NotStartedError
            It could not be started; the message says why.
        NotRunningError
            It runs already.
        TimeoutError
            It was not armed in time; what had started was stopped.
        ServiceError
            It is a service's, and refused.
        """
        if self._seat is not None:
            self._seat.begin(requests.Arm, seconds, timeout_s)
            return self
        if self._watched is not None:
            raise NotRunningError(f"{self.name}: runs already; stop() it first")
        at_least_zero("timeout_s", timeout_s, endless=True)
        if seconds is not None:
            at_least_zero("seconds", seconds)
        arguments = [str(self.loaded.path), "--runs", str(Path(runs).absolute()), "--mode", mode]
        for option, value in (("--for", seconds), ("--bus", bus), ("--telemetry", telemetry)):
            arguments += [option, str(value)] if value is not None else []
        arguments += ["--trust"] if trust else []
        arguments += ["--reset-drives"] if reset_drives else []
        for fault in self._faults:
            arguments += ["--inject", fault]
        self._faults, self._verdict = [], None
        self._supervisor = Supervisor(arguments)
        try:
            self._watched = until_armed(self._supervisor, self.name, timeout_s)
        except BaseException:
            self._give_up()
            raise
        return self

    def take_control(self, *, over: bool = False) -> Self:
        """Take control of a service's rig; with `over` also from another client, which is noticed there.

        Raises
        ------
        ServiceError
            Another client is in control.
        """
        self._at_service().take(over=over)
        return self

    def give_control(self) -> None:
        """Give control of a service's rig back; a run goes on. Harmless when repeated."""
        self._at_service().give()

    def notices(self, timeout_s: float = 0.0) -> list[Notice]:
        """Return what a service has told since the last time; wait for one so long, if there is none.

        Each has `rig`, `what` (`control`: this client has lost it; `phase`, `ended`, `shutdown`) and `words`.
        """
        return self._at_service().client.notices(timeout_s)

    def hold(self, seconds: float | None = None, *, timeout_s: float = START_TIMEOUT_S) -> Self:
        """Start a run of a service's rig without torque; return once it waits for `arm`. It raises as `start` does."""
        self._at_service().begin(requests.Start, seconds, timeout_s)
        return self

    def arm(self, *, timeout_s: float = START_TIMEOUT_S) -> Self:
        """Arm a service's rig; return once its torque follows. It raises as `start` does."""
        self._at_service().begin(requests.Arm, None, timeout_s)
        return self

    def reset(self, *, drives: bool = False) -> None:
        """Acknowledge that a run of a service's rig has tripped; with `drives`, the next start resets its drives."""
        self._at_service().do(requests.Reset, drives=drives)

    @property
    def signals(self) -> Newest:
        """Newest values by path: `rig.signals["wheel/angle_rad"]`."""
        return self._run.signals

    @property
    def state(self) -> State:
        """State of the guards together: `State.RUNNING` as long as a torque follows."""
        return self._run.state

    @property
    def folder(self) -> Path:
        """The run folder."""
        if self._verdict is not None:
            return Path(self._verdict.folder)
        if self._seat is not None and (last := self._seat.status.folder):
            return Path(last)
        return self._run.folder

    @property
    def t_s(self) -> float:
        """Time since the first cycle, s."""
        return self._run.t_s

    def read(self, paths: Sequence[str]) -> NDArray[np.float64]:
        """Return the newest values of some signals, shape (n,); those of one task are of one cycle."""
        if isinstance(paths, str) or not hasattr(paths, "__iter__"):
            raise TypeError(f"paths = {paths!r:.60}: give a list of paths, or take signals[PATH]")
        return self._run.signals.read(paths)

    def wait_until(self, condition: str | Callable[[Newest], bool], timeout_s: float) -> float:
        """Wait until a condition such as "wheel/angle_rad > 0.5" holds; see `Watched.wait_until`."""
        return self._run.wait_until(condition, timeout_s)

    def capture(
        self, *paths: str, seconds: float, before_s: float = 0.0, at: str | None = None
    ) -> Columns:
        """Return every cycle of some signals for a time from now on; see `Watched.capture`."""
        if not paths:
            raise ValueError("capture: give the path of a signal, or of several")
        at_least_zero("seconds", seconds)
        at_least_zero("before_s", before_s)
        return self._run.capture(paths, seconds, before_s=before_s, at=at)

    def write(self, values: Mapping[str, Value] | None = None, /, **named: Value) -> int:
        """Change live values of the run, all in the same cycle: `rig.write(stiffness=12.0, preload=0.5)`.

        Parameters
        ----------
        values : mapping of name to float or (float, unit), optional
            For names that are no words of Python; with those of `named` it is one change.

        Returns
        -------
        int
            Number of the change; `live/changes` has it at once, and each task takes it in its next cycle.

        Raises
        ------
        LiveRefusedError
            An unknown name, a limit, a unit, a group without all of its values: all mistakes, and nothing has changed.
        LiveOwnedError
            Another process writes the live values of this run.
        NotRunningError
            It was not started from here.
        ServiceError
            It is a service's, and refused.
        """
        return self._ask(together(values, named), (), ())

    def stimulate(self, *names: str) -> int:
        """Begin stimuli in the next cycle, or have them wait for their condition; result and errors as of `write`."""
        return self._ask({}, stimuli_named("stimulate", names), ())

    def end_stimulus(self, *names: str) -> int:
        """End stimuli in the next cycle; result and errors as of `write`."""
        return self._ask({}, (), stimuli_named("end_stimulus", names))

    def wait(self, timeout_s: float | None = None) -> Outcome:
        """Wait until a run that was started for some seconds has ended; return its verdict."""
        if self._seat is not None:
            return self._seat.wait(timeout_s)
        supervisor = self._own()
        self._verdict = supervisor.wait(timeout_s)
        self._look_away()
        return self._verdict

    def stop(self, timeout_s: float = STOP_TIMEOUT_S) -> Outcome:
        """Ramp the torque out, end the run and judge it; return the verdict. Harmless when repeated.

        Raises
        ------
        NotRunningError
            It was not started from here.
        TimeoutError
            It has not ended within the time.
        ServiceError
            It is a service's, and refused.
        """
        if self._seat is not None:
            self._seat.do(requests.Stop)
            return self._seat.wait(timeout_s)
        if self._verdict is None:
            self._verdict = self._own().stop(timeout_s)
            self._look_away()
        return self._verdict

    @property
    def verdict(self) -> Outcome:
        """Verdict of the run that has ended: `good`, `reasons`, `folder`, figures and notes."""
        if self._seat is not None:
            return self._seat.verdict()
        if self._verdict is None:
            raise NotRunningError(f"{self.name}: has no verdict yet; stop() it")
        return self._verdict

    @property
    def record(self) -> RecordedRun:
        """The run so far as arrays, of one on this machine; see `rigloop.open_run`."""
        return RecordedRun(self.folder)

    def __enter__(self) -> Self:
        return self if self._watched is not None or self._seat is not None else self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._seat is not None:
            self._seat.close()
        elif self._supervisor is not None and self._supervisor.is_ours:
            self.stop()
        else:
            self._look_away()

    @property
    def _run(self) -> Looking:
        if self._seat is not None:
            looking = self._seat.looking()
            if looking is None:
                raise NotRunningError(f"{self.name}: does not run; take_control() and arm() it")
            return looking
        if self._watched is None:
            remedy = "open_run(rig.folder) has its signals" if self._verdict else "start() it"
            raise NotRunningError(f"{self.name}: does not run; {remedy}")
        return self._watched

    def _at_service(self) -> ServiceSeat:
        if self._seat is None:
            raise NotRunningError(
                f"{self.name}: belongs to no service: use `rigloop serve`, and Rig.attach(SERVICE)"
            )
        return self._seat

    def _ask(self, values: Mapping[str, Value], begin: Sequence[str], end: Sequence[str]) -> int:
        if self._seat is None:
            return self._own().ask(values, begin, end)
        change = {"values": sendable(values), "begin": list(begin), "end": list(end)}
        return int(self._seat.do(requests.Write, **change).sequence)

    def _own(self) -> Supervisor:
        if self._supervisor is None:
            whose = (
                "was attached to: only who started it stops or changes it"
                if self._watched
                else "has ended; start() it again"
                if self._verdict
                else "does not run; start() it"
            )
            raise NotRunningError(f"{self.name}: {whose}")
        if not self._supervisor.is_ours:
            raise NotRunningError(
                f"{self.name}: was started before this process was forked: stop or change it in the one that did"
            )
        return self._supervisor

    def _give_up(self) -> None:
        supervisor, self._supervisor = self._supervisor, None
        if supervisor is not None:
            try:
                supervisor.stop()
            except (NotStartedError, TimeoutError):
                supervisor.process.terminate()

    def _look_away(self) -> None:
        if self._watched is not None:
            self._watched.close()
            self._watched = None
        self._supervisor = None

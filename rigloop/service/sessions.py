"""A rig of a service with its runs, one after the other: each starts without torque, and is armed by a command only."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from rig_configs.bounded import UnreadableError, read_text
from rig_configs.load import LoadedRig
from rigloop.api.supervisor import Supervisor
from rigloop.api.watched import Watched
from rigloop.host.placing import on_processors
from rigloop.live_values.refused import LiveOwnedError, LiveRefusedError
from rigloop.live_values.writer import Value
from rigloop.protocol.answers import LiveRow, Phase, Refused, RigStatus, SignalRow, Why
from rigloop.run_folder import messages
from rigloop.run_folder.not_started import NotStartedError
from rigloop.run_folder.outcome import Outcome
from rigloop.service.control import Control
from rigloop.service.journal import RunJournal
from rigloop.service.kept_reset import KeptReset
from rigloop.service.live_rows import live_rows
from rigloop.signals.listing import signals_of
from rt_core.safety.trips import State
from rt_core.signals.layout import TableError
from rt_core.signals.reading import SignalReader

ANSWER_S = 0.5  # for a supervisor to answer, while other clients wait
ARM_S, START_S = (
    5.0,
    120.0,
)  # until an order to arm is void, of a run that waits and of one that starts
FOLLOWS = (State.RUNNING, State.HOLD)


@dataclass(frozen=True)
class RunChoices:
    """Options of `rigloop run` that hold for every run of a service.

    Attributes
    ----------
    runs : Path
    bus : str or None
    mode : str
    page : bool
        Each run folder gets its report page at once.
    processors : frozenset of int
        On which a run starts: the service itself may keep to fewer of them.
    """

    runs: Path
    bus: str | None = None
    mode: str = messages.Mode.DEGRADED.value
    page: bool = True
    processors: frozenset[int] = field(default_factory=lambda: frozenset(os.sched_getaffinity(0)))


@dataclass(frozen=True)
class LastRun:
    """A run that is over: its folder, its verdict, and the error of one that did not start."""

    folder: str
    outcome: Outcome | None
    error: str

    @property
    def words(self) -> str:
        """Verdict and reasons in one line."""
        if self.outcome is None:
            return f"no verdict: {self.error}" if self.folder else f"not started: {self.error}"
        reasons = "; ".join(self.outcome.reasons)
        return f"verdict {'good' if self.outcome.good else 'bad'}{': ' * bool(reasons)}{reasons}"


class Session:
    """A rig of a service.

    Parameters
    ----------
    loaded : LoadedRig
    choices : RunChoices
    control : Control
    kept : KeptReset
        Why the rig needs a reset by what an earlier service has seen.
    """

    def __init__(
        self, loaded: LoadedRig, choices: RunChoices, control: Control, kept: KeptReset
    ) -> None:
        self.loaded, self.name = loaded, loaded.name
        self.control, self.journal = control, RunJournal()
        self.faults: tuple[str, ...] = ()
        self._kept = kept
        self.needs_reset = kept.found()
        self.last: LastRun | None = None
        self.n_runs = 0
        self.signals = {
            s.path: SignalRow(s.path, s.unit or "", s.writer, s.task)
            for s in signals_of(loaded.rig)
        }
        self._choices = choices
        self._supervisor: Supervisor | None = None
        self._watched: Watched | None = None
        self._first_cycle_ns = 0
        self._asked_to_arm = self._asked_to_end = False
        self._has_followed = self._has_faulted = False
        self._resets_drives = False

    @property
    def goes_on(self) -> bool:
        """True: a run has started, and is not over."""
        return self._supervisor is not None

    @property
    def state(self) -> State | None:
        """State of the guards together; None without a run, or before it has its table."""
        if self._watched is None:
            return None
        try:
            return self._watched.state
        except (TableError, ValueError):
            return None

    @property
    def phase(self) -> Phase:
        """Progress of the run."""
        if self._supervisor is None:
            return Phase.IDLE
        state = self.state
        if self._asked_to_end or state == State.STOPPING:
            return Phase.STOPPING
        if state in FOLLOWS:
            return Phase.ARMED
        if self._asked_to_arm:
            return Phase.ARMING
        return Phase.STARTING if state is None else Phase.WAITING

    @property
    def folder(self) -> str:
        """Folder of the run that goes on, else of the last one."""
        if self._watched is not None:
            return str(self._watched.folder)
        return self.last.folder if self.last is not None and not self.goes_on else ""

    @property
    def reader(self) -> SignalReader:
        """Newest values of the run that goes on.

        Raises
        ------
        Refused
            None goes on, or its loop has not come so far.
        """
        if self._watched is None:
            what = "does not run" if self._supervisor is None else "has not come so far"
            raise Refused(
                Why.STATE, f"{self.name}: {what}: phase {self.phase}; `start` or `arm` it"
            )
        return self._watched.signals

    def start(self, seconds: float | None) -> None:
        """Start a run that waits, its drives disabled.

        Raises
        ------
        Refused
            One goes on, the last one needs a reset, or the rig file has changed.
        """
        if self._supervisor is not None:
            raise Refused(
                Why.STATE, f"{self.name}: a run is active: phase {self.phase}; `stop` it first"
            )
        if self.needs_reset and self.last is None:
            self.needs_reset = self._kept.found()  # its last run may be judged by now
        if self.needs_reset:
            raise Refused(Why.STATE, f"{self.name}: {self.needs_reset}; look at it, then `reset`")
        self._refuse_changed()
        chosen = self._choices
        arguments = [str(self.loaded.path), "--hold", "--mode", chosen.mode]
        arguments += ["--runs", str(chosen.runs), "--report" if chosen.page else "--no-report"]
        arguments += ["--for", f"{seconds:.17g}"] if seconds is not None else []
        arguments += ["--bus", chosen.bus] if chosen.bus is not None else []
        arguments += ["--reset-drives"] if self._resets_drives else []
        for fault in self.faults:
            arguments += ["--inject", fault]
        try:
            with on_processors(chosen.processors):
                self._supervisor = Supervisor(arguments)
        except OSError as error:
            raise Refused(Why.FAILED, f"{self.name}: no process: {error.strerror}") from None
        self.n_runs += 1
        self.faults, self._resets_drives, self._first_cycle_ns = (), False, 0
        self._asked_to_arm = self._asked_to_end = False
        self._has_followed = self._has_faulted = False

    def arm(self, seconds: float | None) -> None:
        """Arm the run that waits; start one if none goes on. It raises as `start` does."""
        if self._supervisor is None:
            self.start(seconds)
        elif self._asked_to_arm or self._asked_to_end:
            raise Refused(
                Why.STATE, f"{self.name}: phase {self.phase}: armed once already; `stop` it first"
            )
        elif seconds is not None:
            raise Refused(
                Why.STATE,
                f"{self.name}: seconds = {seconds:g}: the run has started; give them to `start`",
            )
        within_s = ARM_S if self.phase == Phase.WAITING else START_S
        self._asked_to_arm = True
        if self._supervisor is not None:
            self._supervisor.arm(within_s)

    def live(self) -> list[LiveRow]:
        """Return what may be changed while the rig runs, with newest values of a run that goes on."""
        return live_rows(self.loaded.rig, self._newest)

    def is_for_anyone(self, names: Iterable[str]) -> bool:
        """Decide if a client needs no control to change live values and stimuli, by their names."""
        rig = self.loaded.rig
        found = [rig.live.get(name) or rig.stimuli.get(name) for name in names]
        return all(one is not None and one.who == "anyone" for one in found)

    def write(
        self, values: Mapping[str, Value], begin: Sequence[str], end: Sequence[str], author: str
    ) -> int:
        """Change live values, or begin or end stimuli; return the number of the change.

        Raises
        ------
        Refused
            No run goes on, or its rig does not let it; nothing has changed.
        """
        if self._supervisor is None or self._watched is None:
            raise Refused(
                Why.STATE, f"{self.name}: no run to change: phase {self.phase}; `start` or `arm` it"
            )
        try:
            return self._supervisor.ask(values, begin, end, author, ANSWER_S)
        except LiveRefusedError as error:
            raise Refused(Why.VALUE, f"{self.name}: {error}") from None
        except (LiveOwnedError, NotStartedError, TimeoutError, ValueError) as error:
            raise Refused(Why.STATE, f"{self.name}: {error}") from None

    def stop(self) -> None:
        """Have the run ramp out and judged; return at once.

        Raises
        ------
        Refused
            None goes on.
        """
        if self._supervisor is None:
            raise Refused(Why.STATE, f"{self.name}: no run is active; `start` or `arm` one")
        self.let_go()

    def let_go(self) -> None:
        """Have the run end, if one goes on."""
        if self._supervisor is not None and not self._asked_to_end:
            self._supervisor.let_go()
            self._asked_to_end = True

    def reset(self, *, drives: bool) -> None:
        """Acknowledge what has happened.

        Raises
        ------
        Refused
            A run goes on.
        """
        if self._supervisor is not None:
            raise Refused(
                Why.STATE, f"{self.name}: a run is active: phase {self.phase}; `stop` it first"
            )
        self.needs_reset = ""
        self._kept.forget()
        self._resets_drives = drives

    def inject(self, faults: list[str]) -> None:
        """Keep faults on purpose for the next run.

        Raises
        ------
        Refused
            A run goes on: they are placed before the start. Or they are wrong.
        """
        if self._supervisor is not None:
            raise Refused(
                Why.STATE,
                f"{self.name}: a run is active; give faults before the start, with their time: 'sensor-stuck@2'",
            )
        from rig_configs.mistakes import ConfigError
        from rigloop.compose.blocks import backends_of
        from rigloop.inject.request import parse

        try:
            backends = backends_of(self.loaded.rig, self._choices.bus)
            parse(tuple(faults), self.loaded.rig, backends, False, None)
        except ConfigError as error:
            words = "; ".join(map(str, error.mistakes))
            raise Refused(Why.VALUE, f"{self.name}: {words}") from None
        except NotStartedError as error:
            raise Refused(Why.VALUE, f"{self.name}: {', '.join(faults)}: {error}") from None
        self.faults = tuple(faults)

    def look(self) -> bool:
        """Follow the run; True: it has just ended."""
        supervisor = self._supervisor
        if supervisor is None:
            return False
        if self._watched is None:
            # FileNotFoundError: not made yet; TableError: half made
            with contextlib.suppress(OSError, TableError):
                self._watched = Watched(Path(supervisor.table))
                self._watched.loaded = self.loaded
                self.journal.settle(self._watched.folder)
        if self._watched is not None:
            self._keep(self.state)
            if not self._first_cycle_ns:
                with contextlib.suppress(OSError, msgspec.MsgspecError):
                    report = messages.read_report(self._watched.folder)
                    self._first_cycle_ns = report.first_cycle_ns if report is not None else 0
        if not supervisor.ended:
            return False
        self._end(supervisor)
        return True

    def status(self) -> RigStatus:
        """Return the state for a client."""
        state = self.state
        goes_on = self._supervisor is not None and self._watched is not None
        t_s = (time.monotonic_ns() - self._first_cycle_ns) * 1e-9 if self._first_cycle_ns else 0.0
        return RigStatus(
            self.name,
            self.phase,
            state.name if state is not None else "",
            self.control.author,
            self.folder,
            self._supervisor.table if self._supervisor is not None and goes_on else "",
            self._supervisor.process.pid if self._supervisor is not None else 0,
            t_s if goes_on else 0.0,
            self._first_cycle_ns if goes_on else 0,
            self.needs_reset,
            list(self.faults),
            self.n_runs,
        )

    def _keep(self, state: State | None) -> None:
        """Have the next service know what this one may not live to say."""
        if state == State.FAULT and not self._has_faulted:
            self._has_faulted = True
            self._kept.need(f"this run has tripped: {self.folder}")
        elif state in FOLLOWS and not self._has_followed:
            self._has_followed = True
            self._kept.armed(self.folder)

    def _newest(self, path: str) -> float | None:
        try:
            return None if self._watched is None else self._watched.signals[path]
        except (KeyError, TableError):
            return None

    def _end(self, supervisor: Supervisor) -> None:
        folder, outcome, error = self.folder, None, ""
        try:
            outcome = supervisor.wait(0.0)
            folder = outcome.folder
        except (NotStartedError, TimeoutError, ValueError, msgspec.MsgspecError) as found:
            error = str(found)
        supervisor.let_go()
        self.last = LastRun(folder, outcome, error)
        is_good = outcome is not None and outcome.good
        if self._has_faulted or (self._asked_to_arm and not self._asked_to_end and not is_good):
            self.needs_reset = f"the last run needs a reset: {self.last.words}"
            self._kept.need(self.needs_reset)
        else:
            self._kept.forget()
        if self._watched is not None:
            self._watched.close()
        self._watched = self._supervisor = None

    def _refuse_changed(self) -> None:
        try:
            text = read_text(self.loaded.path)
        except (UnreadableError, OSError) as error:
            raise Refused(Why.FAILED, f"{self.name}: {error}") from None
        if text != self.loaded.text:
            raise Refused(
                Why.STATE,
                f"{self.name}: {self.loaded.path} has changed since the service started; start it again",
            )

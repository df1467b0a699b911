"""Try faults again and again: each trial a live run in processes of its own, forked from one that has imported all.

What a trial runs is what `rigloop run --inject` runs: the same supervision, cycle process, recorder and judge. Left
out are the doctor and the report, which look at the machine and at the run and not at the fault.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, get_args

import msgspec
from rich.console import Console

from rig_configs.load import LoadedRig
from rig_configs.named_files import keep_named
from rigloop.blocks.catalogue import rig_model
from rigloop.compose.blocks import backends_of
from rigloop.compose.kernels import build_kernels
from rigloop.compose.wiring import load
from rigloop.host import children
from rigloop.inject.faults import FAULTS
from rigloop.inject.judge import judge
from rigloop.inject.kinds import ON_VETH, Fault, InCycle, Needs, Reaction
from rigloop.inject.limits import Limits
from rigloop.inject.request import one_an_arming, parse, stay_s
from rigloop.live.run_options import RunOptions
from rigloop.live.supervise import LiveRun, watch
from rigloop.run_folder import messages
from rigloop.run_folder.folders import new_run_folder
from rigloop.run_folder.manifest import Injected

AT_S = 0.25  # the torque is there: the ramp-in of the rig is over
APART_S = 0.12
AFTER_S = 0.3
GONE_S = 15.0
FIRST_PORT = 20_000
ON_WIRE = "steering_wheel_veth"


class Forked:
    """A forked child with the part of `subprocess.Popen` that a supervisor needs."""

    stdin = None

    def __init__(self, work: Callable[[], int], log: Path) -> None:
        self.returncode: int | None = None
        sys.stdout.flush()
        self.pid = os.fork()
        if self.pid == 0:
            code = 1
            try:
                os.setsid()
                for number in (signal.SIGINT, signal.SIGTERM):
                    signal.signal(number, signal.SIG_DFL)
                with contextlib.suppress(OSError):
                    file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
                    os.dup2(file, 1)
                    os.dup2(file, 2)
                code = work()
                sys.stdout.flush()
            finally:
                os._exit(code)

    def poll(self) -> int | None:
        """Return the exit code of a child that has ended."""
        if self.returncode is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode

    def wait(self, timeout: float = 60.0) -> int:
        """Wait for the end of a child."""
        until = time.monotonic() + timeout
        while self.poll() is None:
            if time.monotonic() > until:
                raise subprocess.TimeoutExpired(str(self.pid), timeout)
            time.sleep(0.002)
        assert self.returncode is not None
        return self.returncode

    def terminate(self) -> None:
        """Send SIGTERM."""
        self._send(signal.SIGTERM)

    def kill(self) -> None:
        """Send SIGKILL."""
        self._send(signal.SIGKILL)

    def _send(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)


def forked(module: str, arguments: Sequence[str], log: Path) -> Forked:
    """Start what `python -m module` would start."""
    main = importlib.import_module(module).main
    return Forked(lambda: main(list(arguments)), log)


@dataclass(frozen=True)
class Trial:
    """Faults that are tried in one run."""

    asked: tuple[str, ...]
    seconds: float
    needs: Needs = ""
    telemetry: str | None = None
    series: tuple[float, ...] = ()
    """For how long the arming of each fault lasts at most; empty: one arming, in which all strike."""

    @property
    def bus(self) -> str | None:
        """The back end that takes the place of the rig's own."""
        return "veth" if self.needs in ON_VETH else None


@dataclass(frozen=True)
class Tried:
    """The outcome of a trial."""

    faults: list[tuple[str, Injected]]
    """Each with its name in the table, in the order of the trial; several axes may have one of a name."""
    left: list[str]
    """Processes and files that were still there after it."""
    seconds: float
    folder: Path


def trials(names: Sequence[str], lim: Limits) -> list[Trial]:
    """Return the runs that try these faults: those that end a run alone, the others side by side."""
    goes_on = [n for n in names if _goes_on(FAULTS[n], lim)]
    together = sorted((n for n in goes_on if _cycles(n) <= 1 and not FAULTS[n].named), key=_lasts)
    beside = [n for n in names if FAULTS[n].needs == "telemetry"]
    found = []
    if together:
        asked = tuple(f"{n}@{AT_S + APART_S * i:.2f}" for i, n in enumerate(together))
        found.append(Trial(asked, AT_S + APART_S * (len(together) + 1)))
    if beside:
        asked = tuple(f"{n}@{AT_S + 0.3 * i:.2f}" for i, n in enumerate(beside))
        found.append(Trial(asked, AT_S + 0.3 * (len(beside) + 1), telemetry=_endpoint()))
    alone = [n for n in names if n not in together and n not in beside]
    for name in alone:
        seconds = 0.9 if FAULTS[name].where == "recorder process" else 5.0
        needs = FAULTS[name].needs
        # on veth the shipped plant takes longer to push
        at_s = 1.0 if needs in ON_VETH else AT_S
        if FAULTS[name].lasts_s or name in goes_on:
            lasts_s = max(FAULTS[name].lasts_s, _cycles(name) * lim.period_s)
            seconds = at_s + lasts_s + AFTER_S
        found.append(Trial((f"{name}@{at_s}",), seconds, needs))
    return found


def _goes_on(fault: Fault, lim: Limits) -> bool:
    """Decide if a rig goes on after a fault from inside of the cycle."""
    value = fault.argument.default(lim) if fault.argument else 0.0
    reaction = fault.states(lim, value).reaction
    return isinstance(fault.acts, InCycle) and reaction in (Reaction.COUNT, Reaction.HOLD)


def _cycles(name: str) -> int:
    acts = FAULTS[name].acts
    return acts.cycles if isinstance(acts, InCycle) else 1


def _lasts(name: str) -> bool:
    return _cycles(name) == 0


def _endpoint() -> str:
    return f"tcp://127.0.0.1:{FIRST_PORT + os.getpid() % 10_000}"


def rigs_for(bench: LoadedRig) -> dict[Needs, LoadedRig]:
    """Return the rig that tries the faults of each need."""
    # a bound of two cycles takes the bench on the wire, where the host ends many a run before its fault; the
    # others are tried with the limits of a rig that bridges what a host takes away
    wire = load(ON_WIRE)
    ring = wire.text.replace('kind = "bus"\n', 'kind = "bus"\nsecond_interface = "veth2"\n', 1)
    rigs = dict.fromkeys(get_args(Needs), bench)
    rigs["veth"] = wire
    rigs["ring"] = replace(wire, text=ring, rig=rig_model().model_validate(tomllib.loads(ring)))
    return rigs


def warm_up(loaded: LoadedRig) -> None:
    """Import and build what every trial needs."""
    build_kernels(loaded)
    for module in (
        "rigloop.live.cycle", "rigloop.inject.place", "io_bridge.recording.recorder", "io_bridge.recording.telemetry"
    ):  # fmt: skip
        importlib.import_module(module)


def attempt(loaded: LoadedRig, trial: Trial, runs: Path) -> Tried:
    """Run one trial and judge it."""
    begin = time.monotonic()
    folder = new_run_folder(runs, loaded.name)
    table = f"/dev/shm/rigloop-trial-{os.getpid()}"
    (folder / "rig.toml").write_text(loaded.text, encoding="utf-8")
    keep_named(folder, loaded.files)
    backends = backends_of(loaded.rig, trial.bus)
    injections = parse(
        trial.asked, loaded.rig, backends, trial.telemetry is not None, trial.seconds
    )
    if trial.series:
        injections = one_an_arming(injections)
    commissioned = messages.Order(
        loaded.name,
        table,
        trial.bus,
        inject=trial.asked,
        stay_s=trial.seconds if trial.series else stay_s(injections),
        series=trial.series,
    )
    messages.write(folder, "order.json", commissioned)

    cycle: Any = None

    def supervise() -> int:
        console = Console(file=io.StringIO())
        options = RunOptions(runs, console, trial.seconds, telemetry=trial.telemetry)
        run = LiveRun(loaded, folder, table, cycle, options)
        ended = watch(run, [], injections)
        (folder / "final.json").write_bytes(msgspec.json.encode(ended.final.signals))
        return 0

    def work() -> int:
        # in the supervisor that is tried: its children must be its own
        nonlocal cycle
        if "veth" in backends.values():
            with children.cycle_process() as cycle:
                children.commission(cycle, folder)
                return supervise()
        children.start = forked
        cycle = forked("rigloop.live.cycle", [str(folder)], folder / "cycle.log")
        with children.ended(cycle):
            return supervise()

    Forked(work, folder / "supervisor.log").wait()
    left = _left(folder, table)
    final = folder / "final.json"
    signals = msgspec.json.decode(final.read_bytes()) if final.exists() else None
    judged = zip(
        (i.fault.name for i in injections), judge(folder, injections, signals), strict=True
    )
    return Tried(list(judged), left, time.monotonic() - begin, folder)


def _left(folder: Path, table: str) -> list[str]:
    """Return what of a trial is still there after the time that its processes have to end."""
    until = time.monotonic() + GONE_S
    while True:
        left = [str(table)] if Path(table).exists() else []
        left += [line for pid, line in _processes() if str(folder) in line or table in line]
        if not left or time.monotonic() > until:
            return left
        time.sleep(0.01)


def _processes() -> list[tuple[int, str]]:
    # a forked process has the command line of its parent: it is known by what it has open
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        with contextlib.suppress(OSError):
            line = (entry / "cmdline").read_bytes().decode(errors="replace")
            with contextlib.suppress(OSError):
                line += "\0" + os.readlink(entry / "fd/1")
            found.append((int(entry.name), line.replace("\0", " ")))
    return found


def sweep(folder: Path) -> None:
    """Take a run folder away that nobody needs."""
    shutil.rmtree(folder, ignore_errors=True)


def ends_at_zero(injected: Injected) -> bool:
    """Decide if the rig states that a fault ends at zero torque."""
    return injected.stated in (Reaction.RAMP, Reaction.SAFE, Reaction.DRIVE)

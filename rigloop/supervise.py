"""The supervisor of a live run: starts the cycle process and the recorder, arms, shows, stops, judges."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType

from rich.console import Console

from rig_configs.load import LoadedRig, write_path
from rigloop import order
from rigloop.compose import bus_of
from rigloop.kernels import build_kernels
from rigloop.live import LiveView
from rigloop.outcome import NotStartedError, Outcome
from rigloop.picture import take_picture
from rigloop.runs import new_run_folder
from rigloop.segment import in_namespace
from rigloop.verdict import Supervision, conclude, read_final
from rt_core.safety import State
from rt_core.table import SignalTable

HEARTBEAT_S = 0.02
WAIT_BEATS = 25  # while the guard waits, half a second between pictures
START_TIMEOUT_S = 30.0
READY_TIMEOUT_S = 15.0
STOP_TIMEOUT_S = 10.0


def run_live(
    loaded: LoadedRig, *, seconds: float | None, bus: str | None, runs: Path, console: Console
) -> Outcome:
    """Run a rig until its time is over, Ctrl-C, or a fault; return the verdict.

    Raises
    ------
    NotStartedError
        A process or the bus did not start; the torque never left zero.
    """
    with console.status("kernel") as status:
        kernels = build_kernels(
            loaded, lambda name, stage: status.update(f"kernel {name}: {stage}")
        )
    for name, kernel in kernels.items():
        origin = "from the cache" if kernel.from_cache else f"built in {kernel.seconds:.1f} s"
        console.print(f"kernel {name} {kernel.hash[:12]} {origin}", highlight=False)
    folder = _new_folder(runs, loaded)
    table = f"/dev/shm/rigloop-{os.getuid()}-{os.getpid()}"
    (folder / "rig.toml").write_text(loaded.text, encoding="utf-8")
    order.write(folder, "order.json", order.Order(loaded.name, table, bus))

    backend = bus or bus_of(loaded.rig)[1].backend
    command = in_namespace([sys.executable, "-m", "rigloop.cycle", str(folder)], backend)
    with _processes(folder) as start:
        cycle = start("cycle", command)
        with _attach(table, cycle, folder) as shared:
            watch = ["--pid", str(cycle.pid), table, str(folder)]
            recorder = start("recorder", [sys.executable, "-m", "io_bridge.recorder", *watch])
            seen = _supervise(shared, loaded, cycle, folder, seconds, console)
            ended = _end(cycle)
            # it ends by itself, once the loop has ended and the rings are empty
            _end(recorder)
            final = read_final(shared, loaded)
    return conclude(folder, loaded, kernels, final, seen, ended, seconds)


def _new_folder(runs: Path, loaded: LoadedRig) -> Path:
    try:
        return new_run_folder(runs, loaded.name)
    except OSError as error:
        raise NotStartedError(
            f"{runs}: no run folder can be made: {error.strerror}; give --runs"
        ) from None


@contextlib.contextmanager
def _processes(folder: Path) -> Iterator[Callable[[str, list[str]], subprocess.Popen]]:
    """Yield what starts a child, its output in `<name>.log`; whatever happens, none stays behind."""
    # one arena and no thread pools: what the cycle process locks into memory stays small
    environment = os.environ | {"MALLOC_ARENA_MAX": "1", "OPENBLAS_NUM_THREADS": "1"}
    children: list[subprocess.Popen] = []

    def start(name: str, command: list[str]) -> subprocess.Popen:
        with (folder / f"{name}.log").open("wb") as log:
            # a session of its own: Ctrl-C is for the supervisor, which ramps out
            child = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=environment,
                start_new_session=True,
            )
        children.append(child)
        return child

    try:
        yield start
    finally:
        for child in children:
            if child.poll() is None:
                child.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(STOP_TIMEOUT_S)
            child.kill()
            child.wait()


def _attach(table: str, cycle: subprocess.Popen, folder: Path) -> SignalTable:
    """Wait for the cycle process to make the table."""
    until = time.monotonic() + START_TIMEOUT_S
    while time.monotonic() < until:
        with contextlib.suppress(FileNotFoundError):
            return SignalTable.attach(table, writable=True)
        if cycle.poll() is not None:
            raise NotStartedError(_why_it_ended(folder))
        time.sleep(0.005)
    raise NotStartedError(
        f"the cycle process made no signal table within {START_TIMEOUT_S:.0f} s: {folder}/cycle.log"
    )


def _why_it_ended(folder: Path) -> str:
    report = order.read_report(folder)
    if report is not None and report.error:
        return report.error
    log = (folder / "cycle.log").read_text(errors="replace").strip().splitlines()
    return f"the cycle process ended: {log[-1] if log else 'no message'}; see {folder}/cycle.log"


def _end(child: subprocess.Popen) -> int:
    """Wait for a child that was told to end; make it, if it does not."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        return child.wait(STOP_TIMEOUT_S)
    child.terminate()
    with contextlib.suppress(subprocess.TimeoutExpired):
        return child.wait(STOP_TIMEOUT_S)
    child.kill()
    return child.wait()


def _supervise(
    shared: SignalTable,
    loaded: LoadedRig,
    cycle: subprocess.Popen,
    folder: Path,
    seconds: float | None,
    console: Console,
) -> Supervision:
    """Enable, arm once the guard is ready, watch until the end, and ask for the ramp-out."""
    seen = Supervision()
    name, guard = next((n, b) for n, b in loaded.rig.blocks.items() if b.kind == "guard")
    state_path = write_path(name, guard.model_dump(), "state")
    report = order.read_report(folder)
    real_time = report is not None and report.real_time
    started = time.monotonic()
    armed_at: float | None = None
    running_at: float | None = None
    beat = 0

    with _interrupts() as interrupted, LiveView(console, loaded.rig.title) as view:
        while cycle.poll() is None:
            now = time.monotonic()
            beat += 1
            state = State(int(shared.value(state_path)))
            ready = state == State.READY and beat > 1 and _is_recorded(folder, loaded)
            if ready and armed_at is None:
                armed_at = now
            if state == State.RUNNING and running_at is None:
                running_at = now
            if running_at is not None:
                seen.armed_s = now - running_at
            over = running_at is not None and seconds is not None and seen.armed_s >= seconds
            never = running_at is None and now - started > READY_TIMEOUT_S
            seen.interrupted = bool(interrupted)
            stop = over or never or seen.interrupted or state == State.FAULT
            shared.publish(
                {
                    "supervisor/heartbeat": beat,
                    "supervisor/enable": 1.0,
                    "supervisor/arm": float(armed_at is not None),
                    "supervisor/stop": float(stop),
                }
            )
            if stop:
                break
            if state != State.INIT or beat % WAIT_BEATS == 0:
                view.show(take_picture(shared, loaded, seen.armed_s, seconds, state, real_time))
            time.sleep(HEARTBEAT_S)
        _beat_until_ended(shared, cycle, beat)
    return seen


def _beat_until_ended(shared: SignalTable, cycle: subprocess.Popen, beat: int) -> None:
    # the heartbeat goes on through the ramp-out: its end is the stop's, not a lost supervisor's
    until = time.monotonic() + STOP_TIMEOUT_S
    while cycle.poll() is None and time.monotonic() < until:
        beat += 1
        shared.publish({"supervisor/heartbeat": beat})
        time.sleep(HEARTBEAT_S)


@contextlib.contextmanager
def _interrupts() -> Iterator[list[int]]:
    """Collect SIGINT and SIGTERM instead of dying of them: the torque ramps out first."""
    caught: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        caught.append(number)

    before = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield caught
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _is_recorded(folder: Path, loaded: LoadedRig) -> bool:
    # the recorder has attached once it has made its files; a run that ended before would leave no record
    return all((folder / f"{task}.npy").exists() for task in loaded.rig.tasks)

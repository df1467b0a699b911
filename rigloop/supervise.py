"""The supervisor of a live run: starts the cycle process and the recorder, arms, shows, stops, judges."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from rich.console import Console
from rich.markup import escape

from rig_configs.load import LoadedRig
from rig_configs.mistakes import ConfigError, Mistake
from rigloop import order
from rigloop.bringing_up import News
from rigloop.children import STOP_TIMEOUT_S, commission, onlooker
from rigloop.compose import bus_of, guard_of, paths
from rigloop.degraded import refuse_if_red, with_rights
from rigloop.ended import Ended, Supervision, read_final
from rigloop.errors import NotStartedError
from rigloop.interface import check_backend
from rigloop.kernels import build_kernels
from rigloop.let_go import LetGo
from rigloop.live import LiveView
from rigloop.order import Mode
from rigloop.outcome import Outcome
from rigloop.picture import take_picture
from rigloop.runs import new_run_folder
from rigloop.verdict import conclude
from rt_core.doctor.check import Check, Level, banner
from rt_core.safety import State
from rt_core.table import SignalTable

if TYPE_CHECKING:
    from rigloop.inject.request import Injection

HEARTBEAT_S = 0.02
WAIT_BEATS = 25  # while the guard waits, half a second between pictures
RESET_BEAT = 10
START_TIMEOUT_S = 30.0
READY_TIMEOUT_S = 15.0
NICE = -10


def run_live(
    loaded: LoadedRig,
    cycle: subprocess.Popen[str],
    *,
    seconds: float | None,
    bus: str | None,
    telemetry: str | None,
    mode: Mode,
    runs: Path,
    console: Console,
    inject: Sequence[str] = (),
    reset_drives: bool = False,
) -> Outcome:
    """Run a rig until its time is over, Ctrl-C, or a fault; return the verdict.

    Raises
    ------
    ConfigError
        The endpoint of telemetry, or a fault to inject, is not right.
    NotStartedError
        A process or the bus did not start, or the run is strict and something is red; the torque
        never left zero.
    """
    if telemetry is not None:
        _check_telemetry(telemetry)
    backend = bus or bus_of(loaded.rig)[1].backend
    injections: Sequence[Injection] = ()
    commissioned = order.Order(
        loaded.name, table_path(), bus, mode, tuple(inject), reset_drives=reset_drives
    )
    if inject:
        from rigloop.inject.request import parse, stay_s

        injections = parse(inject, loaded.rig, backend, telemetry is not None, seconds)
        commissioned.stay_s = stay_s(injections)
    if mode is Mode.STRICT:
        from rigloop.doctor import demands_of, examine

        refuse_if_red(examine(demands_of(loaded.rig, bus)))
    with console.status("kernel") as status:
        kernels = build_kernels(
            loaded, lambda name, stage: status.update(f"kernel {name}: {stage}")
        )
    for name, kernel in kernels.items():
        origin = "from the cache" if kernel.from_cache else f"built in {kernel.seconds:.1f} s"
        console.print(f"kernel {name} {kernel.hash[:12]} {origin}", highlight=False)
    folder = _new_folder(runs, loaded)
    (folder / "rig.toml").write_text(loaded.text, encoding="utf-8")
    order.write(folder, "order.json", commissioned)

    check_backend(backend)
    commission(cycle, folder)
    # imported and looked at only now, while the loop starts: nothing of it delays the first cycle
    from rigloop.doctor import QUICK, SLOW, demands_of, examine

    demands = demands_of(loaded.rig, bus)
    with ThreadPoolExecutor(max_workers=1) as beside:
        slow = beside.submit(examine, demands, SLOW)
        quick = examine(demands, QUICK)
        ended = watch(
            commissioned.table,
            cycle,
            folder,
            loaded,
            quick,
            seconds,
            telemetry,
            console,
            injections,
        )
        checks = [*quick, *slow.result()]
    return conclude(folder, loaded, kernels, ended, seconds, mode, checks, injections)


def watch(
    table: str,
    cycle: subprocess.Popen[str],
    folder: Path,
    loaded: LoadedRig,
    checks: list[Check],
    seconds: float | None,
    telemetry: str | None,
    console: Console,
    injections: Sequence[Injection] = (),
) -> Ended:
    """Supervise a commissioned cycle process to its end, with those that look on."""
    with _attach(table, cycle, folder, console) as shared:
        try:
            with contextlib.ExitStack() as onlookers:
                run = (folder, cycle.pid, table)
                recorder = onlookers.enter_context(
                    onlooker("io_bridge.recorder", *run, str(folder))
                )
                report = order.read_report(folder)
                processes = {
                    "supervisor": os.getpid(),
                    # on veth the child is only what holds its namespace
                    "cycle": cycle.pid if report is None else report.pid,
                    "recorder": recorder.pid,
                }
                if telemetry is not None:
                    processes["telemetry"] = onlookers.enter_context(
                        onlooker("io_bridge.telemetry", *run, telemetry)
                    ).pid
                tell = None
                if injections:
                    from rigloop.inject.limits import limits_of
                    from rigloop.inject.outside import agent

                    tell = onlookers.enter_context(agent(folder, injections, limits_of(loaded.rig)))
                seen = _supervise(
                    shared,
                    loaded,
                    cycle,
                    folder,
                    checks,
                    seconds,
                    console,
                    tell and partial(tell, processes),
                )
                code = _end(cycle)
                _end(recorder)
            return Ended(seen, read_final(shared, loaded), code)
        finally:
            Path(table).unlink(missing_ok=True)


def _check_telemetry(endpoint: str) -> None:
    from io_bridge.telemetry import EndpointError, check_endpoint

    try:
        check_endpoint(endpoint)
    except EndpointError as error:
        mistake = Mistake("command line", "--telemetry", str(error), value=endpoint)
        raise ConfigError([mistake]) from None


def table_path() -> str:
    """Return where the signal table of this process's run is."""
    return f"/dev/shm/rigloop-{os.getuid()}-{os.getpid()}"


def _new_folder(runs: Path, loaded: LoadedRig) -> Path:
    try:
        return new_run_folder(runs, loaded.name)
    except OSError as error:
        raise NotStartedError(
            f"{runs}: no run folder can be made: {error.strerror}; give --runs"
        ) from None


def _attach(
    table: str, cycle: subprocess.Popen[str], folder: Path, console: Console
) -> SignalTable:
    """Wait for the cycle process to make the table; slaves that take their time are shown."""
    until = time.monotonic() + START_TIMEOUT_S
    news = News(folder)
    while time.monotonic() < until:
        if said := news.read():
            console.print(f"[dim]{escape(said)}[/]", highlight=False, soft_wrap=True)
            until = time.monotonic() + START_TIMEOUT_S
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
    log = folder / "cycle.log"
    lines = log.read_text(errors="replace").strip().splitlines() if log.exists() else []
    return f"the cycle process ended: {lines[-1] if lines else 'no message'}; see {log}"


def _end(child: subprocess.Popen[str]) -> int:
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
    cycle: subprocess.Popen[str],
    folder: Path,
    checks: list[Check],
    seconds: float | None,
    console: Console,
    at_arming: Callable[[], None] | None,
) -> Supervision:
    """Enable, arm once the guard is ready, watch until the end, and ask for the ramp-out."""
    seen = Supervision(process_began_ns=_process_began_ns())
    state_path = paths(*guard_of(loaded.rig))[1]["state"]
    report = order.read_report(folder)
    real_time = report is not None and report.real_time
    checks = with_rights(checks, report.rights if report is not None else ())
    degraded = banner(checks)
    n_red = sum(check.level is Level.RED for check in checks)
    if degraded:
        words = f"{degraded}; `rigloop doctor {loaded.name}` says what to do"
        console.print(f"[bold yellow]{escape(words)}[/]", highlight=False, soft_wrap=True)
    started = time.monotonic()
    armed_at: float | None = None
    running_at: float | None = None
    beat = 0
    commissioned = order.read_order(folder)
    ending, resets = LetGo(commissioned.stay_s), commissioned.reset_drives

    with (
        _ahead_of_others(),
        _interrupts() as interrupted,
        LiveView(console, loaded.rig.title) as view,
    ):
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
            let_go = ending.over(state == State.FAULT)
            stop = over or never or seen.interrupted or let_go
            shared.publish(
                {
                    "supervisor/heartbeat": beat,
                    "supervisor/enable": 1.0,
                    # one edge, before anything is armed, and only for a person who asked for it
                    "supervisor/reset": float(resets and armed_at is None and beat > RESET_BEAT),
                    "supervisor/arm": float(armed_at is not None),
                    "supervisor/stop": float(stop),
                    "supervisor/degraded": float(n_red),
                }
            )
            if armed_at == now and at_arming is not None:
                at_arming()
            if stop:
                break
            if state != State.INIT or beat % WAIT_BEATS == 0:
                picture = take_picture(
                    shared, loaded.rig, seen.armed_s, seconds, state, real_time, degraded
                )
                view.show(picture)
            time.sleep(HEARTBEAT_S)
        _beat_until_ended(shared, cycle, beat)
    return seen


def _process_began_ns() -> int:
    # field 22 of stat: ticks since boot, which CLOCK_MONOTONIC counts too while the machine does not sleep
    ticks = int(Path("/proc/self/stat").read_text().rsplit(")", 1)[1].split()[19])
    return ticks * 1_000_000_000 // os.sysconf("SC_CLK_TCK")


def _beat_until_ended(shared: SignalTable, cycle: subprocess.Popen[str], beat: int) -> None:
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


@contextlib.contextmanager
def _ahead_of_others() -> Iterator[None]:
    """Run before ordinary processes, where that is allowed: on a busy machine a late heartbeat looks like none."""
    before = os.getpriority(os.PRIO_PROCESS, 0)
    with contextlib.suppress(PermissionError):
        os.setpriority(os.PRIO_PROCESS, 0, min(before, NICE))
    try:
        yield
    finally:
        os.setpriority(os.PRIO_PROCESS, 0, before)


def _is_recorded(folder: Path, loaded: LoadedRig) -> bool:
    # the recorder has attached once it has made its files; a run that ended before would leave no record
    return all((folder / f"{task}.npy").exists() for task in loaded.rig.tasks)

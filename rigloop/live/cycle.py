"""The cycle process: builds the loop from a run folder, runs it, and leaves with the output at rest.

Python builds and starts; then the main thread only waits, in short naps, for a reason to stop.
Started by the supervisor as `python -m rigloop.live.cycle` before it has read the rig: imports take longest.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import resource
import signal
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

from io_bridge.buses.simulated_bus import SimulatedBus
from io_bridge.emulator.serving.sim_segment import motors
from io_bridge.host.namespace import wrap
from io_bridge.wire.owner import introduce
from rig_configs.load import LoadedRig
from rigloop.blocks.checked import read_checked
from rigloop.compose.blocks import Composed, backends_of, compose_live
from rigloop.compose.bus import make_buses
from rigloop.compose.kernels import build_kernels
from rigloop.host.interface import pairs, served_interfaces
from rigloop.host.spin_choice import Measuring, start_measuring, with_spins
from rigloop.live.arming import state_of
from rigloop.live.bringing_up import refuse_drives_in_fault, tell
from rigloop.live.orphaned import Orphaned
from rigloop.live.rearm import Stay
from rigloop.run_folder import messages
from rigloop.run_folder.clocks import read_clocks
from rigloop.run_folder.last_state import LAST, leave
from rigloop.run_folder.run_end import newest, read_final
from rigloop.run_folder.tables import held
from rigloop.sign_off.limit import limited_by_drives, limited_rig, on_interface
from rt_core.host.facts import host_facts
from rt_core.host.parent_death import end_with_parent
from rt_core.host.rights import acquire_rights
from rt_core.loop.loop import Loop, Stall
from rt_core.safety.trips import State
from rt_core.signals.layout import TableError
from rt_core.signals.table import SignalTable

NAP_S = 0.02
MAIN_PRIORITY = (
    1  # of the thread that waits for signals, below every task and above what else the machine does
)
STOPS = (signal.SIGINT, signal.SIGTERM)  # they ask for the end
RUN_TIME_S = 2.0  # of a FIFO thread without a sleep, beyond what the watchdog allows


def main(arguments: list[str]) -> int:
    """Run the rig of a run folder until told to stop.

    Parameters
    ----------
    arguments : list of str
        The run folder; without one it is read from standard input, as JSON, and an end of file means that there is
        none.

    Returns
    -------
    int
        0 came to rest, 1 did not, 3 not started.
    """
    said = "" if arguments else sys.stdin.readline()
    if not arguments and not said:
        return 0
    text = arguments[0] if arguments else json.loads(said)
    # a supervisor that dies takes nothing with it: the kernel sends SIGTERM, and that ramps out
    end_with_parent()
    # asked to end while the bus comes up: what was begun is ended, too
    signal.signal(signal.SIGTERM, _leave)
    folder = Path(text)
    introduce(f"rigloop run, {folder}")
    _log_to(folder / "cycle.log")
    order = messages.read_order(folder)
    report = messages.Report(pid=os.getpid())
    try:
        loaded = read_checked(folder / "rig.toml")
        backends = backends_of(loaded.rig, order.bus)
        if (virtual := pairs(loaded.rig, backends)) and not arguments:
            # the same again, in a network namespace with veth pairs of its own
            command = wrap([sys.executable, "-P", "-m", "rigloop.live.cycle", text], *virtual)
            os.execvp(command[0], command)
        measuring = start_measuring(loaded.rig)
        kernels = build_kernels(loaded)
        report.kernels = {name: kernel.hash for name, kernel in kernels.items()}
        injected = folder if order.inject else None
        with served_interfaces(loaded.rig, backends, injected) as interfaces:
            buses = make_buses(loaded.rig, backends, interfaces)
            composed = compose_live(loaded.rig, kernels, buses)
            _run(Commission(folder, loaded, order, kernels), composed, measuring, report)
    except (OSError, ValueError, ImportError, RuntimeError) as error:
        report.error = str(error) or type(error).__name__
        code = 3
    else:
        code = 0 if report.at_rest else 1
    finally:
        _tell(folder, report)
    if report.hung:
        # its thread cannot be joined: go without taking anything from under it
        os._exit(code)
    return code


def _leave(number: int, frame: FrameType | None) -> None:
    signal.signal(number, signal.SIG_IGN)
    raise SystemExit(3)


def _tell(folder: Path, report: messages.Report) -> None:
    # a full disk or a lost folder ends no loop; whether it came to rest, the exit code says too
    try:
        messages.write(folder, "cycle.json", report)
    except OSError as error:
        _say(f"cycle.json: {error.strerror}")


def _say(words: str) -> None:
    # past the buffers of Python, which would try again at the exit: the log may lie on the disk that is full
    with contextlib.suppress(OSError):
        os.write(2, f"{words}\n".encode())


def _log_to(path: Path) -> None:
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    os.dup2(file, 1)
    os.dup2(file, 2)
    os.close(file)


class Commission(NamedTuple):
    """The run that is asked for: its folder, its rig, the order of the supervisor, and the kernels of the rig."""

    folder: Path
    loaded: LoadedRig
    order: messages.Order
    kernels: Mapping[str, Any]


def _run(
    commission: Commission, composed: Composed, measuring: Measuring, report: messages.Report
) -> None:
    folder, loaded, order, kernels = commission
    tasks = loaded.rig.tasks.values()
    cores = {task.core for task in tasks if task.core is not None}
    rights = acquire_rights(max(task.priority for task in tasks), cores)
    report.real_time = rights.real_time
    report.rights = rights.as_dict()["rights"]
    report.host = host_facts()
    # before the table exists, so that whoever sees the table can read the rights
    messages.write(folder, "cycle.json", report)
    if order.mode is messages.Mode.STRICT and not rights.real_time:
        raise RuntimeError(rights.verdict)
    with composed.buses as buses:
        began_s = time.monotonic()
        buses.to_op(partial(tell, folder))
        report.to_op_s = time.monotonic() - began_s
        refuse_drives_in_fault(buses, order.argument or order.rig, order.reset_drives)
        # the drives are known only now; no guard has been bound yet
        backends = backends_of(loaded.rig, order.bus)
        argument = order.argument or order.rig
        report.limited = limited_by_drives(
            loaded.rig,
            backends,
            order.limited,
            order.signed,
            buses.identities(),
            argument,
            own=buses.own_scales() if on_interface(loaded.rig, backends) else None,
        )
        if report.limited is not None:
            rig = limited_rig(loaded.rig, report.limited)
            composed = compose_live(rig, kernels, buses)
        # of its threads none takes a signal that asks for the end: while the loop runs, its watchdog sees that it waits
        with _held():
            buses.attend()
        report.bringup = buses.bringup_counters()
        messages.write(folder, "cycle.json", report)
        plan, spins = with_spins(composed.plan, measuring)
        if order.inject:
            from rigloop.inject.place import disturbed

            plan = disturbed(plan, buses, loaded.rig, order.inject, series=bool(order.series))
        composed = replace(composed, plan=plan)
        report.spins = {task: asdict(spin) for task, spin in spins.items()}
        table = SignalTable.create(order.table, composed.plan, run=str(folder.absolute()))
        try:
            gc.freeze()
            gc.disable()
            with held(order.table):
                _loop(commission, composed, table, report, fifo=rights.fifo)
        finally:
            _leave_evidence(folder, table, loaded)
            # those that look on keep what they have mapped; a thread that hangs keeps all of it
            if report.hung:
                os.unlink(order.table)
            else:
                table.close(unlink=True)
        report.bus_faults = [
            {"source": f.source, "code": f.code, "words": f.words} for f in buses.faults()
        ]
        report.bus_events = [event._asdict() for event in buses.events()]
        report.unattended = buses.unattended()


def _leave_evidence(folder: Path, table: SignalTable, loaded: LoadedRig) -> None:
    # the supervisor reads the table itself, unless it was killed
    try:
        leave(folder, read_final(table, loaded.rig.tasks))
    except (OSError, TableError) as error:
        _say(f"{LAST}: {error}")


def _loop(
    commission: Commission,
    composed: Composed,
    table: SignalTable,
    report: messages.Report,
    *,
    fifo: bool,
) -> None:
    """Step until a signal, the supervisor or a fault says stop; then wait for the output to rest."""
    rig, order = commission.loaded.rig, commission.order
    loop = Loop(composed.plan, table, fifo=fifo, safe=composed.safe)
    if fifo:
        _limit_run_time(composed)
    with _stop_on_signals(loop) as caught:
        try:
            loop.start()
        except TimeoutError as error:
            report.hung = loop.running
            raise RuntimeError(
                f"{error}: another thread of its priority or more occupies its core; see `rigloop doctor`, "
                "and the other programs on that core"
            ) from None
        report.first_cycle_ns = loop.start_ns
        report.clocks = [read_clocks()]
        # now, for those who want to know it of a process that was killed
        _tell(commission.folder, report)
        if fifo:
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(MAIN_PRIORITY))
        try:
            was_running = False
            stay = Stay(
                rig,
                order.stay_s,
                {t.name: [b.name for b in t.blocks] for t in composed.plan.tasks},
            )
            orphaned = Orphaned(order.table)
            while not loop.wait(NAP_S) and not signal.sigpending() & {*STOPS}:
                state = state_of(table, rig)
                was_running |= state == State.RUNNING
                if loop.stall is not None:
                    break
                if table.value("supervisor/stop") > 0.5:
                    report.stopped_by = "supervisor"
                    break
                if stay.over(was_running and state == State.FAULT, lambda: newest(table)):
                    report.stopped_by = "guard"
                    break
                if orphaned():
                    report.stopped_by = "the end of its supervisor"
                    break
            if loop.orphaned:
                report.stopped_by = "the end of its supervisor"
        finally:
            try:
                loop.stop()
            except TimeoutError:
                report.hung = True
            if fifo:
                os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
            report.clocks.append(read_clocks())
            report.at_rest = loop.at_rest
            if loop.stall is not None:
                report.stopped_by = "watchdog"
                report.stall = _explain(loop.stall, composed)
                report.stalled_ns = loop.stall.for_ns
                report.stalled_kept_ns = loop.stall.kept_ns
            report.drives_nm = {
                f"motor {i}": motor.wanted_torque_nm
                for i, motor in enumerate(
                    motor
                    for bus in composed.buses.each.values()
                    if isinstance(bus, SimulatedBus)
                    for motor in motors(bus.devices)
                )
            }
    if caught and not loop.orphaned:
        report.stopped_by = signal.Signals(caught[0]).name


def _limit_run_time(composed: Composed) -> None:
    # the last net, below the watchdog: a FIFO thread that never sleeps is ended by the kernel, with the process, and
    # then the drive's own watchdog acts
    stall_s = max((task.stall_cycles or 0) * task.period_ns for task in composed.plan.tasks) * 1e-9
    _, hard = resource.getrlimit(resource.RLIMIT_RTTIME)
    soft = int((stall_s + RUN_TIME_S) * 1e6)
    resource.setrlimit(resource.RLIMIT_RTTIME, (soft if hard < 0 else min(soft, hard), hard))


def _explain(stall: Stall, composed: Composed) -> str:
    task = next(task for task in composed.plan.tasks if task.name == stall.task)
    cycles = stall.for_ns / task.period_ns
    sent = f"; {stall.sent} frames with safe outputs sent in its place" if stall.sent else ""
    return (
        f"watchdog: loop/{task.name}/cycle: task {task.name} stalled at cycle {stall.cycle}: "
        f"{cycles:.1f} periods without a new cycle, limit stall_cycles = {task.stall_cycles}{sent}"
    )


@contextlib.contextmanager
def _held() -> Iterator[None]:
    """Let the signals that ask for the end wait, for this thread and for those that begin meanwhile."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, STOPS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextlib.contextmanager
def _stop_on_signals(loop: Loop) -> Iterator[list[int]]:
    """Stop the loop when a signal asks for the end, and yield the list of those that did, which is filled at the end.

    The watchdog of the loop finds them, above all tasks. This thread finds them, too, for a loop without one.
    """
    caught: list[int] = []

    def stop(number: int, frame: FrameType | None) -> None:
        caught.append(number)
        loop.request_stop()

    for number in STOPS:
        signal.signal(number, stop)
    with _held():
        yield caught


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

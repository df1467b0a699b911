"""The cycle process: builds the loop from a run folder, runs it, and leaves with the output at rest.

Python builds and starts; then the main thread only waits, in short naps, for a reason to stop.
Started by the supervisor as `python -m rigloop.cycle` before it has read the rig: imports take longest.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

from io_bridge.namespace import wrap
from rig_configs.load import LoadedRig, read_checked
from rigloop import order
from rigloop.compose import Composed, bus_of, compose_live, make_bus
from rigloop.interface import served_interface
from rigloop.kernels import build_kernels
from rt_core.host import host_facts
from rt_core.loop import Loop
from rt_core.rights import acquire_rights
from rt_core.safety import State
from rt_core.table import SignalTable

OP_TIMEOUT_S = 10.0
NAP_S = 0.02
PR_SET_PDEATHSIG = 1


def main(arguments: list[str]) -> int:
    """Run the rig of a run folder until told to stop.

    Parameters
    ----------
    arguments : list of str
        The run folder; without one it is read from standard input, and an end of file means that there is none.

    Returns
    -------
    int
        0 came to rest, 1 did not, 3 not started.
    """
    text = arguments[0] if arguments else sys.stdin.readline().strip()
    if not text:
        return 0
    # a supervisor that dies takes nothing with it: the kernel sends SIGTERM, and that ramps out
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    folder = Path(text)
    _log_to(folder / "cycle.log")
    commission = order.read_order(folder)
    report = order.Report()
    try:
        loaded = read_checked(folder / "rig.toml")
        backend = commission.bus or bus_of(loaded.rig)[1].backend
        if backend == "veth" and not arguments:
            # the same again, in a network namespace with a veth pair of its own
            command = wrap([sys.executable, "-P", "-m", "rigloop.cycle", text])
            os.execvp(command[0], command)
        kernels = build_kernels(loaded)
        report.kernels = {name: kernel.hash for name, kernel in kernels.items()}
        with served_interface(loaded.rig, backend) as interface:
            bus = make_bus(loaded.rig, backend, interface)
            composed = compose_live(loaded.rig, kernels, bus)
            _run(folder, composed, loaded, commission, report)
    except (OSError, ValueError, ImportError, RuntimeError) as error:
        report.error = str(error) or type(error).__name__
        return 3
    finally:
        order.write(folder, "cycle.json", report)
    return 0 if report.at_rest else 1


def _log_to(path: Path) -> None:
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    os.dup2(file, 1)
    os.dup2(file, 2)
    os.close(file)


def _run(
    folder: Path,
    composed: Composed,
    loaded: LoadedRig,
    commission: order.Order,
    report: order.Report,
) -> None:
    tasks = loaded.rig.tasks.values()
    cores = {task.core for task in tasks if task.core is not None}
    rights = acquire_rights(max(task.priority for task in tasks), cores)
    report.real_time = rights.real_time
    report.rights = rights.as_dict()["rights"]
    report.host = host_facts()
    # before the table exists, so that whoever sees the table can read the rights
    order.write(folder, "cycle.json", report)
    if commission.mode is order.Mode.STRICT and not rights.real_time:
        raise RuntimeError(rights.verdict)
    with composed.bus as bus:
        bus.to_op(OP_TIMEOUT_S)
        table = SignalTable.create(commission.table, composed.plan)
        try:
            gc.freeze()
            gc.disable()
            _loop(composed, table, rights.fifo, report)
        finally:
            # those that look on keep what they have mapped
            table.close(unlink=True)
        report.bus_faults = [
            {"source": f.source, "code": f.code, "words": f.words} for f in bus.faults()
        ]


def _loop(composed: Composed, table: SignalTable, fifo: bool, report: order.Report) -> None:
    """Step until a signal, the supervisor or a fault says stop; then wait for the output to rest."""
    state_path = composed.safe.rsplit("/", 1)[0] + "/state"
    loop = Loop(composed.plan, table, fifo=fifo, safe=composed.safe)
    with _stop_on_signals(loop) as caught:
        loop.start()
        report.first_cycle_ns = loop.start_ns
        try:
            was_running = False
            while not loop.wait(NAP_S):
                state = State(int(table.value(state_path)))
                was_running |= state == State.RUNNING
                if table.value("supervisor/stop") > 0.5:
                    report.stopped_by = "supervisor"
                    break
                if was_running and state == State.FAULT:
                    report.stopped_by = "guard"
                    break
        finally:
            report.at_rest = loop.stop()
    if caught:
        report.stopped_by = signal.Signals(caught[0]).name


@contextlib.contextmanager
def _stop_on_signals(loop: Loop) -> Iterator[list[int]]:
    caught: list[int] = []

    def stop(number: int, frame: FrameType | None) -> None:
        caught.append(number)
        loop.request_stop()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
    yield caught


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

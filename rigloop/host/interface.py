"""The interface that a bus speaks on, made ready: nothing for in-process, a served veth pair, or a real one."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from io_bridge.emulator.catalogue.device_file import drive_text
from io_bridge.host.namespace import PAIR, SECOND_PAIR, why_not
from io_bridge.slaves.drive_config import DrivePlant
from rig_configs.schema import Rig
from rigloop.blocks.slaves import emulated_ring
from rigloop.compose.blocks import bus_of, find_bus
from rigloop.console.errors import NotStartedError
from rigloop.run_folder.messages import SEGMENT_ORDERS

SERVE_TIMEOUT_S = 10.0
WITNESS = "drive.json"
PRIORITY = 98  # above every task, which may spin on every core


class Interfaces(NamedTuple):
    """The interfaces that the frames of a bus go to; the second is None without cable redundancy."""

    first: str
    second: str | None = None


def second_interface(rig: Rig, backend: str) -> str | None:
    """Return the interface at the other end of the ring on this back end; `veth` makes one."""
    bus = find_bus(rig)
    if bus is None or bus[1].second_interface is None or backend == "simulated":
        return None
    return SECOND_PAIR[0] if backend == "veth" else bus[1].second_interface


def pairs(rig: Rig) -> list[tuple[str, str]]:
    """Return the pairs of interfaces that the back end `veth` needs."""
    return [PAIR] if second_interface(rig, "veth") is None else [PAIR, SECOND_PAIR]


def check_backend(backend: str) -> None:
    """Refuse a back end that this machine cannot give.

    Raises
    ------
    NotStartedError
        The kernel forbids a network namespace; the message says why.
    """
    reason = why_not() if backend == "veth" else None
    if reason is not None:
        raise NotStartedError(f"bus veth: {reason}; take --bus simulated, which needs no rights")


@contextlib.contextmanager
def served_interface(rig: Rig, backend: str, injected: Path | None = None) -> Iterator[Interfaces]:
    """Yield the interfaces of a back end; for `veth`, the emulated slaves answer at its other end meanwhile.

    Parameters
    ----------
    injected : Path, optional
        Folder of a run with faults on purpose: in `WITNESS` the emulated drives say what they did, also when their
        master has died, and `SEGMENT_ORDERS` pulls their cables.

    Raises
    ------
    NotStartedError
        The emulator did not start.
    ValueError
        A terminal without a device.
    """
    second = second_interface(rig, backend)
    if backend != "veth":
        yield Interfaces(backend, second)
        return
    master_end, segment_end = PAIR
    with tempfile.TemporaryDirectory() as folder:
        command = [
            sys.executable,
            "-P",
            "-m",
            "io_bridge.emulator.serving.sim_segment",
            "--interface",
            segment_end,
        ]
        if second is not None:
            command += ["--second-interface", SECOND_PAIR[1]]
        for position, what in enumerate(emulated_ring(bus_of(rig)[1])):
            if isinstance(what, DrivePlant):
                file = Path(folder) / f"{position}.toml"
                file.write_text(drive_text(what))
                what = str(file)
            command.append(what)
        orders = None
        if injected is not None:
            command += ["--witness", str(injected / WITNESS), "--orders"]
            orders = _pipe(injected / SEGMENT_ORDERS)
        server = subprocess.Popen(
            command, stdin=orders, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        if orders is not None:
            os.close(orders)
        try:
            # its first line says that it serves, or why not
            first = server.stdout.readline().strip() if server.stdout else ""
            if not first.startswith("serving"):
                raise NotStartedError(
                    f"the emulated segment did not start: {first or 'no message'}"
                )
            # a real drive answers in time: so does this one, where the right is there
            with contextlib.suppress(OSError):
                os.sched_setscheduler(server.pid, os.SCHED_FIFO, os.sched_param(PRIORITY))
            yield Interfaces(master_end, second)
        finally:
            server.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                server.wait(SERVE_TIMEOUT_S)
            server.kill()
            server.communicate()
            if injected is not None:
                (injected / SEGMENT_ORDERS).unlink(missing_ok=True)


def _pipe(path: Path) -> int:
    """Make a named pipe and open both its ends, so that neither waits for the other."""
    path.unlink(missing_ok=True)
    os.mkfifo(path, 0o600)
    return os.open(path, os.O_RDWR)

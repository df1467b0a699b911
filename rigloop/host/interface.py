"""The interfaces that the buses speak on, made ready: nothing for in-process, a served veth pair, or a real one."""

from __future__ import annotations

import contextlib
import itertools
import os
import subprocess
import sys
import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from io_bridge.emulator.catalogue.device_file import drive_text
from io_bridge.host.namespace import pair, why_not
from io_bridge.slaves.drive_config import DrivePlant
from rig_configs.schema import Rig
from rigloop.blocks.kinds.bus import BusBlock
from rigloop.blocks.slaves import emulated_ring
from rigloop.compose.bus import Interfaces
from rigloop.compose.parts import EMULATED, find_buses
from rigloop.run_folder.messages import segment_orders, witness
from rigloop.run_folder.not_started import NotStartedError

SERVE_TIMEOUT_S = 10.0
PRIORITY = 98  # above every task, which may spin on every core


def _veth_pairs(rig: Rig, backends: Mapping[str, str]) -> dict[str, list[tuple[str, str]]]:
    """Return the pairs of interfaces of each bus on the back end `veth`: one, or two for a ring."""
    numbers = itertools.count()
    return {
        name: [pair(next(numbers)) for _ in range(1 if bus.second_interface is None else 2)]
        for name, bus in find_buses(rig).items()
        if backends[name] == "veth"
    }


def pairs(rig: Rig, backends: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return all pairs of interfaces that the back end `veth` needs; none where no bus has it."""
    return [one for some in _veth_pairs(rig, backends).values() for one in some]


def cards(rig: Rig, backends: Mapping[str, str]) -> tuple[str, ...]:
    """Return the network cards of all buses of a rig, those of a second cable too."""
    buses = find_buses(rig)
    named = (
        (backend, buses[name].second_interface)
        for name, backend in backends.items()
        if backend not in EMULATED
    )
    return tuple(card for both in named for card in both if card is not None)


def check_backends(backends: Collection[str]) -> None:
    """Refuse back ends that this machine cannot give.

    Raises
    ------
    NotStartedError
        The kernel forbids a network namespace; the message says why.
    """
    reason = why_not() if "veth" in backends else None
    if reason is not None:
        raise NotStartedError(f"bus veth: {reason}; take --bus simulated, which needs no rights")


@contextlib.contextmanager
def served_interfaces(
    rig: Rig, backends: Mapping[str, str], injected: Path | None = None
) -> Iterator[dict[str, Interfaces]]:
    """Yield the interfaces of each bus; for `veth`, the emulated slaves answer at its other end meanwhile.

    Parameters
    ----------
    backends : mapping of bus to back end
    injected : Path, optional
        The folder of a run with faults on purpose: in the `witness` of a bus its emulated drives say what they did,
        also when their master has died, and its `segment_orders` pull their cables.

    Raises
    ------
    NotStartedError
        An emulator did not start.
    ValueError
        A terminal without a device.
    """
    made = _veth_pairs(rig, backends)
    with contextlib.ExitStack() as served:
        found = {}
        for name, bus in find_buses(rig).items():
            if name in made:
                ends = list(zip(*made[name], strict=True))
                spoken = None
                if injected is not None and bus.drives:
                    spoken = (injected / witness(rig, name), injected / segment_orders(name))
                served.enter_context(_served(bus, ends[1], spoken))
                found[name] = Interfaces(*ends[0])
            else:
                second = None if backends[name] in EMULATED else bus.second_interface
                found[name] = Interfaces(backends[name], second)
        yield found


@contextlib.contextmanager
def _served(bus: BusBlock, ends: Sequence[str], spoken: tuple[Path, Path] | None) -> Iterator[None]:
    """Let the emulated slaves of a bus answer at these ends of their cables; `spoken` are their witness and the pipe of
    their orders."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-P", "-m", "io_bridge.emulator.serving.sim_segment"]
        for option, end in zip(("--interface", "--second-interface"), ends, strict=False):
            command += [option, end]
        if columns := [name for name, d in bus.drives.items() if d.plant and d.plant.column]:
            raise NotStartedError(
                f"drive {columns[0]}: plant.column: the segment behind an interface has none; take --bus simulated"
            )
        for position, what in enumerate(emulated_ring(bus)):
            if isinstance(what, DrivePlant):
                file = Path(folder) / f"{position}.toml"
                file.write_text(drive_text(what))
                what = str(file)
            command.append(what)
        orders = None
        if spoken is not None:
            command += ["--witness", str(spoken[0]), "--orders"]
            orders = _pipe(spoken[1])
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
            yield
        finally:
            server.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                server.wait(SERVE_TIMEOUT_S)
            server.kill()
            server.communicate()
            if spoken is not None:
                spoken[1].unlink(missing_ok=True)


def _pipe(path: Path) -> int:
    """Make a named pipe and open both its ends, so that neither waits for the other."""
    path.unlink(missing_ok=True)
    os.mkfifo(path, 0o600)
    return os.open(path, os.O_RDWR)

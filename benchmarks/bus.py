"""The cost of an exchange with the bus, beside a bare C program on the same wire; with SDOs; with lost frames.

    python benchmarks/bus.py [--rounds 7] [--seconds 3] [--json FILE]

In a network namespace of its own, an emulated drive is a process at the other end of a veth pair, alone on its
core. Three variants take turns, each at 1 kHz, FIFO 80, on the same core:

bare C          wire/ping_pong.c: sends the very frame of a cycle, waits for its reply, looks at nothing
exchange        our bus block in a task: packs, sends, waits, checks every datagram, unpacks
with SDOs       the same, while another process reads objects back to back through the loop's mailbox service

A figure is the median over the rounds of each round's mean, p50 and p99; rounds that the hypervisor disturbed are
dropped and counted, as in lateness.py. At the end the emulator is stopped for some ms now and then: what a cycle
costs whose frame is lost, and whether one is bad that need not be.

Exit code 0: every bar holds. 1: one does not. 2: it cannot be measured here.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.console import Console
from timing.bars import Row, compared, judged_rounds, show
from timing.fifo import need_fifo
from timing.options import JsonFile
from timing.rounds import Lateness, interleaved

from io_bridge.attendant.mailbox_service import ask, socket_path
from io_bridge.buses.ethercat_bus import EthercatBus
from io_bridge.buses.simulated_bus import simulated_drive
from io_bridge.emulator.catalogue.device_file import drive_text
from io_bridge.host import namespace
from io_bridge.slaves.drive_config import DrivePlant
from io_bridge.wire.frame import WireDatagram, build, parse
from rt_core.host.facts import steal_ticks
from rt_core.loop.loop import Loop
from rt_core.plan import Task, plan_table
from rt_core.signals.table import RingReader, SignalTable

NEAR, FAR = namespace.PAIR
PERIOD_US, PRIORITY, BUDGET_US = 1000, 80, 300.0
CELLS = {f"drive/{port}": f"supervisor/{port}" for port in ("torque_nm", "enable", "reset")}
BARE_INDEX = 0x10  # of the bare program's frames: neither the cycle's nor a tool's
BARS = {"p50": None, "p99": 1.2}
SDO_LOOP = (
    "from io_bridge.attendant.mailbox_service import ask, socket_path\n"
    f"path = socket_path({NEAR!r})\n"
    "while True:\n    ask(path, 0, 0x6076, 0)\n"
)


class Wire:
    """The bus in OP, kept alive between the variants, and the programs beside it."""

    def __init__(self, bus: EthercatBus, segment: subprocess.Popen[str], folder: Path) -> None:
        self.bus, self.segment, self.folder = bus, segment, folder
        self.core = max(os.sched_getaffinity(0))
        self._keep()
        (folder / "frame").write_bytes(self._a_frame())
        subprocess.run(
            ["gcc", "-O2", "-o", folder / "ping_pong", Path(__file__).parent / "wire/ping_pong.c"],
            check=True,
        )

    def _keep(self) -> None:
        self.bus.block().stop_keeping(False)
        self._keeper = threading.Thread(
            target=self.bus.block().keep, args=(float(PERIOD_US),), daemon=True
        )
        self._keeper.start()

    def _a_frame(self) -> bytes:
        """Return a frame of the cycle as it comes to the slaves, with the bare program's index."""
        with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0) as wire:
            wire.bind((FAR, 0x88A4))
            wire.settimeout(5.0)
            while True:
                frame = wire.recv(2048)
                datagrams = parse(frame)
                if datagrams[0].index >= 0x80 and not any(d.wkc for d in datagrams):
                    return build(
                        [WireDatagram(d.command, BARE_INDEX, d.address, d.data) for d in datagrams]
                    )

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        self.bus.block().stop_keeping()
        self._keeper.join()
        try:
            yield
        finally:
            self._keep()

    def bare(self, seconds: float) -> Lateness:
        """Run the C program."""
        out = self.folder / "taken"
        count = round(seconds * 1e6 / PERIOD_US)
        command = [
            self.folder / "ping_pong",
            NEAR,
            self.folder / "frame",
            PERIOD_US,
            count,
            PRIORITY,
            self.core,
            out,
        ]
        with self._alone():
            subprocess.run([str(part) for part in command], check=True, timeout=10 * seconds + 60)
        taken = np.fromfile(out, dtype=np.int64)
        return _lateness(taken[taken > 0] / 1e3, lost=int((taken == 0).sum()))

    def exchange(self, seconds: float) -> Lateness:
        """Run our bus block in a task."""
        rows = self.rows(seconds)
        good = rows["bus/valid"] == 1.0
        return _lateness(rows["bus/exchange_ns"][good] / 1e3, lost=int((~good).sum()))

    def with_sdos(self, seconds: float) -> Lateness:
        """The same beside a process that reads objects without a pause."""
        with subprocess.Popen([sys.executable, "-P", "-c", SDO_LOOP]) as reader:
            try:
                time.sleep(0.5)  # its imports
                return self.exchange(seconds)
            finally:
                reader.kill()

    def rows(self, seconds: float, meanwhile: Callable[[], None] = lambda: None) -> np.ndarray:
        """Run a task with the bus block; return what it wrote in each cycle."""
        task = Task("t", [self.bus.block()], 1000 * PERIOD_US, priority=PRIORITY, core=self.core)
        plan = plan_table([task], CELLS.values())
        path = self.folder / "table"
        path.unlink(missing_ok=True)
        found = []
        with self._alone(), SignalTable.create(path, plan) as table:
            reader = RingReader(table, "t")
            loop = Loop(plan, table, fifo=True)
            loop.start()
            until = time.monotonic() + seconds
            while time.monotonic() < until:
                meanwhile()
                loop.wait(0.1)
                found.append(reader.drain())
            loop.finish(10.0)
            found.append(reader.drain())
            reader.close()
        # the first cycles wait for pages and caches
        return np.concatenate(found)[50:]

    def lost_frames(self, seconds: float) -> Row:
        """Stop the emulator for some ms ten times a second; what do the lost cycles cost, and which are bad?"""
        stopped: list[tuple[int, int]] = []

        def stop() -> None:
            begin = time.monotonic_ns()
            self.segment.send_signal(signal.SIGSTOP)
            time.sleep(0.002)
            self.segment.send_signal(signal.SIGCONT)
            stopped.append((begin, time.monotonic_ns()))

        rows = self.rows(seconds, stop)
        bad = rows[rows["bus/valid"] == 0.0]
        over_us = bad["bus/exchange_ns"] / 1e3 - BUDGET_US
        # a frame that was under way while the emulator stood still, or still had others before it
        needless = sum(
            not any(a - 1000 * BUDGET_US <= sent <= b + 1000 * PERIOD_US for a, b in stopped)
            for sent in bad["bus/sent_ns"]
        )
        p50, p99 = np.percentile(over_us, (50, 99)) if len(bad) else (np.nan, np.nan)
        return Row(
            "lost frames", "cycle beyond the budget, p50", f"{p50:.1f}", bar="≤ 50 µs", holds=bool(p50 <= 50.0),
            remark=f"{len(bad)} lost in {len(stopped)} stops, p99 {p99:.0f} µs, {needless} bad cycles outside of them",
        )  # fmt: skip


def _lateness(us: np.ndarray, **facts: int) -> Lateness:
    p50, p99, p99_9 = (float(p) for p in np.percentile(us, (50, 99, 99.9)))
    return Lateness(p50, p99, p99_9, len(us), {"mean": float(us.mean()), **facts})


@contextlib.contextmanager
def emulated(folder: Path) -> Iterator[Wire]:
    """An emulated drive at the other end, and the bus in OP."""
    plant = folder / "drive.toml"
    plant.write_text(drive_text(DrivePlant(hands="free")))
    cores = os.sched_getaffinity(0)
    segment = subprocess.Popen(
        [
            sys.executable,
            "-P",
            "-m",
            "io_bridge.emulator.serving.sim_segment",
            "--interface",
            FAR,
            plant,
        ],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert segment.stdout is not None
        segment.stdout.readline()
        os.sched_setaffinity(segment.pid, cores - {max(cores)} or cores)
        os.sched_setscheduler(segment.pid, os.SCHED_FIFO, os.sched_param(PRIORITY))
        # its watchdog outlasts what is done to it here
        drive = simulated_drive(DrivePlant())
        drive = type(drive)(**(vars(drive) | {"watchdog_ms": 1000.0}))
        with EthercatBus(NEAR, [drive], budget_us=BUDGET_US, paths=CELLS) as bus:
            bus.to_op()
            bus.attend()
            yield Wire(bus, segment, folder)
    finally:
        segment.kill()
        segment.wait()


def measure(rounds: int, seconds: float, tell: Callable[[str], None]) -> list[Row]:
    """Run everything; return the rows."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as name, emulated(Path(name)) as wire:
        found = interleaved(
            {
                "bare C": lambda: wire.bare(seconds),
                "exchange": lambda: wire.exchange(seconds),
                "with SDOs": lambda: wire.with_sdos(seconds),
            },
            rounds,
            tell,
        )
        begin = time.monotonic()
        n_sdos = 0
        while time.monotonic() < begin + 1.0:
            ask(socket_path(NEAR), 0, 0x6076, 0)
            n_sdos += 1
        lost = wire.lost_frames(max(seconds, 3.0))
    rows = compared("exchange", "ours / bare C", found, "exchange", "bare C", BARS)
    if found.n:
        ours, bare = (np.median(found.facts(name, "mean")) for name in ("exchange", "bare C"))
        rows.insert(
            0,
            Row(
                "exchange", "ours / bare C, mean", f"{ours:.1f}", f"{bare:.1f}", ours / bare, "≤ 1.1",
                bool(ours / bare <= 1.1), judged_rounds(found),
            ),
        )  # fmt: skip
    rows += compared("with SDOs", "with / without", found, "with SDOs", "exchange", BARS)
    cycles = sum(lateness.n for name in ("exchange", "with SDOs") for lateness in found.found[name])
    bad = {name: sum(found.facts(name, "lost")) for name in found.found} if found.n else {}
    rows.append(
        Row("with SDOs", "bad cycles", str(bad.get("with SDOs", "")), str(bad.get("exchange", "")),
            remark=f"against none beside; bare C lost {bad.get('bare C', '')}; {cycles} cycles; {n_sdos} SDOs a second")
    )  # fmt: skip
    return [*rows, lost]


def main(
    rounds: int = 7,
    seconds: Annotated[float, typer.Option(help="of one run")] = 3.0,
    as_json: JsonFile = None,
    inside: Annotated[bool, typer.Option("--inside", hidden=True)] = False,
) -> None:
    """Measure, print, judge."""
    console = Console()
    console.width = max(console.width, 120)
    if not inside:
        if (why := namespace.why_not()) is not None:
            console.print(why)
            raise typer.Exit(2)
        again = [sys.executable, __file__, "--inside", *sys.argv[1:]]
        raise typer.Exit(subprocess.call(namespace.wrap(again)))
    need_fifo(90, max(os.sched_getaffinity(0)), console)
    # slaves that come and go are what is measured here
    logging.getLogger("rigloop.bus").setLevel(logging.CRITICAL)
    began, steal = time.monotonic(), steal_ticks() or 0
    with console.status("") as status:
        rows = measure(rounds, seconds, lambda text: status.update(text))
    show(rows, console)
    console.print(
        f"{time.monotonic() - began:.0f} s, steal {(steal_ticks() or 0) - steal} ticks, load {os.getloadavg()[0]:.1f}"
    )
    if as_json:
        as_json.write_text(
            json.dumps([row.as_dict() for row in rows], indent=1, ensure_ascii=False)
        )
    if any(row.ours == "not measured" for row in rows):
        raise typer.Exit(2)
    raise typer.Exit(0 if all(row.holds is not False for row in rows) else 1)


if __name__ == "__main__":
    typer.run(main)

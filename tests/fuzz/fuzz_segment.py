"""Hostile frames against the emulated segment and against the cycle's reply parser, seeded.

    nice -n 15 python tests/fuzz/fuzz_segment.py --frames 10000000 --sanitize

At the segment: frames of a whole bring-up (and of object transfers of every kind) are changed, mixed with
datagrams at the registers where accesses have effects and with plain noise; cables and supplies come and
go. At the parser: a link that brings changed, old, foreign or no replies to the exchange of a bus. The
loops are hostile.pyx. With --sanitize all of it is compiled anew with AddressSanitizer and UBSan into a
temporary folder (gcc with libasan) and run there. The end is an error, a sanitizer's report, or a line of
counts for each.
"""

from __future__ import annotations

import argparse
import ctypes
import faulthandler
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from importlib.machinery import PathFinder
from pathlib import Path

from io_bridge.master.state_change import reach_now

HANG_S = 300.0
CHECK_FRAMES = 20_000
CORPUS = 4000


PLAIN = ("ek_coupler", "digital_io", "analog_io", "encoder_input", "bench_drive", "bench_drive")
QUIRKY = (
    "ek_coupler+slow_boot:s=0.0001",
    "digital_io+eeprom_managers_off+refused_transition:to=op",
    "analog_io+duplicate_reply+stale_reply+needs_setup:index=0x6000,sub=17,value=0",
    "two_axis_drive+busy_object:times=9+emergency+late_reply:ms=0.02+eeprom_mandatory",
    "fixed_pdo_drive+no_complete_access:answer=entry+endless_object+empty_object:index=0x1018"
    "+wrong_reply:field=command+emergency:at=op+slow_transition:preop_s=1e-4,safeop_s=1e-4,op_s=1e-4"
    "+latched_watchdog+watchdog_limit:ms=500+busy_eeprom:ms=0.02",
    "bench_drive+fault_at_power_up+eeprom_blank+wrong_reply:field=toggle+fixed_mapping"
    "+no_complete_access:answer=mailbox_error+eeprom_mailbox",
)
"""The same with foreign manners."""


class Target:
    """A rack and two drives in OP, and the frames that brought them there."""

    def __init__(self, names: Sequence[str]) -> None:
        from io_bridge.emulator.catalogue.devices import make_device
        from io_bridge.emulator.segment import Segment
        from io_bridge.master.bringup import Master

        self.segment = Segment([make_device(name) for name in names])
        self.n = len(names)
        self.corpus: list[bytes] = []
        self.master = Master(self.transact)

    def transact(self, frame: bytes) -> bytes | None:
        if len(self.corpus) < CORPUS:
            self.corpus.append(frame)
        return self.segment.process(frame, self.segment.now_ns + 10_000)

    def start(self) -> None:
        """From power-up to OP, by EEPROM and registers alone."""
        for position in range(self.n):
            self.segment.plug(position)
            self.segment.power_cycle(position)
        # some take their time until they answer
        self.segment.advance(self.segment.now_ns + 1_000_000)
        assert self.master.count() == self.n
        for position, device in enumerate(self.segment.devices):
            self.start_one(self.master.address(position), device.description)

    def start_one(self, station: int, description) -> None:
        master = self.master
        logical = station << 8
        for number, manager in enumerate(description.managers):
            pdos = {3: description.rx_pdos, 4: description.tx_pdos}.get(manager.use, ())
            bits = sum(e[2] for pdo in pdos if pdo.assigned for e in pdo.entries)
            size = manager.size or (bits + 7) // 8
            row = struct.pack("<HHBBBB", manager.start, size, manager.control, 0, 1, 0)
            master.write(station, 0x0800 + 8 * number, row)
            if manager.use > 2:
                kind = 2 if manager.use == 3 else 1
                row = (logical, size, 0, 7, manager.start, 0, kind, 1)
                packed = struct.pack("<IHBBHBBBxxx", *row)
                master.write(station, 0x0600 + 16 * (manager.use - 3), packed)
            if manager.use == 3:
                outputs = size
        for state in (2, 4, 8):
            if state == 4 and description.mailbox_bytes:
                self.talk(station, description.mailbox_bytes)
            if state == 8 and description.rx_pdos:
                master.access(11, logical & 0xFFFF, logical >> 16, bytes(outputs))
            # some refuse once
            reach_now(master, station, state)

    def talk(self, station: int, size: int) -> None:
        """Object transfers of every kind; what they say is of no interest here."""
        bodies = [
            (2, struct.pack("<BHBI", command, index, sub, value))
            for command in (0x40, 0x50, 0x23, 0x2F, 0x21, 0x31)
            for index, sub, value in (
                (0x1018, 0, 0),
                (0x1008, 0, 0),
                (0x2010, 0, 100),
                (0x7000, 1, 18),
            )
        ]
        bodies += [(2, struct.pack("<B23x", command)) for command in (0x60, 0x70, 0x00, 0x11, 0x80)]
        bodies += [
            (8, struct.pack("<BBHH4x", op, 0, 0, i)) for op in (1, 3, 5) for i in (1, 0x1018)
        ]
        for service, body in bodies:
            payload = struct.pack("<H", service << 12) + body
            message = struct.pack("<HHBB", len(payload), 0, 0, 3) + payload
            self.master.access(5, station, 0x1000, message.ljust(size, b"\0"))
            while self.master.access(4, station, 0x1100, bytes(size))[1]:
                pass


class Cycle:
    """A bus of coupler, terminal and two drives, in OP, whose replies a link makes up."""

    def __init__(self, seed: int) -> None:
        from hostile import LyingLink

        from io_bridge.buses.simulated_bus import simulated_drive
        from io_bridge.emulator.catalogue.device_file import find_device, load_device
        from io_bridge.emulator.drive.device import DriveDevice
        from io_bridge.emulator.segment import Segment
        from io_bridge.exchange.exchange import Exchange
        from io_bridge.master.bringup import Master, prepare
        from io_bridge.slaves.drive_config import DrivePlant
        from io_bridge.slaves.terminal_config import ChannelConfig, TerminalConfig

        plant = DrivePlant()
        names = ("ek_coupler", "digital_io")
        self.devices = [load_device(find_device(name)) for name in names]
        self.devices += [DriveDevice(plant), DriveDevice(plant)]
        self.segment = Segment(self.devices)
        lamp = ChannelConfig("lamp", 3)
        slaves = [
            TerminalConfig("coupler"),
            TerminalConfig("switches", (ChannelConfig("all", 0, 8),), (lamp,)),
            *(simulated_drive(plant, i, 2) for i in range(2)),
        ]
        # time is no part of it: the same seed is to give the same
        self.exchange = Exchange(slaves, budget_us=1e6)
        self.cells = [
            (ctypes.c_double * len(ports))()
            for ports in (self.exchange.reads, self.exchange.writes)
        ]
        self.exchange.bind(
            *([ctypes.addressof(row) + 8 * i for i in range(len(row))] for row in self.cells)
        )
        master = Master(lambda frame: self.segment.process(frame, self.segment.now_ns + 10_000))
        self.link = LyingLink(self.segment, seed)
        records = prepare(master, self.exchange.slaves)
        stations = [record.layout.station for record in records]
        self.exchange.configure(
            self.link,
            [record.layout for record in records],
            n_slaves=len(stations),
            clock_station=stations[0],
        )
        for station in stations:
            master.request(station, 8)
        self.exchange.safe = False
        self.exchange.in_service = True

    def run(self, cycles: int) -> int:
        """Step; return how often the reply was taken for valid."""
        valid = list(self.exchange.writes).index("valid")
        begin = self.segment.now_ns
        found = 0
        for k in range(1, cycles + 1):
            self.exchange.step(begin + 100_000 * k)
            found += self.cells[1][valid] == 1.0
        return found


def fuzz(frames: int, seed: int, names: Sequence[str], what: str) -> str:
    """Send frames into a segment; every so often it has to come up again as if nothing had been."""
    import hostile

    target = Target(names)
    target.start()
    corpus = hostile.Corpus(target.corpus)
    answered = 0
    begin = time.monotonic()
    for first in range(0, frames, CHECK_FRAMES):
        faulthandler.dump_traceback_later(HANG_S, exit=True)
        n = min(CHECK_FRAMES, frames - first)
        # xorshift has no state 0
        answered += hostile.attack(target.segment, corpus, seed << 32 | first + 1, n)
        target.start()
    seconds = time.monotonic() - begin
    return f"{what}: {frames} frames, {answered} answered, seed {seed}, {seconds:.0f} s: no mistake"


def fuzz_replies(cycles: int, seed: int) -> str:
    """Let a cycle read hostile replies."""
    begin = time.monotonic()
    told = valid = 0
    for first in range(0, cycles, CHECK_FRAMES):
        faulthandler.dump_traceback_later(HANG_S, exit=True)
        cycle = Cycle(seed << 32 | first + 1)
        valid += cycle.run(min(CHECK_FRAMES, cycles - first))
        told += cycle.link.told
    seconds = time.monotonic() - begin
    return f"replies: {cycles} cycles, {told} hostile, {valid} valid, seed {seed}, {seconds:.0f} s: no mistake"


class Sanitized:
    """Finds io_bridge in a folder, whatever an editable install says; what is not there, nowhere."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def find_spec(self, name: str, path: object = None, target: object = None) -> object:
        if name.partition(".")[0] != "io_bridge":
            return None
        return PathFinder.find_spec(name, path or [self.folder])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--frames",
        type=int,
        default=100_000,
        help="at the segment, and cycles that read hostile replies",
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sanitize", action="store_true", help="compile with ASan and UBSan first")
    parser.add_argument("--from", dest="folder", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if not options.folder:
        return in_a_folder(options.sanitize, sys.argv[1:])
    sys.path.insert(0, options.folder)
    if options.sanitize:
        sys.meta_path.insert(0, Sanitized(options.folder))
        import io_bridge.emulator.segment

        assert io_bridge.emulator.segment.__file__.startswith(options.folder), (
            "not the sanitized build"
        )
    print(fuzz(options.frames, options.seed, PLAIN, "segment"), flush=True)
    print(fuzz(options.frames, options.seed, QUIRKY, "segment with quirks"), flush=True)
    print(fuzz_replies(options.frames, options.seed))
    faulthandler.cancel_dump_traceback_later()
    return 0


def in_a_folder(sanitize: bool, arguments: list[str]) -> int:
    """Compile into a temporary folder, and run this script once more on it; return its exit code."""
    import compiled

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        environment = None
        if sanitize:
            libraries = compiled.sanitizers()
            if not libraries:
                print("gcc has no libasan.so or libubsan.so", file=sys.stderr)
                return 2
            compiled.compile_with_sanitizers(folder)
            environment = compiled.environment(folder, libraries)
        else:
            compiled.compile_loops(folder, "-O1")
        command = [sys.executable, __file__, *arguments, "--from", name]
        return subprocess.run(command, env=environment).returncode


if __name__ == "__main__":
    sys.exit(main())

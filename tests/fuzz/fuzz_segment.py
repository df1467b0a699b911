"""Hostile frames against the emulated segment, seeded, with or without sanitizers.

    python tests/fuzz/fuzz_segment.py --frames 10000000 --sanitize

Frames of a whole bring-up (and of object transfers of every kind) are mutated, mixed with datagrams at
the registers where accesses have effects and with plain noise; cables and supplies come and go. With
--sanitize the emulator is compiled anew with AddressSanitizer and UBSan into a temporary folder (gcc with
libasan) and run there. The end is an error, a sanitizer's report, or one line of counts.
"""

from __future__ import annotations

import argparse
import faulthandler
import os
import random
import struct
import subprocess
import sys
import sysconfig
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).parents[2]
EMULATOR = (
    "esc_*",
    "coe*",
    "complete_access",
    "object_dictionary",
    "pdo_mapping",
    "topology",
    "segment",
    "frame",
    "drive_device",
    "drive_plant",
    "devices/*",
)
SANITIZE = ("-fsanitize=address,undefined", "-fno-omit-frame-pointer", "-g", "-O1")
HANG_S = 120.0
CHECK_FRAMES = 20_000
INTERESTING = (0, 1, 2, 3, 7, 0x7F, 0x80, 0xFF, 0x100, 0x7FF, 0x800, 0x1000, 0x3000, 0x7FFF, 0xFFFF)
PLACES = (
    *(
        0x0000,
        0x0010,
        0x0100,
        0x0120,
        0x0130,
        0x0400,
        0x0420,
        0x0440,
        0x0500,
        0x0502,
        0x0504,
        0x0508,
    ),
    *(
        0x0600,
        0x0610,
        0x0620,
        0x0630,
        0x0800,
        0x0808,
        0x0810,
        0x0818,
        0x080E,
        0x0900,
        0x0910,
        0x0920,
    ),
    *(
        0x0930,
        0x0934,
        0x0981,
        0x0990,
        0x0FFF,
        0x1000,
        0x1100,
        0x1200,
        0x1800,
        0x2FFE,
        0x2FFF,
        0x3000,
    ),
)


def build(folder: Path) -> None:
    """Compile the emulator with sanitizers; the rest of the room is linked beside it."""
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    sources = [
        path for name in EMULATOR for path in sorted((ROOT / "io_bridge").glob(f"{name}.pyx"))
    ]
    for path in (ROOT / "io_bridge").rglob("*"):
        if path.suffix in (".py", ".toml"):
            target = folder / path.relative_to(ROOT)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.symlink_to(path)

    def one(source: Path) -> None:
        module = ".".join(source.relative_to(ROOT).with_suffix("").parts)
        text = folder / source.relative_to(ROOT).with_suffix(".c")
        directives = ("boundscheck", "wraparound", "initializedcheck")
        options = [f"-X{name}=False" for name in directives] + ["-Xcdivision=True"]
        cython = [sys.executable, "-m", "cython", "-3", "--module-name", module, *options]
        subprocess.run([*cython, "-I", ROOT, source, "-o", text], check=True)
        include = f"-I{sysconfig.get_path('include')}"
        out = text.with_name(source.stem + suffix)
        gcc = ["gcc", "-shared", "-fPIC", "-w", "-D_GNU_SOURCE", *SANITIZE, include]
        subprocess.run([*gcc, text, "-o", out, "-lm"], check=True)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(one, sources))


def again_with_sanitizers(arguments: list[str]) -> int:
    """Run this script once more on a sanitized build; return its exit code."""
    found = [
        subprocess.run(
            ["gcc", f"-print-file-name={name}"], capture_output=True, text=True, check=True
        ).stdout.strip()
        for name in ("libasan.so", "libubsan.so")
    ]
    if any("/" not in path for path in found):
        print("gcc has no libasan.so or libubsan.so", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        build(folder)
        environment = os.environ | {
            "LD_PRELOAD": " ".join(found),
            "PYTHONPATH": os.pathsep.join([name, str(ROOT)]),
            # every device is a block of its own, so that its ends are guarded
            "PYTHONMALLOC": "malloc",
            "ASAN_OPTIONS": "detect_leaks=0:abort_on_error=1",
            "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
        }
        command = [sys.executable, __file__, *arguments, "--from", name]
        return subprocess.run(command, env=environment).returncode


class Target:
    """A rack and two drives in OP, and the frames that brought them there."""

    def __init__(self) -> None:
        from io_bridge.bringup import Master
        from io_bridge.devices.device_file import find_device, load_device
        from io_bridge.segment import Segment

        names = (
            "ek_coupler",
            "digital_io",
            "analog_io",
            "encoder_input",
            "bench_drive",
            "bench_drive",
        )
        self.segment = Segment([load_device(find_device(name)) for name in names])
        self.n = len(names)
        self.corpus: list[bytes] = []
        self.master = Master(self.transact)

    def transact(self, frame: bytes) -> bytes | None:
        if len(self.corpus) < 4000:
            self.corpus.append(frame)
        return self.segment.process(frame, self.segment.now_ns + 10_000)

    def start(self) -> None:
        """From power-up to OP, by EEPROM and registers alone."""
        for position in range(self.n):
            self.segment.plug(position)
            self.segment.power_cycle(position)
        assert self.master.count() == self.n
        for position, device in enumerate(self.segment.devices):
            self.start_one(self.master.address(position), device.description)

    def start_one(self, station: int, description) -> None:
        master = self.master
        logical = station << 8
        for number, manager in enumerate(description.managers):
            pdos = {3: description.rx_pdos, 4: description.tx_pdos}.get(manager.use, ())
            bits = sum(entry[2] for pdo in pdos for entry in pdo.entries)
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
            master.request(station, state)
            master.await_state(station, state)

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


def mutated(rng: random.Random, frame: bytes) -> bytes:
    data = bytearray(frame)
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(14, len(data))
        what = rng.random()
        if what < 0.45:
            data[at] = rng.getrandbits(8)
        elif what < 0.8:
            data[at : at + 2] = struct.pack("<H", rng.choice(INTERESTING))
        elif what < 0.9:
            data += rng.randbytes(rng.randrange(1, 64))
        else:
            del data[max(at, 20) :]
    return bytes(data[:1514])


def datagram(rng: random.Random) -> bytes:
    """One datagram that is well formed, and means no good."""
    size = rng.choice((1, 2, 4, 8, 16, 128, rng.randrange(1, 1400)))
    who = rng.choice((0, 0xFFFF, 0x1001 + rng.randrange(6), rng.getrandbits(16)))
    where = rng.choice(PLACES) + rng.choice((0, 0, 0, 1, 2, -1))
    head = struct.pack(
        "<BBHHHH", rng.randrange(16), rng.getrandbits(8), who, where & 0xFFFF, size & 0x7FF, 0
    )
    body = head + rng.randbytes(size) + b"\0\0"
    return bytes(6) + b"\x10" * 6 + b"\x88\xa4" + struct.pack("<H", len(body) | 0x1000) + body


def fuzz(frames: int, seed: int) -> str:
    rng = random.Random(seed)
    target = Target()
    target.start()
    segment = target.segment
    answered = 0
    begin = time.monotonic()
    for n in range(frames):
        what = rng.random()
        if what < 0.55:
            frame = mutated(rng, rng.choice(target.corpus))
        elif what < 0.9:
            frame = datagram(rng)
        else:
            frame = rng.randbytes(rng.randrange(0, 1600))
        now = segment.now_ns + rng.choice((0, 1, 1000, 100_000, 3_000_000))
        if rng.random() < 0.1:
            reply, _ = segment.process_end(frame, now, rng.getrandbits(1))
        else:
            reply = segment.process(frame, now)
        assert reply is None or len(reply) == len(frame)
        answered += reply is not None
        if n % 1000 == 999:
            act = rng.choice((segment.plug, segment.unplug, segment.power_cycle, segment.power_on))
            act(rng.randrange(target.n))
        if n % CHECK_FRAMES == CHECK_FRAMES - 1:
            faulthandler.dump_traceback_later(HANG_S, exit=True)
            target.start()
    target.start()
    faulthandler.cancel_dump_traceback_later()
    seconds = time.monotonic() - begin
    return f"{frames} frames, {answered} answered, seed {seed}, {seconds:.0f} s: no mistake"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--frames", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sanitize", action="store_true", help="compile with ASan and UBSan first")
    parser.add_argument("--from", dest="folder", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.sanitize and not options.folder:
        return again_with_sanitizers(sys.argv[1:])
    if options.folder:
        import io_bridge.segment

        assert io_bridge.segment.__file__.startswith(options.folder), "not the sanitized build"
    faulthandler.dump_traceback_later(HANG_S, exit=True)
    print(fuzz(options.frames, options.seed))
    return 0


if __name__ == "__main__":
    sys.exit(main())

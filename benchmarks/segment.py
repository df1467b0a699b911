"""The cost of the emulated segment: CPU time of a frame through 1 and 8 drives, of its parts, and of single datagrams.

    python benchmarks/segment.py [--rounds 31] [--json]

The frame is that of the cycle: the reference clock, the AL states of all, and per drive its AL state, its
clock, inputs and outputs; every drive is in OP, enabled, and its motor turns a wheel on a spring. A frame
comes every 200 µs or every 1 ms of simulated time. Rounds go in turn; the table has the median and the least
of CPU time per frame.

"datagrams" is the same frame while no time passes: what the slave controllers do. "physics" is what the frame
costs beyond it, of all drives together: motor, wheel and hands, and their values in the objects. "a further
ms of a drive" is from a frame every 10 ms. Both are differences. Datagrams by kind are those of
a frame that is full of one, beyond a frame with one of them.
"""

from __future__ import annotations

import json
import os
import statistics
import struct
import time
from collections.abc import Callable
from typing import Annotated

import typer

from io_bridge.buses.simulated_bus import simulated_drive
from io_bridge.emulator.drive.device import DriveDevice
from io_bridge.emulator.segment import Segment
from io_bridge.master.bringup import Master, prepare
from io_bridge.slaves.drive_config import DrivePlant
from io_bridge.slaves.pdo_layout import SlaveRecord
from io_bridge.wire.frame import WireDatagram, build, parse

FRAMES = 2_000  # a round: short, so that few are interrupted
BAR_NS = {1: 1000.0, 8: 3000.0}
FPRD, BRD, LRD, LWR, FRMW = 4, 7, 10, 11, 14
CLOCK_BYTES = 0x20
ENABLE = (6, 7, 15)
TORQUE_MODE = 10
PERIODS_US = (200, 1000)
LONG_US = 10_000


class Bench:
    """Drives in OP, enabled, and the frame of their cycle."""

    def __init__(self, n: int) -> None:
        plants = [DrivePlant() for _ in range(n)]
        self.devices = [DriveDevice(plant) for plant in plants]
        self.segment = Segment(self.devices)
        master = Master(lambda frame: self.segment.process(frame, self.segment.now_ns + 10_000))
        drives = [simulated_drive(plant, i, n) for i, plant in enumerate(plants)]
        self.records = prepare(master, drives)
        for station in (record.layout.station for record in self.records):
            master.request(station, 8)
        for control in (0, *ENABLE):
            self.frame = build(cycle_datagrams(self.records, control))
            self.segment.run(self.frame, 2, 1_000_000)
        expect(self.devices, self.segment.run(self.frame, 1, 1_000_000), n)


def cycle_datagrams(records: list[SlaveRecord], control: int) -> list[WireDatagram]:
    """Return the datagrams of one cycle, with 5 % of the rated torque."""
    first = records[0].layout.station
    found = [
        WireDatagram(FRMW, 0x80, 0x0910 << 16 | first, bytes(8)),
        WireDatagram(BRD, 0x80, 0x0130 << 16, bytes(2)),
    ]
    for layout in (record.layout for record in records):
        outputs = struct.pack("<HhB", control, 50, TORQUE_MODE).ljust(layout.n_outputs, b"\0")
        found += [
            WireDatagram(FPRD, 0x80, 0x0130 << 16 | layout.station, bytes(6)),
            WireDatagram(FPRD, 0x80, 0x0910 << 16 | layout.station, bytes(CLOCK_BYTES)),
            WireDatagram(LRD, 0x80, layout.inputs_at, bytes(layout.n_inputs)),
            WireDatagram(LWR, 0x80, layout.outputs_at, outputs),
        ]
    return found


def expect(devices: list[DriveDevice], frame: bytes | None, n: int) -> None:
    """Make sure that the frame is what a cycle has: nothing is measured of drives that do not run."""
    counters = [item.wkc for item in parse(frame or b"")]
    if counters != [n, n, *[1] * (4 * n)] or any(d.statusword != 0x37 for d in devices):
        raise SystemExit(f"the drives do not run: working counters {counters}")


def datagram_frames(bench: Bench) -> dict[str, tuple[bytes, bytes, int]]:
    """Return for each kind a frame with one datagram, one with many, and how many there are more."""
    layout = bench.records[0].layout
    kinds = {
        "FPRD of 6 bytes": WireDatagram(FPRD, 0x80, 0x0130 << 16 | layout.station, bytes(6)),
        "FPRD of somebody else": WireDatagram(FPRD, 0x80, 0x0130 << 16 | 0x3FFF, bytes(6)),
        "BRD of 2 bytes": WireDatagram(BRD, 0x80, 0x0130 << 16, bytes(2)),
        "LRD of the inputs": WireDatagram(LRD, 0x80, layout.inputs_at, bytes(layout.n_inputs)),
        "LRD of somebody else": WireDatagram(LRD, 0x80, 0x7F000000, bytes(layout.n_inputs)),
    }
    many = 41
    return {name: (build([d]), build([d] * many), many - 1) for name, d in kinds.items()}


def cpu_ns(run: Callable[[], object], frames: int) -> float:
    begin = time.thread_time_ns()
    run()
    return (time.thread_time_ns() - begin) / frames


Row = dict[str, float]
Run = tuple[Segment, bytes, int]


def median_and_least(values: list[float]) -> Row:
    return {"median_ns": statistics.median(values), "least_ns": min(values)}


def beyond(more: list[float], less: list[float], n: int) -> Row:
    """Return what each of n costs that `more` has beyond `less`: median within a round, and of the least of both."""
    each = [(a - b) / n for a, b in zip(more, less, strict=True)]
    return {"median_ns": statistics.median(each), "least_ns": (min(more) - min(less)) / n}


def sampled(runs: dict[str, Run], rounds: int) -> dict[str, list[float]]:
    """Return the CPU time per frame of every run, a value a round."""
    samples: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(rounds):
        for name, (segment, frame, us) in runs.items():
            samples[name].append(
                cpu_ns(lambda s=segment, f=frame, p=us: s.run(f, FRAMES, 1000 * p), FRAMES)  # type: ignore[misc]
            )
    return samples


def measured(rounds: int) -> dict[str, Row]:
    """Return median and least CPU time of every row, in ns."""
    benches = {n: Bench(n) for n in BAR_NS}
    runs: dict[str, Run] = {
        f"{n} at {us}": (bench.segment, bench.frame, us)
        for n, bench in benches.items()
        for us in (0, *PERIODS_US, LONG_US)
    }
    kinds = datagram_frames(benches[1])
    for name, (one, many, _) in kinds.items():
        runs |= {name: (benches[1].segment, many, 0), f"{name}, one": (benches[1].segment, one, 0)}
    samples = sampled(runs, rounds)
    found: dict[str, Row] = {}
    for n, bar in BAR_NS.items():
        drives = f"{n} drive{'s' * (n > 1)}"
        still = samples[f"{n} at 0"]
        for us in PERIODS_US:
            found[f"frame, {drives}, every {us} us"] = {
                **median_and_least(samples[f"{n} at {us}"]),
                "bar_ns": bar,
            }
        found[f"  datagrams, {drives}"] = median_and_least(still)
        for us in PERIODS_US:
            found[f"  physics, {drives}, {us} us"] = beyond(samples[f"{n} at {us}"], still, 1)
        more_ms = (LONG_US - PERIODS_US[-1]) // 1000
        found[f"  a further ms of a drive, of {n}"] = beyond(
            samples[f"{n} at {LONG_US}"], samples[f"{n} at {PERIODS_US[-1]}"], n * more_ms
        )
    for name, (_, _, more) in kinds.items():
        found[name] = beyond(samples[name], samples[f"{name}, one"], more)
    return found


def main(
    rounds: int = 31,
    as_json: Annotated[bool, typer.Option("--json")] = False,
) -> None:
    found = measured(rounds)
    if as_json:
        print(json.dumps(found, indent=2))
        return
    print(f"{rounds} rounds of {FRAMES} frames, load {os.getloadavg()[0]:.1f}")
    for name, row in found.items():
        bar = f"   bar {row['bar_ns']:.0f}" if "bar_ns" in row else ""
        print(
            f"{name:34s} median {row['median_ns']:8.1f} ns   least {row['least_ns']:8.1f} ns{bar}"
        )


if __name__ == "__main__":
    typer.run(main)

import math
import struct

import pytest
from al_states import await_now

from io_bridge.emulator.drive.device import DriveDevice
from io_bridge.emulator.segment import Segment
from io_bridge.master.bringup import BringUpError, Master, to_safeop
from io_bridge.slaves.drive_config import DriveConfig

FRMW, BWR, LWR = 14, 8, 11
CYCLE_NS = 1_000_000


class Pair:
    """Two slaves, the first one the reference; `cycle` distributes its time once."""

    def __init__(self, drift_ppm, cycle_ns=CYCLE_NS):
        self.devices = DriveDevice(), DriveDevice()
        self.devices[1].clock_start_ns = 12_345_678_900
        self.segment = Segment(self.devices)
        self.now = 0
        self.cycle_ns = cycle_ns
        self.master = Master(self.transact)
        for i in range(2):
            self.master.address(i)
        # the start: both to the same time, and the delay of the cable between them
        self.master.access(BWR, 0, 0x0900, bytes(4))
        local = [int.from_bytes(self.master.read(s, 0x0918, 8), "little") for s in (0x1001, 0x1002)]
        self.master.write(0x1002, 0x0920, struct.pack("<q", local[0] + 400 - local[1]))
        self.master.write(0x1002, 0x0928, struct.pack("<I", 400))
        self.devices[1].clock_drift_ppm = drift_ppm

    def transact(self, frame):
        self.now += 10_000
        return self.segment.process(frame, self.now)

    def cycle(self):
        self.now += self.cycle_ns - 10_000
        self.master.access(FRMW, 0x1001, 0x0910, bytes(8))
        # at one and the same moment, one frame's travel taken off
        return self.devices[1].system_time_ns - 400 - self.devices[0].system_time_ns

    def difference(self):
        word = int.from_bytes(self.master.read(0x1002, 0x092C, 4), "little")
        return -(word & 0x7FFFFFFF) if word >> 31 else word


@pytest.mark.parametrize("ppm", [20.0, -20.0, 100.0])
@pytest.mark.parametrize("cycle_ns", [250_000, 1_000_000, 4_000_000])
def test_the_loop_takes_a_drift_away(ppm, cycle_ns):
    pair = Pair(ppm, cycle_ns)
    for _ in range(int(2e9 / cycle_ns)):
        pair.cycle()
    errors = [pair.cycle() for _ in range(200)]
    # well below the 1 us that a drive needs; what is left is the rounding to whole ns
    assert math.sqrt(sum(e * e for e in errors) / len(errors)) < 20
    assert abs(pair.difference()) < 20


def test_without_the_reference_a_drift_adds_up():
    pair = Pair(20.0)
    pair.now += 1_000_000_000
    pair.master.read(0x1002, 0x0910, 8)
    first, second = (device.system_time_ns for device in pair.devices)
    assert second - first - 400 == pytest.approx(20_000, abs=10)


def test_a_power_cycle_sets_the_clock_back_but_keeps_the_crystal():
    pair = Pair(20.0)
    pair.now += 1_000_000_000
    pair.segment.advance(pair.now)
    pair.segment.power_cycle(1)
    arrival = 500
    assert pair.devices[1].system_time_ns == 12_345_678_900 + arrival
    pair.segment.advance(pair.now + 1_000_000_000)
    assert pair.devices[1].system_time_ns == 12_345_678_900 + 1_000_020_000 + arrival


def test_a_new_filter_starts_the_loop_over():
    pair = Pair(50.0)
    for _ in range(2000):
        pair.cycle()
    pair.master.write(0x1002, 0x0934, b"\4")
    before = pair.cycle()
    pair.now += 10_000_000
    pair.master.read(0x1002, 0x0910, 2)
    after = pair.devices[1].system_time_ns - 400 - pair.devices[0].system_time_ns
    # without its correction the crystal's 50 ppm are back: 500 ns in 10 ms
    assert after - before == pytest.approx(500, abs=60)


@pytest.mark.parametrize("ppm", [1001, -1001, math.nan])
def test_an_impossible_drift_is_refused(ppm):
    with pytest.raises(ValueError, match="clock_drift_ppm"):
        DriveDevice().clock_drift_ppm = ppm


@pytest.fixture
def in_safeop():
    segment = Segment([DriveDevice()])
    master = Master(lambda frame: segment.process(frame, segment.now_ns + 10_000))
    layout = to_safeop(master, [DriveConfig()])[0]
    master.access(LWR, layout.outputs_at, 0, bytes(layout.n_outputs))
    return master, segment


def activate(master, start_ns):
    master.write(0x1001, 0x0990, struct.pack("<Q", start_ns))
    master.write(0x1001, 0x09A0, struct.pack("<I", 1_000_000))
    master.write(0x1001, 0x0981, b"\3")


def test_op_needs_a_sync0_that_was_started_ahead_of_its_time(in_safeop):
    master, segment = in_safeop
    activate(master, 1)
    master.request(0x1001, 8)
    with pytest.raises(BringUpError, match="0x002d no sync error"):
        await_now(master, 0x1001, 8)
    master.write(0x1001, 0x0981, b"\0")
    activate(master, segment.devices[0].system_time_ns + 1_000_000)
    master.request(0x1001, 8)
    await_now(master, 0x1001, 8)


def test_op_without_distributed_clocks_needs_no_sync0(in_safeop):
    master, _ = in_safeop
    master.request(0x1001, 8)
    await_now(master, 0x1001, 8)

"""What the cells of each slave say: before the first reply, with a slave that does not answer, with clocks apart."""

import math
import re
import socket
from concurrent.futures import ThreadPoolExecutor

import pytest

from io_bridge.buses.simulated_bus import SimulatedBus
from io_bridge.emulator.drive.device import DriveDevice
from io_bridge.emulator.segment import Segment
from io_bridge.exchange.exchange import Exchange
from io_bridge.master.bringup import prepare
from io_bridge.master.master import Master
from io_bridge.slaves.drive_config import DriveConfig, DrivePlant
from io_bridge.wire.frame import WireDatagram, build
from io_bridge.wire.redundant_socket import RedundantSocket

FREE = DrivePlant(hands="free")
FPWR, CLOCK_DELAY = 5, 0x0928
COUNTED = ("al_state", "al_code", "wkc", "wkc_expected", "wkc_min", "invalid_cycles")


def of(r, name="drive", ports=COUNTED):
    return [r.cells[f"{name}/{port}"] for port in ports]


def test_cells_begin_with_what_is_expected_each_time_a_bus_is_brought_up(cells, rig):
    r = rig([FREE])
    r.step()
    r.bus.link.drop_frames(2)
    r.step(2)
    assert of(r) == [8, 0, 0, 2, 0, 2]
    # a bus that is brought up again counts from the beginning
    r.bus.close()
    r.bus.to_op()
    assert of(r)[3:] == [2, 2, 0]
    fresh = SimulatedBus([FREE])
    fresh_cells = cells(fresh.block())
    assert fresh.block().slave_status(0) == (0, 0, 0, 0, False)
    assert math.isnan(fresh_cells["drive/dc_difference_ns"])
    assert [fresh_cells[f"drive/{port}"] for port in ("wkc_min", "invalid_cycles")] == [0, 0]


def test_each_bad_cycle_is_counted_once_whatever_was_bad(rig):
    r = rig([FREE])
    r.step()
    assert of(r) == [8, 0, 2, 2, 2, 0]
    for n in (1, 2, 3):
        r.bus.link.drop_frames(1)
        r.step()
        assert of(r) == [8, 0, 0, 2, 0, n]
        r.step()
        assert of(r) == [8, 0, 2, 2, 0, n]
    r.bus.devices[0].frozen = True
    r.step()
    assert of(r)[-1] == 4


def test_a_slave_that_does_not_answer_has_no_state(rig):
    r = rig([FREE, FREE])
    r.step()
    r.bus.devices[1].mute = True
    r.step()
    assert of(r, "drive1") == [0, 0, 0, 2, 0, 1]
    assert of(r, "drive0") == [8, 0, 2, 2, 2, 0]
    r.bus.devices[1].mute = False
    r.step()
    assert of(r, "drive1") == [8, 0, 2, 2, 0, 1]


def test_the_first_slave_is_named_as_the_culprit_too(rig):
    r = rig([FREE, FREE])
    assert r.block.culprit is None
    for place in (0, 1):
        r.bus.devices[place].mute = True
        r.step(3)
        assert r.block.culprit == place
        r.bus.devices[place].mute = False
        r.step(40)


@pytest.mark.parametrize(("enable", "operational"), [(0.5, 0), (0.51, 1), (math.nan, 0)])
def test_an_enable_is_more_than_half(rig, enable, operational):
    r = rig([FREE])
    r.cells["drive/enable"] = enable
    r.step(9)
    assert r.cells["drive/operational"] == operational


def test_the_statusword_is_the_one_of_the_reply(rig):
    r = rig([FREE])
    r.enable()
    assert int(r.cells["drive/statusword"]) & 0x6F == 0x27
    assert int(r.cells["drive/statusword"]) == r.bus.devices[0].statusword
    r.bus.devices[0].trip(0x2310)
    r.step()
    assert int(r.cells["drive/statusword"]) & 0x4F == 0x08


def test_a_fault_while_the_drive_was_at_rest_holds_nothing(rig):
    r = rig([FREE])
    r.enable()
    r.cells["drive/torque_nm"] = 1.0
    r.step(3)
    r.cells["drive/enable"] = 0
    r.step(2)
    r.bus.link.drop_frames(3)
    r.step(2)
    # enabled in the cycle in which the fault is found: nothing was acting
    r.cells["drive/enable"] = 1
    assert r.step() == 2
    assert r.block.counters["held"] == 0
    r.step(10)
    assert r.bus.devices[0].wanted_torque_nm == pytest.approx(1.0, abs=0.00637)


def test_clocks_apart_are_told_with_the_sign_of_the_difference(rig):
    r = rig([FREE, FREE])
    r.step(3)
    assert of(r, "drive1", ["dc_difference_ns"]) == [0]
    # with a longer way from the reference clock its time has to be later than it is
    for delay_ns, sign in ((400, -1), (0, 1)):
        delay = WireDatagram(FPWR, 0, CLOCK_DELAY << 16 | 0x1002, delay_ns.to_bytes(4, "little"))
        r.bus.link.transact(build([delay]), 0)
        r.step()
        (difference,) = of(r, "drive1", ["dc_difference_ns"])
        assert 300 < sign * difference <= 400
        assert r.block.differences_ns == [0, difference]
        r.step(200)
        assert abs(r.cells["drive1/dc_difference_ns"]) < 20


def test_a_slave_whose_clock_does_not_answer_has_old_data(cells):
    pairs = [socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM) for _ in range(2)]
    segment = Segment([DriveDevice(FREE)])
    master = Master(lambda frame: segment.process(frame, segment.now_ns + 1000))
    block = Exchange([DriveConfig()], budget_us=1e6)
    table = cells(block)
    (record,) = prepare(master, block.slaves)
    block.configure(RedundantSocket(pairs[0][0], pairs[1][0]), [record.layout], n_slaves=1)

    def step(change=lambda frame: frame):
        """One cycle over a ring that is open behind the slave."""
        stepping = pool.submit(block.step, 0)
        first, second = (pair[1].recv(2048) for pair in pairs)
        pairs[0][1].send(change(segment.process(first, segment.now_ns + 1_000_000)))
        pairs[1][1].send(second)
        stepping.result(20.0)
        return table["drive/valid"], table["drive/wkc"]

    def without_clock(frame):
        changed = bytearray(frame)
        (at,) = (m.start() for m in re.finditer(rb"\x04.\x01\x10\x10\x09", frame, re.DOTALL))
        assert frame[at + 10 + 32] == 1
        changed[at + 10 + 32] = 0
        return bytes(changed)

    with ThreadPoolExecutor(1) as pool:
        step()
        master.request(0x1001, 8)
        assert step() == (1, 2)
        assert step(without_clock) == (0, 2)
        assert step() == (1, 2)

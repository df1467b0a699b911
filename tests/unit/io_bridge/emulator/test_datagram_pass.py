"""What one datagram of a frame does to the slaves is there for the next one."""

import struct

import pytest

from io_bridge.emulator.drive.device import DriveDevice
from io_bridge.emulator.segment import Segment
from io_bridge.slaves.drive_config import DrivePlant
from io_bridge.wire.frame import WireDatagram, build, parse

APWR, FPRD, FPWR, BWR, LRD, LRW = 2, 4, 5, 8, 10, 12
STATION, ALIAS_USE, FMMU, RAM = 0x0010, 0x0103, 0x0600, 0x1800


@pytest.fixture
def segment():
    return Segment([DriveDevice(DrivePlant(hands="free")) for _ in range(3)])


def passed(segment, *datagrams):
    frame = build([WireDatagram(command, 0x80, *rest) for command, *rest in datagrams])
    return parse(segment.process(frame, segment.now_ns + 1000))


def at(register, position_or_station):
    return register << 16 | position_or_station & 0xFFFF


def test_a_station_address_holds_from_the_next_datagram_on(segment):
    found = passed(
        segment,
        (FPRD, at(0, 0x1234), bytes(1)),
        (APWR, at(STATION, -1), struct.pack("<H", 0x1234)),
        (FPRD, at(STATION, 0x1234), bytes(2)),
        (FPWR, at(STATION, 0x1234), struct.pack("<H", 0x4321)),
        (FPRD, at(STATION, 0x1234), bytes(2)),
        (FPRD, at(STATION, 0x4321), bytes(2)),
    )
    assert [d.wkc for d in found] == [0, 1, 1, 1, 0, 1]
    assert found[2].data == struct.pack("<H", 0x1234)
    assert found[5].data == struct.pack("<H", 0x4321)


def test_an_alias_holds_while_it_is_in_use(segment):
    alias = struct.pack("<H", 0x0777)
    found = passed(
        segment,
        (APWR, at(STATION + 2, -2), alias),
        (FPRD, at(0, 0x0777), bytes(1)),
        (APWR, at(ALIAS_USE, -2), b"\1"),
        (FPRD, at(STATION + 2, 0x0777), bytes(2)),
        (APWR, at(ALIAS_USE, -2), b"\0"),
        (FPRD, at(0, 0x0777), bytes(1)),
    )
    assert [d.wkc for d in found] == [1, 0, 1, 1, 1, 0]
    assert found[3].data == alias


def test_logical_memory_is_where_the_datagram_before_has_put_it(segment):
    def mapped(logical, direction):
        return struct.pack("<IHBBHBBBxxx", logical, 4, 0, 7, RAM, 0, direction, 1)

    found = passed(
        segment,
        (APWR, at(RAM, -1), b"abcd"),
        (LRD, 0x4000, bytes(4)),
        (APWR, at(FMMU, -1), mapped(0x4000, 1)),
        (LRD, 0x4000, bytes(4)),
        (APWR, at(FMMU, -1), mapped(0x5000, 3)),
        (LRD, 0x4000, bytes(4)),
        (LRW, 0x5000, b"efgh"),
        (LRD, 0x5000, bytes(4)),
    )
    assert [d.wkc for d in found] == [1, 0, 1, 1, 1, 0, 3, 1]
    assert found[3].data == b"abcd"
    assert found[7].data == b"efgh"


def test_a_slave_without_power_is_passed_by_and_the_others_count(segment):
    passed(segment, *((APWR, at(STATION, -i), struct.pack("<H", 0x1000 + i)) for i in range(3)))
    segment.devices[1].mute = True
    found = passed(
        segment,
        (BWR, at(RAM, 0), b"x"),
        (FPRD, at(RAM, 0x1001), bytes(1)),
        (FPRD, at(RAM, 0x1002), bytes(1)),
        (APWR, at(RAM, -1), b"y"),
        (FPRD, at(RAM, 0x1002), bytes(1)),
    )
    assert [d.wkc for d in found] == [2, 0, 1, 1, 1]
    assert found[4].data == b"y"


def test_slaves_that_share_an_address_all_answer_in_order(segment):
    datagrams = [(APWR, at(STATION, -i), struct.pack("<H", 0x1000 + i % 2)) for i in range(3)]
    datagrams += [(APWR, at(RAM, -i), bytes([i])) for i in range(3)]
    passed(segment, *datagrams)
    found = passed(
        segment,
        (FPRD, at(RAM, 0x1001), bytes(1)),
        (FPRD, at(RAM, 0x1000), bytes(1)),
        (FPWR, at(RAM, 0x1000), b"\x07"),
        (FPRD, at(RAM, 0x1000), bytes(1)),
    )
    assert [d.wkc for d in found] == [1, 2, 2, 2]
    # the last one on the way has the last word
    assert [d.data[0] for d in found] == [1, 2, 7, 7]


def test_an_address_that_was_changed_from_the_far_end_holds_for_frames_from_the_near_one(segment):
    passed(segment, *((APWR, at(STATION, -i), struct.pack("<H", 0x1000 + i)) for i in range(3)))
    assert passed(segment, (FPRD, at(0, 0x1002), bytes(1)))[0].wkc == 1
    segment.unplug(1)
    frame = build([WireDatagram(FPWR, 0x80, at(STATION, 0x1002), struct.pack("<H", 0x2002))])
    reply, end = segment.process_end(frame, segment.now_ns + 1000, 1)
    assert (parse(reply)[0].wkc, end) == (1, 1)
    segment.plug(1)
    found = passed(segment, (FPRD, at(0, 0x1002), bytes(1)), (FPRD, at(0, 0x2002), bytes(1)))
    assert [d.wkc for d in found] == [0, 1]

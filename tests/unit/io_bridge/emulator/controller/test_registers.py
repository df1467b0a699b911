import struct

import pytest
from al_states import await_now

from io_bridge.emulator.devices.slave_device import SlaveDevice
from io_bridge.emulator.drive.device import DriveDevice
from io_bridge.emulator.segment import Segment
from io_bridge.master.bringup import BringUpError, to_safeop
from io_bridge.slaves.drive_config import DriveConfig

FPRD, FPWR, BRD, BWR, LRD, LWR, LRW = 4, 5, 7, 8, 10, 11, 12


@pytest.fixture
def drive():
    return DriveDevice()


@pytest.fixture
def master(segment_master, drive):
    master = segment_master(drive)
    master.address(0)
    return master


def test_every_slave_counts_and_takes_its_address(segment_master):
    master = segment_master(DriveDevice(), DriveDevice(), DriveDevice())
    assert master.count() == 3
    stations = [master.address(i) for i in range(3)]
    assert [master.read(s, 0x0010, 2) for s in stations] == [
        s.to_bytes(2, "little") for s in stations
    ]


def test_the_reply_carries_the_source_bit_of_a_slave(drive):
    from io_bridge.wire.frame import WireDatagram, build

    frame = build([WireDatagram(BRD, 1, 0, b"\0")])
    reply = Segment([drive]).process(frame, 1)
    assert not frame[6] & 2
    assert reply[6] & 2


def test_a_read_only_register_refuses_a_write(master):
    assert master.access(FPWR, 0x1001, 0x0000, b"\x55")[1] == 0
    assert master.access(FPWR, 0x1001, 0x0130, b"\x08\x00")[1] == 0
    assert master.read(0x1001, 0x0130, 2) == b"\1\0"


def test_an_access_beyond_the_memory_does_not_count(master):
    assert master.access(FPRD, 0x1001, 0x2FFF, b"\0\0") == (b"\0\0", 0)


def test_sync_manager_status_cannot_be_written(master):
    master.write(0x1001, 0x0800, struct.pack("<HHBBBB", 0x1000, 128, 0x26, 0xFF, 1, 0))
    assert master.read(0x1001, 0x0805, 1) == b"\0"


def test_the_mailbox_takes_a_request_only_when_empty_and_gives_a_reply_once(master):
    master.set_mailbox(0x1001)
    # in INIT nobody serves the mailbox, so it stays full
    assert master.access(FPRD, 0x1001, 0x1100, bytes(128))[1] == 0
    assert master.access(FPWR, 0x1001, 0x1000, bytes(128))[1] == 1
    assert master.read(0x1001, 0x0805, 1)[0] & 0x08
    assert master.access(FPWR, 0x1001, 0x1000, bytes(128))[1] == 0
    master.request(0x1001, 2)
    await_now(master, 0x1001, 2)
    assert master.read(0x1001, 0x080D, 1)[0] & 0x08
    assert master.access(FPRD, 0x1001, 0x1100, bytes(128))[1] == 1
    assert master.access(FPRD, 0x1001, 0x1100, bytes(128))[1] == 0


def test_a_lost_mailbox_reply_is_repeated_on_request(master):
    master.set_mailbox(0x1001)
    master.request(0x1001, 2)
    await_now(master, 0x1001, 2)
    request = struct.pack("<HHBBHBHBI", 10, 0, 0, 0x13, 2 << 12, 0x40, 0x1000, 0, 0)
    master.write(0x1001, 0x1000, request.ljust(128, b"\0"))
    first = master.read(0x1001, 0x1100, 128)
    master.write(0x1001, 0x080E, b"\x03")
    assert master.read(0x1001, 0x080F, 1)[0] & 2
    assert master.read(0x1001, 0x1100, 128) == first


def test_eeprom_reads_two_words_and_ones_beyond_the_image(master):
    assert master.eeprom(0x1001, 0x1C) & 0xFFFF == 4
    assert master.eeprom(0x1001, 0x7FFFFFF) == 0xFFFFFFFF


def test_system_time_runs_with_an_offset_and_latches_arrival(master, drive):
    first = int.from_bytes(master.read(0x1001, 0x0910, 8), "little")
    second = int.from_bytes(master.read(0x1001, 0x0910, 8), "little")
    assert second - first == 100_000
    master.write(0x1001, 0x0920, (10**12).to_bytes(8, "little"))
    assert int.from_bytes(master.read(0x1001, 0x0910, 8), "little") == second + 10**12 + 200_000
    master.write(0x1001, 0x0900, bytes(4))
    latched = int.from_bytes(master.read(0x1001, 0x0918, 8), "little")
    assert latched == second + 300_000
    assert int.from_bytes(master.read(0x1001, 0x0900, 4), "little") == latched % 2**32


def test_a_reference_time_written_shows_the_difference_not_itself(master):
    now = int.from_bytes(master.read(0x1001, 0x0910, 8), "little")
    master.write(0x1001, 0x0910, (now + 100_000 + 250).to_bytes(8, "little"))
    difference = int.from_bytes(master.read(0x1001, 0x092C, 4), "little")
    assert difference == 0x80000000 | 250
    # it only steers the clock: by an eighth of the difference
    steered = int.from_bytes(master.read(0x1001, 0x0910, 8), "little") - (now + 300_000)
    assert steered == pytest.approx(250 / 8, abs=2)


def test_link_status_tells_the_last_slave_from_the_others(segment_master):
    master = segment_master(DriveDevice(), DriveDevice())
    first, last = (
        int.from_bytes(master.read(master.address(i), 0x0110, 2), "little") for i in (0, 1)
    )
    assert first >> 4 & 3 == 3
    assert last >> 4 & 3 == 1


@pytest.fixture
def in_safeop(master):
    return to_safeop(master, [DriveConfig()])[0]


def test_logical_commands_count_by_direction(master, in_safeop):
    lay = in_safeop
    assert master.access(LRD, lay.inputs_at, lay.inputs_at >> 16, bytes(lay.n_inputs))[1] == 1
    assert master.access(LWR, lay.outputs_at, 0, bytes(lay.n_outputs))[1] == 1
    both = bytes(lay.n_outputs + lay.n_inputs)
    assert master.access(LRW, lay.outputs_at, 0, both)[1] == 3
    assert master.access(LRW, 0x4000, 0, both) == (both, 0)


def test_process_data_is_closed_before_safeop(master, in_safeop):
    master.request(0x1001, 2)
    await_now(master, 0x1001, 2)
    assert master.access(LRD, in_safeop.inputs_at, 0, bytes(in_safeop.n_inputs))[1] == 0


def test_a_sync_manager_moved_later_does_not_move_the_data(master, in_safeop, drive):
    before = drive.memory(0x1800, in_safeop.n_inputs), drive.memory(0x2FF0, 0x10)
    for start in (0x2FFF, 0xFFFF, 0x0000):
        master.write(0x1001, 0x0818, struct.pack("<H", start))
        master.write(0x1001, 0x0810, struct.pack("<H", start))
        master.read(0x1001, 0x0130, 2)
    assert drive.memory(0x2FF0, 0x10) == before[1]
    assert drive.memory(0x1800, 2) == before[0][:2]


def test_the_watchdog_ends_op_at_its_own_instant(segment_master, drive):
    segment = Segment([drive])
    from io_bridge.master.bringup import Master

    master = Master(lambda frame: segment.process(frame, segment.now_ns + 1000))
    layout = to_safeop(master, [DriveConfig(watchdog_ms=5.0)])[0]
    master.access(LWR, layout.outputs_at, 0, bytes(layout.n_outputs))
    master.request(0x1001, 8)
    await_now(master, 0x1001, 8)
    assert master.read(0x1001, 0x0440, 1) == b"\1"
    written = segment.now_ns
    master.access(LWR, layout.outputs_at, 0, bytes(layout.n_outputs))
    segment.advance(written + 1000 + 5_000_000 - 1)
    assert drive.al_status == 8
    segment.advance(written + 1000 + 5_000_000)
    assert (drive.al_status, drive.al_code) == (0x14, 0x1B)
    assert master.read(0x1001, 0x0440, 4) == b"\0\0\1\0"


def test_a_powerless_slave_lets_frames_pass(segment_master):
    devices = DriveDevice(), DriveDevice()
    master = segment_master(*devices)
    devices[0].mute = True
    assert master.count() == 1
    devices[0].mute = False
    assert master.count() == 2


def test_a_slave_without_application_cannot_be_made():
    with pytest.raises(TypeError, match="DriveDevice"):
        SlaveDevice()


def test_a_segment_wants_distinct_devices(drive):
    with pytest.raises(ValueError, match="1 to 32"):
        Segment([])
    with pytest.raises(ValueError, match="once only"):
        Segment([drive, drive])


def test_a_station_that_does_not_answer_is_named(master):
    with pytest.raises(BringUpError, match=r"slave 0x0800: no answer when its AL state \(register"):
        master.read(0x0800, 0x0130, 2)

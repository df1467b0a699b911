"""Emulated devices from ESI files, looked at by a master."""

import ctypes
from pathlib import Path

import pytest
from al_states import await_now
from said import says_each
from swaps import swapped

from io_bridge.buses.simulated_bus import SimulatedBus
from io_bridge.emulator.catalogue.devices import make_device
from io_bridge.emulator.segment import Segment
from io_bridge.master.bringup import Master
from io_bridge.master.master import SdoAbortError
from io_bridge.slaves.sii_contents import read_contents
from io_bridge.slaves.terminal_config import ChannelConfig, TerminalConfig

DATA = Path(__file__).parents[3] / "data" / "esi"
SERVO, RACK = DATA / "servo.xml", DATA / "rack.xml"


def connected(*names):
    segment = Segment([make_device(str(name)) for name in names])
    master = Master(lambda frame: segment.process(frame, segment.now_ns + 10_000))
    stations = [master.address(i) for i in range(len(names))]
    return segment, master, stations


def to_preop(master, station):
    master.set_mailbox(station)
    master.request(station, 2)
    await_now(master, station, 2)


def test_a_servo_has_the_objects_pdos_and_eeprom_of_its_esi():
    _, master, (station,) = connected(f"{SERVO}#SD-1")
    contents = read_contents(lambda word: master.eeprom(station, word))
    assert contents.name == "SD-1 servo drive, with torque offset"
    assert contents.mailbox_bytes == (512, 512)
    assert [m.start for m in contents.managers] == [0x1000, 0x1400, 0x1800, 0x2000]
    assert master.eeprom(station, 0) == 0xEE080C08
    to_preop(master, station)
    assert master.upload(station, 0x1000, 0) == bytes.fromhex("92010200")
    assert master.upload(station, 0x1009, 0) == b"HW 2.1"
    assert master.upload(station, 0x1018, 2) == (0x5E40).to_bytes(4, "little")
    assert master.upload(station, 0x2000, 3) == b"\xff\xff"
    assert master.upload(station, 0x2001, 3) == bytes.fromhex("0000C03F")
    assert master.upload(station, 0x1C12, 1) == b"\x00\x16"
    assert master.upload(station, 0x1600, 3) == bytes.fromhex("1000B260")
    assert master.upload(station, 0x1601, 0)[0] == 1
    # an object that only a PDO names
    master.download(station, 0x60B2, 0, 77, 2)
    assert master.upload(station, 0x60B2, 0) == b"\x4d\x00"


def test_pdos_of_a_servo_can_be_assigned_anew_where_the_esi_says_so():
    _, master, (station,) = connected(f"{SERVO}#SD-1")
    to_preop(master, station)
    master.download(station, 0x1C12, 0, 0, 1)
    master.download(station, 0x1C12, 1, 0x1601, 2)
    master.download(station, 0x1C12, 0, 1, 1)
    _, fixed, (other,) = connected(f"{SERVO}#SD-1:#x10000")
    to_preop(fixed, other)
    with pytest.raises(SdoAbortError, match="read-only"):
        fixed.download(other, 0x1C12, 0, 0, 1)


def test_a_rack_of_an_esi_comes_up_behind_its_coupler_and_holds_its_values():
    devices = [make_device(f"{RACK}#EX1100"), make_device(f"{RACK}#EX1859")]
    outputs = ChannelConfig("lamp", 0), ChannelConfig("level", 4, 4)
    terminal = TerminalConfig("switches", (ChannelConfig("doors", 0, 8),), outputs)
    bus = SimulatedBus(drives=[TerminalConfig("coupler"), terminal], devices=devices)
    block = bus.block()
    cells = [(ctypes.c_double * len(ports))() for ports in (block.reads, block.writes)]
    block.bind(*([ctypes.addressof(row) + 8 * i for i in range(len(row))] for row in cells))
    bus.to_op()
    assert bus.segment.parents == ((-1, 0), (0, 1))
    for port, value in (("switches/lamp", 1.0), ("switches/level", 10.0)):
        cells[0][list(block.reads).index(port)] = value
    for k in range(3):
        block.step(k * 1_000_000)
    assert devices[1].al_status == 8
    assert cells[1][list(block.writes).index("switches/valid")] == 1.0
    # the level is beside padding, and there is nothing behind the inputs
    assert devices[1].object_value(0x7000, 1) == b"\1"
    assert devices[1].object_value(0x7010, 1) == b"\x0a"
    assert cells[1][list(block.writes).index("switches/doors")] == 0.0
    bus.close()


def test_what_the_emulator_cannot_be_is_told_in_full(tmp_path):
    text = swapped(
        SERVO.read_text(),
        ('DefaultSize="512" StartAddress="#x1400"', 'DefaultSize="2000" StartAddress="#x2900"'),
        (
            '<Sm DefaultSize="6" StartAddress="#x2000" ControlByte="#x20" Enable="1">Inputs</Sm>',
            '<Sm DefaultSize="6" StartAddress="#x2000" ControlByte="#x20" Enable="1">Inputs</Sm>'
            * 3,
        ),
    )
    path = tmp_path / "odd.xml"
    path.write_text(text)
    with pytest.raises(ValueError, match="odd") as caught:
        make_device(f"{path}#SD-1")
    lines = says_each(
        caught.value,
        "6 sync managers; the emulator has 4",
        "3 sync managers for Inputs",
        "2000 bytes at 0x2900",
        "mailbox of 2000 bytes; 48 to 1486",
    )
    assert all(line.startswith(f"{path}#SD-1: ") for line in lines)


def test_what_is_left_out_is_noted(tmp_path):
    path = tmp_path / "modules.xml"
    path.write_text(RACK.read_text().replace("<Eeprom>", "<Slots/><Eeprom>"))
    notes = []
    make_device(f"{path}#EX1859", notes)
    assert len(notes) == 1
    assert "modules (<Slots>) are left out" in notes[0]
    assert f"{path}:" in notes[0]

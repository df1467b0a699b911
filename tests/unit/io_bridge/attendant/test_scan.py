"""What a scan makes of EEPROMs and mailboxes that are not as they should be."""

import struct

import pytest

from io_bridge.attendant.scan import Line, _read_slave
from io_bridge.emulator.drive.device import DriveDevice
from io_bridge.slaves.drive_config import DrivePlant
from io_bridge.slaves.sii_contents import LAST_WORD, read_contents

STATION = 0x1001


@pytest.fixture
def look(segment_master):
    """Scan an emulated drive whose EEPROM was written over."""

    def scan(words, **plant):
        master = segment_master(DriveDevice(DrivePlant(**plant)))
        master.address(0)
        for word, value in words.items():
            master.write(STATION, 0x0508, struct.pack("<H", value))
            master.write(STATION, 0x0502, b"\x01\x02" + struct.pack("<I", word))
        line = Line.__new__(Line)
        line.master, line.mailbox, line.heard, line.states = master, None, [], [(1, 0)]
        line.limits_of = None
        return _read_slave(line, 0, STATION)

    return scan


def test_a_blank_eeprom_is_named_as_such(look):
    found = look(dict.fromkeys(range(0x40), 0xFFFF))
    assert "its EEPROM is blank" in found.note
    assert not found.has_coe


def test_a_mailbox_of_four_bytes_is_named(look):
    found = look({0x19: 4, 0x1B: 4})
    assert "a mailbox of 4 bytes; 16 to 1486 can be used" in found.note
    assert found.outputs == []


def test_a_slave_says_what_it_has_mapped_and_that_nothing_is_wrong(look):
    found = look({})
    assert found.note == ""
    assert found.diagnosis == []
    assert [pdo.index for pdo in found.outputs] == [0x1600]


def test_an_eeprom_of_noise_is_walked_in_bounded_time():
    reads = []

    def read(word):
        reads.append(word)
        return 0xFFFF000A if word >= 0x40 else 0

    read_contents(read)
    assert len(reads) < LAST_WORD

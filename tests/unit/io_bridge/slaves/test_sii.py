import struct

import pytest

from io_bridge.slaves.sii import (
    Eeprom,
    Identity,
    SiiPdo,
    SyncManager,
    checksum,
    image,
    sync_managers,
)


def categories(content):
    at, found = 128, {}
    while True:
        kind, words = (
            struct.unpack_from("<HH", content, at) if at + 4 <= len(content) else (0xFFFF, 0)
        )
        if kind == 0xFFFF:
            return found
        found[kind] = content[at + 4 : at + 4 + 2 * words]
        at += 4 + 2 * words


def test_the_image_reads_back():
    content = image(Eeprom(Identity(1, 2, 3, 4), "a drive", sync_managers(128), alias=7))
    assert struct.unpack_from("<H", content, 8)[0] == 7
    assert struct.unpack_from("<4I", content, 16) == (1, 2, 3, 4)
    assert struct.unpack_from("<5H", content, 0x30) == (0x1000, 128, 0x1100, 128, 4)
    found = categories(content)
    assert found[10][2 : 2 + found[10][1]] == b"a drive"
    assert [row[-1] for row in struct.iter_unpack("<HHBBBB", found[41])] == [1, 2, 3, 4]
    assert content[-2:] == b"\xff\xff"


def test_the_checksum_is_the_crc_8_of_the_specification():
    # x^8 + x^2 + x + 1 from 0xFF: appending the remainder leaves zero
    words = bytes(range(14))
    crc = checksum(words)
    remainder = 0xFF
    for byte in (*words, crc):
        remainder ^= byte
        for _ in range(8):
            remainder = (remainder << 1 ^ (0x07 if remainder & 0x80 else 0)) & 0xFF
    assert remainder == 0


def test_a_device_without_mailbox_lists_its_pdos():
    managers = (SyncManager(0x1000, 1, 0x44, 3), SyncManager(0x1100, 2, 0x00, 4))
    pdo = SiiPdo(0x1A00, 1, "Inputs", ((0x6000, 1, 1, 1, "In"), (0, 0, 0, 15, "")))
    content = image(
        Eeprom(Identity(1, 2, 3), "io", managers, ports=("ebus", "ebus"), tx_pdos=(pdo,))
    )
    assert content[0x30:0x3A] == bytes(10)
    found = categories(content)
    assert 51 not in found
    assert found[40] == b"\1\2"
    assert struct.unpack_from("<H", found[30], 16)[0] == 0x33
    strings, at = [], 1
    for _ in range(found[10][0]):
        strings.append(found[10][at + 1 : at + 1 + found[10][at]].decode())
        at += 1 + found[10][at]
    index, n, manager, _, name, _ = struct.unpack_from("<HBBBBH", found[50])
    assert (index, n, manager, strings[name - 1]) == (0x1A00, 2, 1, "Inputs")
    rows = list(struct.iter_unpack("<HBBBBH", found[50][8:]))
    assert rows == [(0x6000, 1, strings.index("In") + 1, 1, 1, 0), (0, 0, 0, 0, 15, 0)]


@pytest.mark.parametrize("name", ["", "é", "x" * 65])
def test_an_impossible_name_is_refused(name):
    with pytest.raises(ValueError, match="1 to 64 ASCII"):
        image(Eeprom(Identity(1, 2, 3), name, sync_managers(128)))

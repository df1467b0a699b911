import struct

import pytest

from io_bridge.wire.frame import WireDatagram, build, parse


def test_a_frame_follows_the_wire_format():
    frame = build([WireDatagram(4, 0x85, 0x0130 << 16 | 0x1001, b"\1\2", 3)])
    assert frame[12:14] == b"\x88\xa4"
    assert struct.unpack_from("<H", frame, 14)[0] == 0x1000 | 14
    assert frame[16:] == struct.pack("<BBHHHH", 4, 0x85, 0x1001, 0x0130, 2, 0) + b"\1\2\3\0"


def test_the_more_bit_chains_all_datagrams_but_the_last():
    frame = build([WireDatagram(7, 1, 0, bytes(2)), WireDatagram(10, 1, 0, bytes(5))])
    assert struct.unpack_from("<H", frame, 22)[0] == 0x8002
    assert struct.unpack_from("<H", frame, 16 + 14 + 6)[0] == 5


def test_padding_of_a_real_card_is_ignored():
    datagrams = [WireDatagram(7, 0x80, 0, b"\5\6", 1)]
    assert parse(build(datagrams).ljust(60, b"\xaa")) == datagrams


@pytest.mark.parametrize("size", [0, 1, 15, 27])
def test_a_short_frame_is_refused(size):
    with pytest.raises(ValueError, match="no EtherCAT frame"):
        parse(build([WireDatagram(7, 1, 0, bytes(2))])[:size])


def test_a_datagram_beyond_the_frame_is_refused():
    frame = bytearray(build([WireDatagram(7, 1, 0, bytes(2))]))
    frame[22] = 0xFF
    with pytest.raises(ValueError, match="reaches beyond the frame of 30 bytes"):
        parse(frame)


def test_more_than_one_frame_is_refused():
    with pytest.raises(ValueError, match="more than one frame"):
        build([WireDatagram(10, 1, 0, bytes(1400)), WireDatagram(10, 1, 0, bytes(1400))])
    with pytest.raises(ValueError, match="at least one datagram"):
        build([])

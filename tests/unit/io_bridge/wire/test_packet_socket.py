import socket

import pytest

from io_bridge.wire.frame import WireDatagram, build
from io_bridge.wire.packet_socket import PacketSocket, attach_filter


@pytest.fixture
def filtered():
    """A pair of local sockets, the second behind the kernel's own filter machine: no rights
    needed."""
    first, second = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    attach_filter(second, 0x80, 0xFF)
    second.setblocking(False)
    with first, second:
        yield first, second


def frame(index):
    return build([WireDatagram(7, index, 0, bytes(2))])


def test_the_filter_parts_the_cycle_from_pysoem_in_the_kernel(filtered):
    first, second = filtered
    for index in (0x00, 0x0F, 0x7F, 0x80, 0xFF):
        first.send(frame(index))
    assert [second.recv(2000)[17] for _ in range(2)] == [0x80, 0xFF]
    with pytest.raises(BlockingIOError):
        second.recv(2000)


def test_the_filter_drops_other_protocols_and_short_frames(filtered):
    first, second = filtered
    foreign = bytearray(frame(0x80))
    foreign[12:14] = b"\x08\x00"
    first.send(foreign)
    first.send(frame(0x80)[:16])
    with pytest.raises(BlockingIOError):
        second.recv(2000)


def test_a_missing_interface_or_right_is_said_with_its_name():
    with pytest.raises(OSError, match="interface 'nosuch0'"):
        PacketSocket("nosuch0")

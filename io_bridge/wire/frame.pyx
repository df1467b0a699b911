"""Build and parse EtherCAT frames; every read of wire data is checked against the bytes that are
there."""
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from libc.stdint cimport uint8_t, uint16_t, uint32_t
from libc.string cimport memcpy, memset

from io_bridge.wire.fields cimport get16, put16, put32

if sys.byteorder != "little":
    raise ImportError("io_bridge reads EtherCAT fields in place and needs a little-endian host")


cdef void frame_begin(uint8_t *frame) noexcept nogil:
    """Broadcast destination, locally administered source with bit 1 of its first byte clear for the
    reply to set."""
    memset(frame, 0xFF, 6)
    frame[6] = 0x10
    memset(frame + 7, 0x10, 5)
    frame[12] = 0x88
    frame[13] = 0xA4
    put16(frame + ETHERNET_HEADER, 0)


cdef int frame_add(uint8_t *frame, int at, uint8_t command, uint8_t index, uint32_t address,
                   int size) noexcept nogil:
    """Put a datagram with zeroed data at `at`; return the offset after it, or -1 when it does not
    fit."""
    cdef int end = at + DATAGRAM_HEADER + size + WKC_SIZE
    if size < 0 or at < FIRST_DATAGRAM or end > MAX_FRAME:
        return -1
    frame[at] = command
    frame[at + 1] = index
    put32(frame + at + 2, address)
    put16(frame + at + 6, <uint16_t> (size | 0x8000))  # frame_end clears the last one's "more" bit
    put16(frame + at + 8, 0)
    memset(frame + at + DATAGRAM_HEADER, 0, size + WKC_SIZE)
    return end


cdef int frame_end(uint8_t *frame, int at) noexcept nogil:
    """Close a frame whose datagrams end at `at`: EtherCAT length, last "more" bit. Return the
    frame's length."""
    cdef int last = FIRST_DATAGRAM
    cdef int size
    put16(frame + ETHERNET_HEADER, <uint16_t> ((at - FIRST_DATAGRAM) | 0x1000))
    while True:
        size = get16(frame + last + 6) & 0x07FF
        if last + DATAGRAM_HEADER + size + WKC_SIZE >= at:
            break
        last += DATAGRAM_HEADER + size + WKC_SIZE
    put16(frame + last + 6, <uint16_t> size)
    return at


cdef int frame_length(const uint8_t *frame, int size) noexcept nogil:
    """Return the offset after the last EtherCAT byte by the length field (NICs pad), or -1 if it is
    no EtherCAT frame."""
    cdef int header, length
    if size < FIRST_DATAGRAM + DATAGRAM_HEADER + WKC_SIZE or size > MAX_FRAME:
        return -1
    if frame[12] != 0x88 or frame[13] != 0xA4:
        return -1
    header = get16(frame + ETHERNET_HEADER)
    length = FIRST_DATAGRAM + (header & 0x07FF)
    if header >> 12 != 1 or length > size or length < FIRST_DATAGRAM + DATAGRAM_HEADER + WKC_SIZE:
        return -1
    return length


@dataclass(frozen=True)
class WireDatagram:
    """One datagram as Python sees it; `address` is logical, or register << 16 | station (or
    position)."""

    command: int
    index: int
    address: int
    data: bytes
    wkc: int = 0


def build(datagrams: Sequence[WireDatagram]) -> bytes:
    """Return the frame that carries `datagrams` in order."""
    cdef uint8_t frame[MAX_FRAME]
    cdef int at = FIRST_DATAGRAM
    cdef int end
    cdef const uint8_t[::1] data
    if not datagrams:
        raise ValueError("an EtherCAT frame needs at least one datagram")
    frame_begin(frame)
    for item in datagrams:
        size = len(item.data)
        if size > MAX_FRAME:
            raise ValueError(f"datagram data of {size} bytes: a frame holds at most {MAX_FRAME}")
        end = frame_add(frame, at, item.command, item.index, item.address, size)
        if end < 0:
            raise ValueError(f"the datagrams need more than one frame of {MAX_FRAME} bytes")
        if size:
            data = item.data
            memcpy(frame + at + DATAGRAM_HEADER, &data[0], size)
        put16(frame + end - WKC_SIZE, item.wkc)
        at = end
    frame_end(frame, at)
    return frame[:at]


def parse(const uint8_t[::1] frame) -> list[WireDatagram]:
    """Return the datagrams of `frame`.

    Raises
    ------
    ValueError
        Not an EtherCAT frame, or a datagram reaches beyond its end.
    """
    cdef Datagram item
    cdef int size = <int> min(frame.shape[0], MAX_FRAME + 1)
    cdef int length = frame_length(&frame[0], size) if size else -1
    cdef int at = FIRST_DATAGRAM
    if length < 0:
        raise ValueError(f"{size} bytes that are no EtherCAT frame")
    found = []
    while True:
        if datagram_at(&frame[0], length, at, &item):
            raise ValueError(f"datagram at byte {at} reaches beyond the frame of {length} bytes")
        found.append(WireDatagram(item.command, item.index, item.address,
                                  bytes(frame[item.data:item.data + item.size]),
                                  get16(&frame[item.next - WKC_SIZE])))
        if not item.more:
            return found
        at = item.next

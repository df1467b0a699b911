"""The two halves of one frame: the replies from either side of a gap in the ring, merged into one frame again.

Each slave is on one side, so counters add up, and data are taken from the side that gave them. The datagram
that hands on the reference clock is kept apart: on the side without that clock nobody reads it, yet slaves
may count.
"""
from libc.stdint cimport uint8_t, uint16_t
from libc.string cimport memcpy

from io_bridge.wire.frame cimport (
    ARMW, BRD, DATAGRAM_HEADER, FIRST_DATAGRAM, FRMW, MAX_FRAME, Datagram, datagram_at,
    frame_length,
)
from io_bridge.wire.fields cimport get16, put16


cdef int clock_datagram(const uint8_t *frame, int length) noexcept nogil:
    """Return the offset of the datagram by which one slave's clock is handed on to the others; 0 = there is
    none."""
    cdef Datagram d
    cdef int at = FIRST_DATAGRAM
    while datagram_at(frame, length, at, &d) == 0:
        if d.command == FRMW or d.command == ARMW:
            return at
        if not d.more:
            break
        at = d.next
    return 0


cdef int clock_was_read(const uint8_t *frame, int clock_at) noexcept nogil:
    """Some slave has put its time into the clock datagram, which leaves with zeros."""
    cdef int size = get16(frame + clock_at + 6) & 0x07FF
    cdef int i
    for i in range(size):
        if frame[clock_at + DATAGRAM_HEADER + i]:
            return 1
    return 0


cdef int answers_in(const uint8_t *frame, int length, int clock_at, int *stations) noexcept nogil:
    """Return the sum of all working counters but that of the clock; a broadcast read's is written to
    `stations` too, which stays as it is where there is none."""
    cdef Datagram d
    cdef int at = FIRST_DATAGRAM
    cdef int total = 0
    while datagram_at(frame, length, at, &d) == 0:
        if at != clock_at:
            total += get16(frame + d.next - 2)
        if d.command == BRD:
            stations[0] = get16(frame + d.next - 2)
        if not d.more:
            break
        at = d.next
    return total


cdef int same_chain(const uint8_t *one, const uint8_t *other, int length,
                    int clock_at) noexcept nogil:
    """Both have the same datagrams, whatever the command of the clock's is."""
    cdef Datagram a, b
    cdef int at = FIRST_DATAGRAM
    while True:
        if datagram_at(one, length, at, &a) or datagram_at(other, length, at, &b):
            return 0
        if a.index != b.index or a.size != b.size or a.more != b.more:
            return 0
        if a.command != b.command and at != clock_at:
            return 0
        if not a.more:
            return 1
        at = a.next


cdef int merge_half(uint8_t *into, const uint8_t *half, int length, int clock_at) noexcept nogil:
    """Add the other half of a frame. Return 1, or 0 when it does not belong to this frame: then nothing is
    changed."""
    cdef Datagram d
    cdef int at = FIRST_DATAGRAM
    cdef int i, here, there
    if not same_chain(into, half, length, clock_at):
        return 0
    while True:
        datagram_at(into, length, at, &d)
        here, there = get16(into + d.next - 2), get16(half + d.next - 2)
        if d.command == BRD:
            for i in range(d.size):
                into[d.data + i] |= half[d.data + i]
        elif at == clock_at:
            if not clock_was_read(into, at):
                memcpy(into + d.data, half + d.data, d.size)
        elif there and not here:
            memcpy(into + d.data, half + d.data, d.size)
        put16(into + d.next - 2, <uint16_t> (here + there))
        if not d.more:
            return 1
        at = d.next


def merge(first: bytes, second: bytes) -> bytes | None:
    """Return the frame that two halves make; None when they are not halves of one frame.

    Parameters
    ----------
    first, second : bytes
        As they came back; padding is dropped.
    """
    cdef uint8_t into[MAX_FRAME]
    cdef uint8_t half[MAX_FRAME]
    cdef const uint8_t *one = first
    cdef const uint8_t *other = second
    cdef int length = frame_length(one, <int> min(len(first), MAX_FRAME + 1))
    if length < 0 or length != frame_length(other, <int> min(len(second), MAX_FRAME + 1)):
        return None
    memcpy(into, one, length)
    memcpy(half, other, length)
    if not merge_half(into, half, length, clock_datagram(into, length)):
        return None
    return into[:length]

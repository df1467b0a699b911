"""A frame on its way through the slaves of a ring, and the time that passes for them."""
from libc.stdint cimport int64_t, uint8_t

from io_bridge.emulator.datagram_pass cimport datagram_process
from io_bridge.emulator.controller.registers cimport esc_advance, esc_sample, esc_serve
from io_bridge.wire.frame cimport (
    DATAGRAM_HEADER, FIRST_DATAGRAM, MAX_FRAME, WKC_SIZE, Datagram, datagram_at, frame_length,
)
from io_bridge.emulator.passage cimport Passage, passage_begin
from io_bridge.emulator.topology cimport FAR, NEAR

cdef enum:
    MOST_DATAGRAMS = (MAX_FRAME - FIRST_DATAGRAM) // (DATAGRAM_HEADER + WKC_SIZE)


cdef void ring_advance(Ring *ring, int64_t t_ns) noexcept nogil:
    """Let time pass for all at once, from one watchdog's end to the next, so that coupled devices
    move together. At most one more round than slaves."""
    cdef int64_t until = t_ns
    cdef int i, _turn
    for _turn in range(ring.n + 1):
        until = t_ns
        for i in range(ring.n):
            if 0 < ring.slaves[i].wd_deadline_ns < until:
                until = ring.slaves[i].wd_deadline_ns
        for i in range(ring.n):
            esc_advance(ring.slaves[i], until)
        if until == t_ns:
            break
    for i in range(ring.n):
        esc_sample(ring.slaves[i])


cdef int pass_through(Ring *ring, int end, uint8_t *frame, int size, int64_t t_ns) noexcept nogil:
    """Pass a frame through the slaves that it reaches from an end. Return its length, or 0 when it is
    malformed or foreign: then no slave has acted on it. Bounded: at most MOST_DATAGRAMS times the slaves."""
    cdef Datagram chain[MOST_DATAGRAMS]
    cdef Passage *passage = &ring.passages[end]
    cdef const int *order = &ring.far_order[0] if end == FAR else &ring.order[0]
    cdef int n = ring.n_far if end == FAR else ring.n_order
    cdef int length = frame_length(frame, size)
    cdef int at = FIRST_DATAGRAM
    cdef int count = 0
    cdef int i
    if length < 0:
        return 0
    if n == 0:
        ring_advance(ring, t_ns)
        return 0
    while True:
        if datagram_at(frame, length, at, &chain[count]):
            return 0
        at = chain[count].next
        count += 1
        if not chain[count - 1].more:
            break
    ring_advance(ring, t_ns)
    passage_begin(passage, ring.slaves, order, n)
    for i in range(count):
        datagram_process(passage, frame, &chain[i])
    frame[6] |= 0x02
    for i in range(passage.n):
        esc_serve(passage.slaves[i])
    return size


cdef int ring_process(Ring *ring, uint8_t *frame, int size, int64_t t_ns) noexcept nogil:
    """Pass a frame from the master through the slaves it reaches at t_ns and back. Return its length
    (unchanged), or 0 when nothing comes back."""
    return pass_through(ring, NEAR, frame, size, t_ns)


cdef int ring_process_end(Ring *ring, int *end, uint8_t *frame, int size,
                          int64_t t_ns) noexcept nogil:
    """The same for a master with a cable at both ends: the frame enters at `end`, and leaves at the
    end that is written there."""
    if end[0] == FAR:
        if not ring.closed:
            return pass_through(ring, FAR, frame, size, t_ns)
        # against the ring's sense nobody processes it
        end[0] = NEAR
        ring_advance(ring, t_ns)
        return size if frame_length(frame, size) >= 0 else 0
    if ring.closed:
        end[0] = FAR
    return ring_process(ring, frame, size, t_ns)

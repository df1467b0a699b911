"""Serve an emulated segment on a network interface, or on two of a master with cable redundancy: real frames in,
real frames out, real time."""
from libc.stdint cimport int64_t, uint8_t

from io_bridge.wire.frame cimport MAX_FRAME
from io_bridge.wire.monotonic cimport monotonic_ns
from io_bridge.wire.packet_socket cimport PacketSocket, RawSocket, lines_receive, socket_send
from io_bridge.emulator.ring_pass cimport ring_advance, ring_process, ring_process_end
from io_bridge.emulator.segment cimport Segment
from io_bridge.emulator.topology cimport FAR, NEAR, Ring

cdef enum:
    IDLE_NS = 1000000           # without frames the motors and watchdogs still move on


cdef int64_t run(Ring *ring, const RawSocket *ends, int n, int64_t start_ns,
                 int64_t duration_ns) noexcept nogil:
    cdef uint8_t frame[MAX_FRAME]
    cdef int64_t now = monotonic_ns()
    cdef int64_t end = now + duration_ns
    cdef int64_t frames = 0
    cdef int at = NEAR
    cdef int size
    while now < end:
        size = lines_receive(ends, n, &at, frame, MAX_FRAME, now + IDLE_NS)
        now = monotonic_ns()
        if size <= 0:
            # a link that is down says so once, and nothing until it is up again
            ring_advance(ring, now - start_ns)
            continue
        if n == 1:
            size = ring_process(ring, frame, size, now - start_ns)
        else:
            size = ring_process_end(ring, &at, frame, size, now - start_ns)
        if size > 0:
            socket_send(&ends[at], frame, size)
            frames += 1
    return frames


def serve(Segment segment, PacketSocket wire, start_ns: int, duration_s: float,
          PacketSocket second=None) -> int:
    """Answer frames for a while, without the GIL.

    Parameters
    ----------
    segment : Segment
    wire : PacketSocket
        Opened for all indices.
    start_ns : int
        CLOCK_MONOTONIC at which the segment's time is zero.
    duration_s : float
        After which the caller may look at signals.
    second : PacketSocket, optional
        Where the far end of the segment is.

    Returns
    -------
    int
        Frames answered.
    """
    cdef int64_t start = start_ns
    cdef int64_t duration = <int64_t> (1e9 * duration_s)
    cdef int64_t frames
    cdef RawSocket ends[2]
    cdef int n = 1
    ends[NEAR] = wire.state
    if second is not None:
        ends[FAR] = second.state
        n = 2
    with nogil:
        frames = run(&segment.ring, ends, n, start, duration)
    return frames

"""Serve an emulated segment on a network interface: real frames in, real frames out, real time."""
from libc.stdint cimport int64_t, uint8_t

from io_bridge.frame cimport MAX_FRAME
from io_bridge.monotonic cimport monotonic_ns
from io_bridge.packet_socket cimport PacketSocket, RawSocket, socket_receive, socket_send
from io_bridge.ring_pass cimport ring_advance, ring_process
from io_bridge.segment cimport Segment
from io_bridge.topology cimport Ring

cdef enum:
    IDLE_NS = 1000000           # without frames the motors and watchdogs still move on


cdef int64_t run(Ring *ring, RawSocket *wire, int64_t start_ns, int64_t duration_ns) noexcept nogil:
    cdef uint8_t frame[MAX_FRAME]
    cdef int64_t now = monotonic_ns()
    cdef int64_t end = now + duration_ns
    cdef int64_t frames = 0
    cdef int size
    while now < end:
        size = socket_receive(wire, frame, MAX_FRAME, now + IDLE_NS)
        now = monotonic_ns()
        if size < 0:
            return -1
        if size == 0:
            ring_advance(ring, now - start_ns)
            continue
        size = ring_process(ring, frame, size, now - start_ns)
        if size > 0:
            socket_send(wire, frame, size)
            frames += 1
    return frames


def serve(Segment segment, PacketSocket wire, start_ns: int, duration_s: float) -> int:
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

    Returns
    -------
    int
        Frames answered.

    Raises
    ------
    OSError
        The interface is gone.
    """
    cdef int64_t start = start_ns
    cdef int64_t duration = <int64_t> (1e9 * duration_s)
    cdef int64_t frames
    with nogil:
        frames = run(&segment.ring, &wire.state, start, duration)
    if frames < 0:
        raise OSError(f"interface {wire.interface!r} is gone")
    return frames

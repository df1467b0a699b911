"""The emulated segment called from the cycle itself: no socket, no thread, simulated time is
nominal time."""
from libc.stdint cimport int64_t, uint8_t
from libc.string cimport memcpy

from io_bridge.frame cimport MAX_FRAME
from io_bridge.segment cimport Segment, ring_process


cdef int drain(void *self) noexcept nogil:
    cdef InProcess *s = <InProcess *> self
    cdef int late = s.n_waiting > 0
    s.n_waiting = 0
    s.held = 0
    return late


cdef int send(void *self, const uint8_t *frame, int size, int64_t t_ns) noexcept nogil:
    cdef InProcess *s = <InProcess *> self
    cdef int64_t now = s.ring.slaves[0].now_ns
    if size > MAX_FRAME:
        return -1
    # a task that starts anew counts from zero again; the segment's time only moves forward
    if t_ns + s.offset_ns <= now:
        s.offset_ns = now + 1000 - t_ns
    if s.drop > 0:
        s.drop -= 1
        return 0
    memcpy(s.waiting, frame, size)
    s.n_waiting = ring_process(s.ring, s.waiting, size, t_ns + s.offset_ns)
    if s.delay > 0:
        s.delay -= 1
        s.held = 1
    return 0


cdef int receive(void *self, uint8_t *frame, int capacity, int64_t deadline_ns) noexcept nogil:
    cdef InProcess *s = <InProcess *> self
    cdef int size = s.n_waiting
    if s.held or size == 0 or size > capacity:
        return 0
    memcpy(frame, s.waiting, size)
    s.n_waiting = 0
    return size


cdef class SegmentLink(Link):
    """Link to a `Segment` in this process.

    Parameters
    ----------
    segment : Segment

    Real time
    ---------
    Safe. A frame costs what the slaves cost; simulated time follows the nominal time of the step.
    """

    def __init__(self, segment: Segment) -> None:
        self.segment = segment
        self.state.ring = &segment.ring
        self.transport.self = &self.state
        self.transport.drain = drain
        self.transport.send = send
        self.transport.receive = receive

    def transact(self, frame: bytes, pause_ns: int = 100_000) -> bytes | None:
        """Exchange one frame outside the cycle, `pause_ns` of simulated time after the last."""
        return self.segment.process(frame, self.segment.now_ns + pause_ns)

    def drop_frames(self, n: int) -> None:
        """Lose the next n frames on their way out (fault injection)."""
        self.state.drop = n

    def delay_frames(self, n: int) -> None:
        """Bring the next n frames back after their cycle has given up (fault injection)."""
        self.state.delay = n

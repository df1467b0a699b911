"""The emulated segment called from the cycle itself: no socket, no thread, simulated time is
nominal time."""
from libc.stdint cimport int64_t, uint8_t, uint16_t
from libc.string cimport memcpy
from posix.time cimport nanosleep, timespec

from io_bridge.emulator.controller.addresses cimport addresses_find
from io_bridge.emulator.controller.memory cimport AL_SAFEOP, REG_AL_CODE, REG_AL_STATUS, Esc
from io_bridge.wire.frame cimport FIRST_DATAGRAM, LRD, MAX_FRAME, Datagram, datagram_at
from io_bridge.emulator.ring_pass cimport ring_advance, ring_process
from io_bridge.emulator.segment cimport Segment
from io_bridge.wire.monotonic cimport monotonic_ns
from io_bridge.wire.fields cimport get16, put16

cdef extern from * nogil:
    """
    /* From one turn to the next, where nobody was quicker. */
    static int pass_turn(int *turn, int from, int to) {
        return __atomic_compare_exchange_n(turn, &from, to, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    }
    static int whose_turn(int *turn) {
        return __atomic_load_n(turn, __ATOMIC_ACQUIRE);
    }
    """
    bint pass_turn(int *turn, int origin, int to)
    int whose_turn(int *turn)

cdef enum:                       # turns of a frame beside the cycle
    NOTHING = 0
    ASKED = 1
    IN_PASSAGE = 2
    BACK = 3

cdef enum:
    LOOK_NS = 20000              # between two looks for its return
    AL_SYNC_LOST = 0x001A
    ERROR_OVERCURRENT = 0x2310


cdef void _lose_operation(Esc *esc) noexcept nogil:
    # as when a slave loses its synchronisation: SAFEOP with an error, by itself
    put16(esc.memory + REG_AL_STATUS, AL_SAFEOP | 0x10)
    put16(esc.memory + REG_AL_CODE, AL_SYNC_LOST)
    esc.app.al_changed(esc.app.self, AL_SAFEOP, AL_SYNC_LOST)


cdef void _obey(Esc *esc, int order, int before) noexcept nogil:
    """Fault of a slave; one that is an event happens once, in the first cycle of the order."""
    esc.frozen = order == FREEZE or (esc.frozen and before != FREEZE)
    if order == before:
        return
    if order == LOSE_OPERATION:
        _lose_operation(esc)
    elif order == FAIL_DRIVE and esc.app.fail != NULL:
        esc.app.fail(esc.app.self, ERROR_OVERCURRENT)
    elif order == END_WATCHDOG and esc.wd_deadline_ns:
        esc.wd_deadline_ns = esc.now_ns + 1


cdef int _obey_all(InProcess *s) noexcept nogil:
    """Each slave does what it has an order for. Return 1 when this frame is lost."""
    cdef int lost = 0
    cdef int i, order
    for i in range(s.ring.n):
        order = <int> s.orders[i]
        _obey(s.ring.slaves[i], order, s.orders_before[i])
        s.orders_before[i] = order
        lost |= order == LOSE_FRAME
    return lost


cdef void _refuse_inputs(Esc *esc, uint8_t *frame, int size) noexcept nogil:
    """Take one off the working counters of a slave's LRDs, as when it did not put its inputs in."""
    cdef Datagram d
    cdef int at = FIRST_DATAGRAM
    if not esc.addresses.known:
        addresses_find(esc)
    while datagram_at(frame, size, at, &d) == 0:
        if (d.command == LRD and get16(frame + d.next - 2)
                and esc.addresses.logical_first <= d.address < esc.addresses.logical_end):
            put16(frame + d.next - 2, <uint16_t> (get16(frame + d.next - 2) - 1))
        if not d.more:
            break
        at = d.next


cdef int drain(void *self, int is_empty) noexcept nogil:
    cdef InProcess *s = <InProcess *> self
    cdef int late = s.n_waiting > 0
    s.n_waiting = 0
    s.held = 0
    return late


cdef void _catch(InProcess *s, const uint8_t *frame, int size) noexcept nogil:
    """Keep a frame as the master sent it, before anything can happen to it; a frame beyond the room is not kept."""
    if s.caught == NULL or s.filled + 2 + size > s.room:
        return
    put16(s.caught + s.filled, <uint16_t> size)
    memcpy(s.caught + s.filled + 2, frame, size)
    s.filled += 2 + size


cdef void _pass_beside(InProcess *s, int64_t now) noexcept nogil:
    """Pass on the frame of a thread beside the cycle, if one waits: one a cycle, at the time of the cycle's own."""
    if pass_turn(&s.beside.turn, ASKED, IN_PASSAGE):
        s.beside.size = ring_process(s.ring, s.beside.frame, s.beside.size, now)
        pass_turn(&s.beside.turn, IN_PASSAGE, BACK)


cdef int send(void *self, const uint8_t *frame, int size, int64_t t_ns) noexcept nogil:
    cdef InProcess *s = <InProcess *> self
    cdef int64_t now = s.ring.slaves[0].now_ns
    cdef int i, lost
    if size > MAX_FRAME:
        return -1
    _catch(s, frame, size)
    # a task that starts again counts from zero; the segment's time only moves forward
    if t_ns + s.offset_ns <= now:
        s.offset_ns = now + 1000 - t_ns
    lost = _obey_all(s)
    if s.drop > 0 or lost:
        s.drop -= s.drop > 0
        # without frames the slaves' motors and watchdogs continue
        ring_advance(s.ring, t_ns + s.offset_ns)
        _pass_beside(s, t_ns + s.offset_ns)
        return 0
    memcpy(s.waiting, frame, size)
    s.n_waiting = ring_process(s.ring, s.waiting, size, t_ns + s.offset_ns)
    for i in range(s.ring.n):
        if s.orders_before[i] == REFUSE_INPUTS:
            _refuse_inputs(s.ring.slaves[i], s.waiting, s.n_waiting)
    _pass_beside(s, t_ns + s.offset_ns)
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
    Safe. A frame costs the time of its slaves; simulated time follows the nominal time of the step.
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

    def transact_beside(self, frame: bytes, longest_s: float) -> bytes | None:
        """Have the cycle pass a frame on behind its own, and return it as it leaves, empty where the slaves ignore it;
        None: no cycle came within `longest_s`. By one thread at a time."""
        cdef Beside *beside = &self.state.beside
        cdef const uint8_t[::1] data = frame
        cdef int64_t until_ns = monotonic_ns() + <int64_t> (1e9 * longest_s)
        cdef timespec pause
        if not 0 < len(frame) <= MAX_FRAME:
            raise ValueError(f"a frame of {len(frame)} bytes: 1 to {MAX_FRAME}")
        memcpy(beside.frame, &data[0], len(frame))
        beside.size = <int> len(frame)
        pass_turn(&beside.turn, NOTHING, ASKED)
        pause.tv_sec, pause.tv_nsec = 0, LOOK_NS
        with nogil:
            while whose_turn(&beside.turn) != BACK:
                if monotonic_ns() >= until_ns and pass_turn(&beside.turn, ASKED, NOTHING):
                    break
                nanosleep(&pause, NULL)
        if not pass_turn(&beside.turn, BACK, NOTHING):
            return None
        return bytes(beside.frame[:beside.size])

    def order_address(self, position: int) -> int:
        """Return the address at which a fault injection writes the order (`Order`) for a slave before the cycle's
        frame leaves; 0 is none."""
        if not 0 <= position < self.segment.ring.n:
            raise ValueError(f"position {position}: the segment has the slaves 0 to {self.segment.ring.n - 1}")
        return <size_t> &self.state.orders[position]

    def drop_frames(self, n: int) -> None:
        """Lose the next n frames on their way out (fault injection)."""
        self.state.drop = n

    def delay_frames(self, n: int) -> None:
        """Bring the next n frames back after their cycle has given up (fault injection)."""
        self.state.delay = n

    def catch_frames(self, room: int = 1 << 20) -> None:
        """Keep from now on the frames that the cycle sends, up to `room` bytes in all, for `caught_frames`."""
        self.state.caught = NULL
        self.buffer = bytearray(room)
        self.state.room = room
        self.state.filled = 0
        self.state.caught = self.buffer

    def caught_frames(self) -> list[bytes]:
        """Return the frames kept since `catch_frames` or the last call, as the master sent them; not while a
        cycle runs."""
        found = []
        at = 0
        while at < self.state.filled:
            size = int.from_bytes(self.buffer[at : at + 2], "little")
            found.append(bytes(self.buffer[at + 2 : at + 2 + size]))
            at += 2 + size
        self.state.filled = 0
        return found

"""Cable redundancy: a frame leaves on the first line and a copy of it on the second, and the halves that come
back are made one frame.

In a closed ring the frame passes every slave and comes back on the second line, the copy comes back on the first
with nothing done to it. With a cable out each comes back where it left, done by the slaves on its side. A cycle
waits for a half only while there is something in it to wait for.

The copy never hands on a clock that is not on its side: slaves without a reference keep the rate that they
have learnt.
"""
import socket

from libc.stdint cimport int64_t, uint8_t
from libc.string cimport memcpy, memset

from io_bridge.wire.cycle_frames cimport MAX_FRAMES
from io_bridge.wire.frame cimport (
    CYCLE_INDEX_FIRST, DATAGRAM_HEADER, FIRST_DATAGRAM, FPRD, FRMW, MAX_FRAME, frame_length,
)
from io_bridge.wire.frame_halves cimport (
    answers_in, clock_datagram, clock_was_read, merge_half, same_chain,
)
from io_bridge.wire.monotonic cimport monotonic_ns
from io_bridge.wire.packet_socket cimport lines_receive, socket_send
from io_bridge.wire.fields cimport get16, put16

from io_bridge.wire.packet_socket import open_socket

cdef enum:
    SENT = 1                    # bit of the first line; the second line has the next one
    CAME = 4
    GIVEN = 16
    COPY_AT = 11                # last byte of the source address, which slaves do not change
    COPY = 0x20
    SILENT_CYCLES = 3           # after which nobody waits for frames that leave on a line
    MOST_FOUND = 64             # frames looked at in one call at most

cdef enum:                      # kinds of a received frame, unless it completes a frame of this cycle
    NOT_YET = -1
    AS_IT_IS = -2


cdef int drain(void *self, int is_empty) noexcept nogil:
    """The cycle is over: frames that still wait are discarded, and lines that brought nothing are reported."""
    cdef Pair *s = <Pair *> self
    cdef int late = 0
    cdef int k, line, sent, came
    while not is_empty and late < MOST_FOUND and receive(self, s.copy, MAX_FRAME, 0) > 0:
        late += 1
    for line in range(N_LINES):
        sent = came = 0
        for k in range(s.n):
            sent |= s.seen[s.flights[k].index & 0x7F] & SENT << line
            came |= s.seen[s.flights[k].index & 0x7F] & CAME << line
        if sent and not came and s.missed[line] < SILENT_CYCLES:
            s.missed[line] += 1
    s.n = 0
    return late


cdef int send(void *self, const uint8_t *frame, int size, int64_t t_ns) noexcept nogil:
    """Send on both lines. A line that refuses counts as one cable fewer; -1 when both do."""
    cdef Pair *s = <Pair *> self
    cdef Flight *f
    cdef uint8_t seen = 0
    if s.n == MAX_FRAMES or size > MAX_FRAME or frame_length(frame, size) != size:
        return -1
    f = &s.flights[s.n]
    s.n += 1
    f.has = 0
    f.size = size
    f.index = frame[FIRST_DATAGRAM + 1]
    f.clock_at = clock_datagram(frame, size)
    memcpy(f.frame, frame, size)
    memcpy(s.copy, frame, size)
    s.copy[COPY_AT] = COPY
    # without the clock on that side its slaves would be given zeros for a time
    if f.clock_at and not s.clock_beyond:
        s.copy[f.clock_at] = FPRD
    if socket_send(&s.lines[FIRST], frame, size) == 0:
        seen |= SENT << FIRST
    if socket_send(&s.lines[SECOND], s.copy, size) == 0:
        seen |= SENT << SECOND
    s.seen[f.index & 0x7F] = seen
    return 0 if seen else -1


cdef void watch_ring(Pair *s, int is_open) noexcept nogil:
    if is_open and not s.watch.open:
        s.watch.breaks += 1
    s.watch.open = is_open
    if not is_open:
        s.clock_beyond = 0


cdef void find_clock(Pair *s, const Flight *f, int half) noexcept nogil:
    """Learn from a half of an open ring on which side the reference clock is."""
    cdef int read = f.clock_at and clock_was_read(s.found, f.clock_at)
    if f.clock_at and (half == SECOND or read):
        s.clock_beyond = read and half == SECOND


cdef int is_whole(const Pair *s, const Flight *f, int answers) noexcept nogil:
    """With this many answers nothing more is waited for: both halves are there, the other cannot come, or has
    nothing to add, as in the last cycle."""
    cdef uint8_t seen = s.seen[f.index & 0x7F]
    cdef int line
    if 0 < f.whole_answers <= answers:
        return 1
    for line in range(N_LINES):
        if not seen & CAME << line and seen & SENT << line and s.missed[line] < SILENT_CYCLES:
            return 0
    return 1


cdef int keep(Pair *s, int k, int half) noexcept nogil:
    """Keep a half of frame k that was found. Return k when that is whole now, or NOT_YET."""
    cdef Flight *f = &s.flights[k]
    cdef uint8_t *seen = &s.seen[f.index & 0x7F]
    # each half comes back on the other line when the ring is closed
    cdef int is_open = s.at == half
    cdef int stations = -1
    cdef int nobody = -1
    cdef int answers
    s.missed[half] = 0
    seen[0] |= CAME << half
    watch_ring(s, is_open)
    answers = answers_in(s.found, f.size, f.clock_at, &stations)
    if is_open:
        find_clock(s, f, half)
        if half == FIRST and stations >= 0:
            s.watch.near = stations
    if seen[0] & GIVEN:
        # it was not waited for, and had something to add: next time it is
        if is_open and seen[0] & CAME << (1 - half):
            f.whole_answers = answers + answers_in(f.frame, f.size, f.clock_at, &nobody)
        return NOT_YET
    if not is_open and half == SECOND:
        return k if f.has else NOT_YET      # nobody has touched it
    if is_open and f.has:
        merge_half(f.frame, s.found, f.size, f.clock_at)
        f.whole_answers = answers_in(f.frame, f.size, f.clock_at, &nobody)
        return k
    memcpy(f.frame, s.found, f.size)
    f.has = 1
    if f.clock_at:
        f.frame[f.clock_at] = FRMW
    if not is_open:
        f.whole_answers = answers           # it has passed them all
        return k
    return k if is_whole(s, f, answers) else NOT_YET


cdef int sort(Pair *s, int size) noexcept nogil:
    """Return the kind of the frame found: AS_IT_IS to be handed over and counted, NOT_YET, or which frame of this
    cycle is whole with it."""
    cdef int half = SECOND if s.found[COPY_AT] == COPY else FIRST
    cdef int length = frame_length(s.found, size)
    cdef uint8_t index = s.found[FIRST_DATAGRAM + 1]
    cdef uint8_t *seen = &s.seen[index & 0x7F]
    cdef int k
    if length < 0 or index < CYCLE_INDEX_FIRST:
        return AS_IT_IS
    if not seen[0] & SENT << half:
        return AS_IT_IS
    if seen[0] & CAME << half:
        # twice; before the frame was handed over it would be taken for all of it
        return AS_IT_IS if seen[0] & GIVEN else NOT_YET
    for k in range(s.n):
        if s.flights[k].index == index and s.flights[k].size == length:
            if not same_chain(s.flights[k].frame, s.found, length, s.flights[k].clock_at):
                return AS_IT_IS
            return keep(s, k, half)
    # of a cycle before the last: reported once
    s.missed[half] = 0
    seen[0] |= CAME << half
    if seen[0] & GIVEN:
        return NOT_YET
    seen[0] |= GIVEN
    return AS_IT_IS


cdef int give(Pair *s, int k, uint8_t *frame) noexcept nogil:
    """Hand frame k over. Return its size."""
    cdef Flight *f = &s.flights[k]
    cdef int stations = -1
    cdef int end
    memcpy(frame, f.frame, f.size)
    answers_in(f.frame, f.size, f.clock_at, &stations)
    if s.watch.open and stations >= 0 and not s.seen[f.index & 0x7F] & CAME << FIRST:
        s.watch.near = 0
    s.seen[f.index & 0x7F] |= GIVEN
    if f.clock_at and not clock_was_read(frame, f.clock_at):
        # those who were handed a time that nobody had given
        end = f.clock_at + DATAGRAM_HEADER + (get16(frame + f.clock_at + 6) & 0x07FF)
        put16(frame + end, 0)
    return f.size


cdef int receive(void *self, uint8_t *frame, int capacity, int64_t deadline_ns) noexcept nogil:
    """Return the size of the next frame that is whole; at the deadline also of one that is not."""
    cdef Pair *s = <Pair *> self
    cdef int _turn, k, size
    if capacity < MAX_FRAME:
        return 0
    for _turn in range(MOST_FOUND):
        size = lines_receive(s.lines, N_LINES, &s.at, s.found, MAX_FRAME, deadline_ns)
        if size <= 0:
            break
        k = sort(s, size)
        if k == AS_IT_IS:
            memcpy(frame, s.found, size)
            return size
        if k >= 0:
            return give(s, k, frame)
    if deadline_ns and monotonic_ns() >= deadline_ns:
        for k in range(s.n):
            if s.flights[k].has and not s.seen[s.flights[k].index & 0x7F] & GIVEN:
                return give(s, k, frame)
    return 0


cdef class RedundantSocket(Link):
    """Two raw sockets, one at each end of the slaves, for the cycle's frames.

    Parameters
    ----------
    first, second : socket.socket
        As of `open_socket`.
    poll : bool
        Wait for a reply by polling; only with a core of its own.

    Real time
    ---------
    Safe: two sends a frame; each frame that comes is copied twice at most.
    """

    def __init__(self, first: socket.socket, second: socket.socket, *, poll: bool = False) -> None:
        cdef Pair *s = &self.state
        self.sockets = (first, second)
        memset(s, 0, sizeof(Pair))
        for line in range(N_LINES):
            s.lines[line].fd = self.sockets[line].fileno()
            s.lines[line].poll = poll
        self.transport.self = s
        self.transport.ring = &s.watch
        self.transport.drain = drain
        self.transport.send = send
        self.transport.receive = receive

    def close(self) -> None:
        """Close both sockets; a cycle that still runs finds every frame lost."""
        for line in range(N_LINES):
            self.state.lines[line].fd = -1
            self.sockets[line].close()


def open_lines(first: str, second: str, *, poll: bool = False) -> RedundantSocket:
    """Return the link of a cycle over two interfaces.

    Raises
    ------
    PermissionError
        No CAP_NET_RAW; the message says how to get it.
    OSError
        No such interface, or it is down; the message names it.
    """
    one = open_socket(first, CYCLE_INDEX_FIRST, 0xFF)
    try:
        return RedundantSocket(one, open_socket(second, CYCLE_INDEX_FIRST, 0xFF), poll=poll)
    except OSError:
        one.close()
        raise

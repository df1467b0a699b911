"""The frames of one cycle: each has an index of its own, and a reply counts only when it repeats command,
address, size and index of every datagram.

Outputs live in the transmit buffer only; replies lie in another one. Nothing is sent twice.
"""
from libc.stdint cimport int64_t, uint8_t, uint32_t
from libc.string cimport memcpy, memset

from io_bridge.wire.frame cimport (
    BRD, CYCLE_INDEX_FIRST, DATAGRAM_HEADER, FIRST_DATAGRAM, MAX_FRAME, WKC_SIZE, Datagram,
    datagram_at, frame_add, frame_begin, frame_end, frame_length,
)
from io_bridge.wire.monotonic cimport monotonic_ns
from io_bridge.wire.fields cimport get16

cdef enum:
    OLD_FRAMES = 64          # looked at in one cycle at most


cdef void frames_begin(CycleFrames *f) noexcept nogil:
    """Start to build: no datagram yet, counters at zero."""
    f.n = 1
    f.at = FIRST_DATAGRAM
    f.lost = f.late = f.duplicated = f.foreign = 0
    memset(f.sent, 0, N_INDICES)
    memset(f.waits, 0, sizeof(f.waits))
    memset(f.rx, 0, MAX_FRAMES * MAX_FRAME)
    frame_begin(f.tx)


cdef int frames_add(CycleFrames *f, uint8_t command, uint32_t address, int size) noexcept nogil:
    """Add a datagram with zeroed data, in a further frame where this one is full. Return its offset in
    both buffers, or -1 when MAX_FRAMES do not hold it."""
    cdef uint8_t *frame = f.tx + (f.n - 1) * MAX_FRAME
    cdef int at = f.at
    cdef int end = frame_add(frame, at, command, 0, address, size)
    if end < 0:
        if at == FIRST_DATAGRAM or f.n == MAX_FRAMES:
            return -1
        frames_end(f)
        frame += MAX_FRAME
        f.n += 1
        frame_begin(frame)
        at = FIRST_DATAGRAM
        end = frame_add(frame, at, command, 0, address, size)
        if end < 0:
            return -1
    f.at = end
    return (f.n - 1) * MAX_FRAME + at


cdef void frames_end(CycleFrames *f) noexcept nogil:
    """Close the frame that datagrams were added to."""
    f.size[f.n - 1] = frame_end(f.tx + (f.n - 1) * MAX_FRAME, f.at)


cdef void stamp(CycleFrames *f) noexcept nogil:
    """Give every frame its next index."""
    cdef int k, at
    cdef uint8_t *frame
    for k in range(f.n):
        f.last_index = <uint8_t> (CYCLE_INDEX_FIRST | (f.last_index + 1) & 0x7F)
        f.index[k] = f.last_index
        frame = f.tx + k * MAX_FRAME
        at = FIRST_DATAGRAM
        while at < f.size[k]:
            frame[at + 1] = f.last_index
            at += DATAGRAM_HEADER + (get16(frame + at + 6) & 0x07FF) + WKC_SIZE


cdef int answers(const CycleFrames *f, int k, int size) noexcept nogil:
    """The frame found answers frame k: same chain of command, address, size and index."""
    cdef Datagram sent, back
    cdef const uint8_t *frame = f.tx + k * MAX_FRAME
    cdef int at = FIRST_DATAGRAM
    if frame_length(f.found, size) != f.size[k]:
        return 0
    while True:
        if datagram_at(frame, f.size[k], at, &sent) or datagram_at(f.found, size, at, &back):
            return 0
        # slaves count up the position field of a broadcast; the register must be the same
        if (back.command != sent.command or back.index != sent.index or back.size != sent.size
                or back.more != sent.more or back.address >> 16 != sent.address >> 16
                or (sent.command != BRD and back.address != sent.address)):
            return 0
        if not sent.more:
            return 1
        at = sent.next


cdef int take(CycleFrames *f, int size) noexcept nogil:
    """Keep the frame found if it answers one of this cycle, else count its kind. Return 1 when kept."""
    cdef int k
    cdef uint8_t index = f.found[FIRST_DATAGRAM + 1]
    for k in range(f.n):
        if f.waits[k] and f.index[k] == index and answers(f, k, size):
            memcpy(f.rx + k * MAX_FRAME, f.found, size)
            f.waits[k] = 0
            f.sent[index & 0x7F] = 0
            return 1
    if frame_length(f.found, size) < 0 or index < CYCLE_INDEX_FIRST:
        f.foreign += 1
    elif f.sent[index & 0x7F]:
        f.late += 1
        f.sent[index & 0x7F] = 0
    else:
        f.duplicated += 1
    return 0


cdef void look_at_old(CycleFrames *f) noexcept nogil:
    """Count and discard frames that have come since the last cycle."""
    cdef int size = 1
    for _ in range(OLD_FRAMES):
        size = f.transport.receive(f.transport.self, f.found, MAX_FRAME, 0)
        if size <= 0:
            break
        take(f, size)
    f.late += f.transport.drain(f.transport.self, size <= 0)


cdef int frames_send(CycleFrames *f, int64_t t_ns) noexcept nogil:
    """Send every frame, and keep replies that are there at once. Return how many did not leave."""
    cdef int k, size
    cdef int refused = 0
    stamp(f)
    for k in range(f.n):
        f.waits[k] = 1
        f.sent[f.index[k] & 0x7F] = 1
        if f.transport.send(f.transport.self, f.tx + k * MAX_FRAME, f.size[k], t_ns):
            refused += 1
            f.sent[f.index[k] & 0x7F] = 0
        elif k + 1 < f.n:
            size = f.transport.receive(f.transport.self, f.found, MAX_FRAME, 0)
            if size > 0:
                take(f, size)
    return refused


cdef int missing(CycleFrames *f) noexcept nogil:
    cdef int k
    cdef int n = 0
    for k in range(f.n):
        n += f.waits[k]
    return n


cdef int frames_exchange(CycleFrames *f, int64_t t_ns, int64_t deadline_ns) noexcept nogil:
    """Send every frame once and wait until all are back, or the deadline. Return 1, or 0 when one is not
    back."""
    cdef int k, size
    cdef int left
    memset(f.waits, 0, sizeof(f.waits))
    look_at_old(f)
    f.sent_ns = monotonic_ns()
    # the reply to a frame that never left cannot come
    if frames_send(f, t_ns) == 0:
        while missing(f):
            size = f.transport.receive(f.transport.self, f.found, MAX_FRAME, deadline_ns)
            if size <= 0:
                break
            if not take(f, size) and monotonic_ns() >= deadline_ns:
                break
    left = missing(f)
    f.lost += left
    for k in range(f.n):
        f.waits[k] = 0
    return left == 0


cdef uint8_t *sent_data(CycleFrames *f, int at) noexcept nogil:
    """Return the address of the data of the datagram at `at` in the transmit buffer."""
    return f.tx + at + DATAGRAM_HEADER


cdef const uint8_t *reply_data(const CycleFrames *f, int at) noexcept nogil:
    return f.rx + at + DATAGRAM_HEADER


cdef int reply_wkc(const CycleFrames *f, int at) noexcept nogil:
    """Return the working counter that the datagram at `at` came back with."""
    # the size is that of the sent frame: a reply with another one was not kept
    return get16(f.rx + at + DATAGRAM_HEADER + (get16(f.tx + at + 6) & 0x07FF))

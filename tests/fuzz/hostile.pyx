"""Hostile frames without Python in between, seeded: at the emulated segment, and as replies to the cycle.

Compiled by fuzz_segment.py, beside the sanitized emulator or against the installed one.
"""
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

from io_bridge.wire.frame cimport DATAGRAM_HEADER, ETHERNET_HEADER, FIRST_DATAGRAM, MAX_FRAME
from io_bridge.wire.link cimport Link
from io_bridge.emulator.ring_pass cimport ring_process, ring_process_end
from io_bridge.emulator.segment cimport Segment
from io_bridge.emulator.topology cimport Ring, ring_plug, ring_power
from io_bridge.wire.fields cimport put16

cdef enum:
    LONGEST = 1600                 # beyond what a frame can be
    TRUNCATED = 20
    CHANGE_EVERY = 1000            # frames between two changes of cables and supplies
    N_PLACES = 36
    N_VALUES = 15
    N_SIZES = 6

cdef uint16_t[N_VALUES] VALUES = [
    0, 1, 2, 3, 7, 0x7F, 0x80, 0xFF, 0x100, 0x7FF, 0x800, 0x1000, 0x3000, 0x7FFF, 0xFFFF,
]
# registers where accesses have effects, mailboxes and buffers, and the ends of memory
cdef uint16_t[N_PLACES] PLACES = [
    0x0000, 0x0010, 0x0100, 0x0120, 0x0130, 0x0400, 0x0420, 0x0440, 0x0500, 0x0502, 0x0504, 0x0508,
    0x0600, 0x0610, 0x0620, 0x0630, 0x0800, 0x0808, 0x0810, 0x0818, 0x080E, 0x0900, 0x0910, 0x0920,
    0x0930, 0x0934, 0x0981, 0x0990, 0x0FFF, 0x1000, 0x1100, 0x1200, 0x1800, 0x2FFE, 0x2FFF, 0x3000,
]
cdef int[N_SIZES] SIZES = [1, 2, 4, 8, 16, 128]
cdef int64_t[5] GAPS_NS = [0, 1, 1000, 100000, 3000000]


cdef uint64_t draw(uint64_t *state) noexcept nogil:
    """xorshift64* (Vigna): the same frames for the same seed on every machine."""
    state[0] ^= state[0] >> 12
    state[0] ^= state[0] << 25
    state[0] ^= state[0] >> 27
    return state[0] * 2685821657736338717ULL


cdef int below(uint64_t *state, int n) noexcept nogil:
    return <int> ((draw(state) >> 33) % <uint64_t> n)


cdef void noise(uint64_t *state, uint8_t *out, int n) noexcept nogil:
    cdef int i
    for i in range(n):
        out[i] = <uint8_t> (draw(state) >> 40)


cdef int tampered(uint64_t *state, uint8_t *frame, int size) noexcept nogil:
    """Change a frame in a few places, from its length field on; return its new size."""
    cdef int _i, at, more
    cdef int what
    for _i in range(1 + below(state, 4)):
        at = ETHERNET_HEADER + below(state, max(size - ETHERNET_HEADER, 1))
        what = below(state, 20)
        if what < 9:
            frame[at] = <uint8_t> draw(state)
        elif what < 16:
            put16(frame + at, VALUES[below(state, N_VALUES)])
            size = max(size, at + 2)
        elif what < 18:
            more = min(1 + below(state, 63), LONGEST - size)
            noise(state, frame + size, more)
            size += more
        else:
            size = max(at, TRUNCATED)
    return min(size, MAX_FRAME)


cdef int datagram(uint64_t *state, uint8_t *frame, int n_slaves) noexcept nogil:
    """One datagram that is well formed, and means no good."""
    cdef int size = 1 + below(state, 1399)
    cdef int who = below(state, 4)
    if below(state, 7):
        size = SIZES[below(state, N_SIZES)]
    noise(state, frame, FIRST_DATAGRAM + DATAGRAM_HEADER + size)
    frame[12] = 0x88
    frame[13] = 0xA4
    put16(frame + ETHERNET_HEADER, <uint16_t> (DATAGRAM_HEADER + size + 2 | 0x1000))
    frame[FIRST_DATAGRAM] = <uint8_t> below(state, 16)
    if who < 3:
        put16(frame + 18, 0 if who == 0 else 0xFFFF if who == 1
              else <uint16_t> (0x1001 + below(state, n_slaves)))
    put16(frame + 20, <uint16_t> (PLACES[below(state, N_PLACES)] + below(state, 4) - 1))
    put16(frame + 22, <uint16_t> size)
    put16(frame + FIRST_DATAGRAM + DATAGRAM_HEADER + size, 0)
    return FIRST_DATAGRAM + DATAGRAM_HEADER + size + 2


cdef class Corpus:
    """Frames that a master has sent, to be changed."""
    cdef uint8_t *data
    cdef int *starts
    cdef int n

    def __cinit__(self, frames):
        cdef const uint8_t[::1] whole = b"".join(frames)
        cdef int at = 0
        self.n = len(frames)
        self.data = <uint8_t *> malloc(whole.shape[0])
        self.starts = <int *> malloc((self.n + 1) * sizeof(int))
        if self.data == NULL or self.starts == NULL:
            raise MemoryError
        memcpy(self.data, &whole[0], whole.shape[0])
        for i, frame in enumerate(frames):
            self.starts[i] = at
            at += len(frame)
        self.starts[self.n] = at

    def __dealloc__(self):
        free(self.data)
        free(self.starts)


cdef int hostile(uint64_t *state, Corpus corpus, uint8_t *frame, int n_slaves) noexcept nogil:
    cdef int what = below(state, 20)
    cdef int i, size
    if what < 11:
        i = below(state, corpus.n)
        size = corpus.starts[i + 1] - corpus.starts[i]
        memcpy(frame, corpus.data + corpus.starts[i], size)
        return tampered(state, frame, size)
    if what < 18:
        return datagram(state, frame, n_slaves)
    size = below(state, LONGEST)
    noise(state, frame, size)
    return size


cdef void change(uint64_t *state, Ring *ring) noexcept nogil:
    """Pull or put a cable, take or give a supply."""
    cdef int slave = below(state, ring.n)
    cdef int what = below(state, 4)
    if what < 2:
        ring_plug(ring, slave, what)
        return
    if what == 2:
        ring_power(ring, slave, 0)
    ring_power(ring, slave, 1)


def attack(Segment segment, Corpus corpus, seed: int, frames: int) -> int:
    """Send hostile frames into a segment, each in memory of its own size; return how many came back.

    Raises
    ------
    AssertionError
        One came back with another size.
    """
    cdef Ring *ring = &segment.ring
    cdef uint64_t state = seed
    cdef uint8_t[LONGEST + 64] scratch
    cdef uint8_t *frame
    cdef int64_t now
    cdef int64_t answered = 0
    cdef int64_t k
    cdef int64_t n = frames
    cdef int size, left, end
    cdef int bad = 0
    with nogil:
        for k in range(n):
            size = hostile(&state, corpus, scratch, ring.n)
            frame = <uint8_t *> malloc(size + (size == 0))
            if frame == NULL:
                bad = -1
                break
            memcpy(frame, scratch, size)
            now = ring.slaves[0].now_ns + GAPS_NS[below(&state, 5)]
            if below(&state, 10):
                left = ring_process(ring, frame, size, now)
            else:
                end = below(&state, 2)
                left = ring_process_end(ring, &end, frame, size, now)
            free(frame)
            answered += left > 0
            if left != 0 and left != size:
                bad = 1
                break
            if k % CHANGE_EVERY == CHANGE_EVERY - 1:
                change(&state, ring)
    assert bad == 0, f"frame {k} of seed {seed}: {size} bytes came back as {left}"
    return answered


cdef struct Liar:
    Ring *ring
    uint64_t state
    uint8_t waiting[LONGEST]
    int n_waiting
    uint8_t before[LONGEST]       # what came back in an earlier cycle
    int n_before
    int64_t told                  # replies that were not what they should be


cdef int drain(void *self, int is_empty) noexcept nogil:
    cdef Liar *liar = <Liar *> self
    cdef int n = liar.n_waiting > 0
    liar.n_waiting = 0
    return n


cdef int send(void *self, const uint8_t *frame, int size, int64_t t_ns) noexcept nogil:
    cdef Liar *liar = <Liar *> self
    memcpy(liar.before, liar.waiting, LONGEST)
    liar.n_before = liar.n_waiting if liar.n_waiting else liar.n_before
    memcpy(liar.waiting, frame, size)
    liar.n_waiting = ring_process(liar.ring, liar.waiting, size,
                                  max(t_ns, liar.ring.slaves[0].now_ns + 1))
    return -1 if below(&liar.state, 1000) == 0 else 0


cdef int receive(void *self, uint8_t *frame, int capacity, int64_t deadline_ns) noexcept nogil:
    """The reply, or what a broken wire or a stranger might bring in its place."""
    cdef Liar *liar = <Liar *> self
    cdef int size = liar.n_waiting
    cdef int what = below(&liar.state, 20)
    cdef uint8_t lie[LONGEST + 64]
    if size == 0 or what == 0:
        return 0
    if what < 8:
        memcpy(frame, liar.waiting, size)
        memcpy(liar.before, liar.waiting, size)
        liar.n_before = size
        liar.n_waiting = 0
        return size
    liar.told += 1
    if what < 15:
        memcpy(lie, liar.waiting, size)
        size = tampered(&liar.state, lie, size)
        liar.n_waiting = 0
    elif what < 18 and liar.n_before:
        size = liar.n_before
        memcpy(lie, liar.before, size)
    else:
        size = below(&liar.state, capacity)
        noise(&liar.state, lie, size)
    size = min(size, capacity)
    memcpy(frame, lie, size)
    return size


cdef class LyingLink(Link):
    """A link to a segment that seldom brings what the slaves have answered."""
    cdef Segment segment
    cdef Liar liar

    def __init__(self, Segment segment, seed: int):
        self.segment = segment
        self.liar.ring = &segment.ring
        self.liar.state = seed
        self.transport.self = &self.liar
        self.transport.drain = drain
        self.transport.send = send
        self.transport.receive = receive

    @property
    def told(self) -> int:
        return self.liar.told

"""What happened around each late cycle: a ring of the newest cycles, copied out when one is late.

Fixed memory in the table file, one writer. A late cycle opens an event: the BEFORE cycles before it
come out of the ring, then it and the AFTER cycles that follow are written to both. A cycle that is
late within an open event belongs to it. The first EVENTS are kept, later ones are only counted.
"""
from libc.stdint cimport int64_t, uint32_t

from rt_core.shared cimport load_relaxed, store_relaxed, store_release

cdef enum:
    STAGES = 6                   # blocks with a time of their own; the last takes the others too
    RECORD_WORDS = 8
    BEFORE = 16                  # a power of two, as it is the ring
    AFTER = 16
    EVENTS = 64
    OPENED = 0                   # events in all, those not kept too
    EVENT_RECORDS = BEFORE + 1 + AFTER
    EVENT_WORDS = RECORD_WORDS * (1 + EVENT_RECORDS)    # number of records and place of the late one, then records
    TRACE_WORDS = RECORD_WORDS * (1 + BEFORE) + EVENTS * EVENT_WORDS

cdef struct Record:              # 64 bytes; durations end at 4.29 s
    int64_t cycle
    int64_t deadline_ns          # since the common zero
    uint32_t cause
    uint32_t elapsed             # periods since the cycle before
    uint32_t late_ns             # begin - deadline
    uint32_t slept_ns            # of that, asleep
    uint32_t wall_ns             # begin to end
    uint32_t cpu_ns
    uint32_t stage_ns[STAGES]

cdef struct Trace:
    int64_t *words               # NULL: nothing is kept
    int64_t n                    # records written to the ring
    int64_t event                # the open one, -1 if there is none
    int64_t filled               # records in it
    int64_t left                 # cycles until it is closed


cdef inline uint32_t brief(int64_t ns) noexcept nogil:
    return 0 if ns < 0 else <uint32_t>min(ns, <int64_t>4294967295)


cdef inline void _put(int64_t *to, const int64_t *words) noexcept nogil:
    cdef int i
    for i in range(RECORD_WORDS):
        store_relaxed(to + i, words[i])


cdef inline void _open(Trace *trace) noexcept nogil:
    cdef int64_t opened = load_relaxed(trace.words + OPENED)
    cdef int64_t before = min(trace.n, <int64_t>BEFORE)
    cdef int64_t *event
    cdef int64_t i
    store_relaxed(trace.words + OPENED, opened + 1)
    trace.left = AFTER + 1
    trace.filled = before
    trace.event = opened if opened < EVENTS else -1
    if trace.event < 0:
        return
    event = trace.words + RECORD_WORDS * (1 + BEFORE) + trace.event * EVENT_WORDS
    for i in range(before):
        _put(
            event + RECORD_WORDS * (1 + i),
            trace.words + RECORD_WORDS * (1 + ((trace.n - before + i) & (BEFORE - 1))),
        )
    store_relaxed(event + 1, before)
    store_release(event, before)


cdef inline void trace_cycle(Trace *trace, const Record *record) noexcept nogil:
    cdef int64_t *event
    if record.cause != 0 and trace.left == 0:
        _open(trace)
    if trace.left > 0:
        if trace.event >= 0:
            event = trace.words + RECORD_WORDS * (1 + BEFORE) + trace.event * EVENT_WORDS
            _put(event + RECORD_WORDS * (1 + trace.filled), <const int64_t *>record)
            trace.filled += 1
            store_release(event, trace.filled)
        trace.left -= 1
    _put(
        trace.words + RECORD_WORDS * (1 + (trace.n & (BEFORE - 1))), <const int64_t *>record
    )
    trace.n += 1

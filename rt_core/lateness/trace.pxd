"""A trace around each late cycle: a ring of the newest cycles, copied out when one is late.

Fixed memory in the table file, one writer. A late cycle opens an event: the BEFORE cycles before it come out of the
ring, then it and the AFTER cycles that follow are written to both. A cycle that is late within an open event belongs
to it, if it has the same cause and reached no further; else it opens one of its own.

Each cause has places of its own, so that none is lost for many others: its FIRST events stay, its WORST are kept by
how far they reached beyond their deadline, and its NEWEST are the rest. An event of the first or the worst that is
kept is never overwritten by one that is neither. While an event is being written over, it has no records.
"""
from libc.stdint cimport int64_t, uint32_t

from rt_core.shared cimport load_relaxed, store_relaxed, store_release

cdef enum:
    STAGES = 6                   # blocks with a time of their own; the last takes the others too
    RECORD_WORDS = 12
    BEFORE = 16                  # a power of two, as it is the ring
    AFTER = 16
    CAUSES = 5                   # of cause.Cause, NONE not counted
    FIRST = 4                    # events of each cause
    WORST = 8
    NEWEST = 4
    PLACES = FIRST + WORST + NEWEST
    EVENTS = CAUSES * PLACES
    OPENED = 0                   # events in all, those not kept too; then of each cause
    EVENT_RECORDS = BEFORE + 1 + AFTER
    EVENT_WORDS = RECORD_WORDS * (1 + EVENT_RECORDS)    # head, then records
    TRACE_WORDS = RECORD_WORDS * (1 + BEFORE) + EVENTS * EVENT_WORDS
    # words of an event's head
    RECORDS = 0                  # written so far
    LATE_AT = 1                  # place of the late one among them
    NUMBER = 2                   # of the event, from 1
    REACH = 3                    # from its deadline to its end, ns

cdef struct Record:              # 96 bytes; durations end at 4.29 s, counts at 2^32 - 1
    int64_t cycle
    int64_t deadline_ns          # since the common zero
    uint32_t cause
    uint32_t elapsed             # periods since the cycle before
    uint32_t late_ns             # begin - deadline
    uint32_t slept_ns            # of that, asleep
    uint32_t wall_ns             # begin to end
    uint32_t cpu_ns
    uint32_t faults              # page faults of the thread since the last look, at a cycle that was long
    uint32_t denormals           # bit i: stage i met denormal numbers
    uint32_t stage_ns[STAGES]
    uint32_t stage_work[STAGES]  # by the witness of each block, 0 without one

cdef struct Trace:
    int64_t *words               # NULL: nothing is kept
    int64_t n                    # records written to the ring
    int64_t event                # the open one, -1 if there is none
    int64_t filled               # records in it
    int64_t left                 # cycles until it is closed
    int64_t reach                # of the open one
    int64_t cause


cdef inline uint32_t brief(int64_t ns) noexcept nogil:
    return 0 if ns < 0 else <uint32_t>min(ns, <int64_t>4294967295)


cdef inline void _put(int64_t *to, const int64_t *words) noexcept nogil:
    cdef int i
    for i in range(RECORD_WORDS):
        store_relaxed(to + i, words[i])


cdef inline int64_t *_event(Trace *trace, int64_t event) noexcept nogil:
    return trace.words + RECORD_WORDS * (1 + BEFORE) + event * EVENT_WORDS


cdef inline int64_t _place(Trace *trace, int64_t cause, int64_t reach, int64_t opened) noexcept nogil:
    # which event of this cause gives way; `opened` of it came before
    cdef int64_t base = (cause - 1) * PLACES
    cdef int64_t least = base + FIRST
    cdef int64_t i
    if opened < FIRST + WORST:
        return base + opened
    for i in range(base + FIRST, base + FIRST + WORST):
        if _event(trace, i)[REACH] < _event(trace, least)[REACH]:
            least = i
    if reach > _event(trace, least)[REACH]:
        return least
    return base + FIRST + WORST + opened % NEWEST


cdef inline void _open(Trace *trace, int64_t cause, int64_t reach) noexcept nogil:
    cdef int64_t *head = trace.words + OPENED
    cdef int64_t opened = load_relaxed(head)
    cdef int64_t alike = load_relaxed(head + cause)
    cdef int64_t before = min(trace.n, <int64_t>BEFORE)
    cdef int64_t *event
    cdef int64_t i
    trace.event = _place(trace, cause, reach, alike)
    trace.left = AFTER + 1
    trace.filled = before
    trace.reach = reach
    trace.cause = cause
    event = _event(trace, trace.event)
    store_release(event + RECORDS, 0)
    store_release(event + NUMBER, opened + 1)
    for i in range(before):
        _put(
            event + RECORD_WORDS * (1 + i),
            trace.words + RECORD_WORDS * (1 + ((trace.n - before + i) & (BEFORE - 1))),
        )
    store_relaxed(event + LATE_AT, before)
    store_relaxed(event + REACH, reach)
    store_release(event + RECORDS, before)
    store_release(head + cause, alike + 1)
    store_release(head, opened + 1)


cdef inline void trace_cycle(Trace *trace, const Record *record) noexcept nogil:
    cdef int64_t *event
    cdef int64_t reach = <int64_t>record.late_ns + record.wall_ns
    cdef int64_t cause = min(<int64_t>record.cause, <int64_t>CAUSES)
    if cause != 0 and (trace.left == 0 or cause != trace.cause or reach > trace.reach):
        _open(trace, cause, reach)
    if trace.left > 0:
        event = _event(trace, trace.event)
        _put(event + RECORD_WORDS * (1 + trace.filled), <const int64_t *>record)
        trace.filled += 1
        store_release(event + RECORDS, trace.filled)
        trace.left -= 1
    _put(
        trace.words + RECORD_WORDS * (1 + (trace.n & (BEFORE - 1))), <const int64_t *>record
    )
    trace.n += 1

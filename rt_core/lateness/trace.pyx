"""Reading the events of trace.pxd out of a table's words, and writing them as the loop does."""
import numpy as np

from libc.stdint cimport int64_t
from libc.string cimport memset

# words of one task's trace in a table file
TRACE_SIZE = TRACE_WORDS
CYCLES_BEFORE, CYCLES_AFTER, EVENTS_KEPT, STAGES_KEPT = BEFORE, AFTER, EVENTS, STAGES
FIRST_KEPT, WORST_KEPT, NEWEST_KEPT = FIRST, WORST, NEWEST

RECORD = np.dtype([
    ("cycle", "<i8"), ("deadline_ns", "<i8"), ("cause", "<u4"), ("elapsed", "<u4"),
    ("late_ns", "<u4"), ("slept_ns", "<u4"), ("wall_ns", "<u4"), ("cpu_ns", "<u4"),
    ("faults", "<u4"), ("denormals", "<u4"), ("stage_ns", "<u4", (STAGES,)), ("stage_work", "<u4", (STAGES,)),
])
assert RECORD.itemsize == sizeof(Record) == 8 * RECORD_WORDS


def read_events(words):
    words = np.asarray(words, np.int64)
    if words.shape != (TRACE_WORDS,):
        raise ValueError(f"a trace has {TRACE_WORDS} words, not {words.shape}")
    opened = max(0, int(words[OPENED]))
    events = words[RECORD_WORDS * (1 + BEFORE):].reshape(EVENTS, EVENT_WORDS)
    found = []
    for event in events:
        number = int(event[NUMBER])
        # an index that another process wrote cannot lead outside
        n = min(max(int(event[RECORDS]), 0), EVENT_RECORDS)
        at = int(event[LATE_AT])
        rows = event[RECORD_WORDS:RECORD_WORDS * (1 + n)].copy()
        # written over meanwhile: it is another event now
        if 0 <= at < n and number > 0 and number == int(event[NUMBER]) and n <= int(event[RECORDS]):
            found.append((number, at, rows.view(RECORD)))
    found.sort(key=lambda event: event[0])
    return opened, [(at, rows) for _, at, rows in found]


def trace_records(records):
    records = np.ascontiguousarray(records, RECORD)
    words = np.zeros(TRACE_WORDS, np.int64)
    cdef int64_t[::1] to = words
    cdef const int64_t[::1] given = records.view(np.int64)
    cdef Trace trace
    cdef int64_t i
    memset(&trace, 0, sizeof(Trace))
    trace.words = &to[0]
    for i in range(len(records)):
        trace_cycle(&trace, <const Record *>&given[i * RECORD_WORDS])
    return words

"""Reading the events of trace.pxd out of a table's words."""
import numpy as np

# words of one task's trace in a table file
TRACE_SIZE = TRACE_WORDS
CYCLES_BEFORE, CYCLES_AFTER, EVENTS_KEPT, STAGES_KEPT = BEFORE, AFTER, EVENTS, STAGES

RECORD = np.dtype([
    ("cycle", "<i8"), ("deadline_ns", "<i8"), ("cause", "<u4"), ("elapsed", "<u4"),
    ("late_ns", "<u4"), ("slept_ns", "<u4"), ("wall_ns", "<u4"), ("cpu_ns", "<u4"),
    ("stage_ns", "<u4", (STAGES,)),
])
assert RECORD.itemsize == sizeof(Record) == 8 * RECORD_WORDS


def read_events(words):
    words = np.asarray(words, np.int64)
    if words.shape != (TRACE_WORDS,):
        raise ValueError(f"a trace has {TRACE_WORDS} words, not {words.shape}")
    opened = max(0, int(words[OPENED]))
    events = words[RECORD_WORDS * (1 + BEFORE):].reshape(EVENTS, EVENT_WORDS)
    found = []
    for event in events[:min(opened, EVENTS)]:
        # what another process wrote leads nowhere outside
        n = min(max(int(event[0]), 0), EVENT_RECORDS)
        at = int(event[1])
        if 0 <= at < n:
            rows = event[RECORD_WORDS:RECORD_WORDS * (1 + n)].copy().view(RECORD)
            found.append((at, rows))
    return opened, found

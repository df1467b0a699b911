"""Reading the cycles around late ones out of foreign memory; writing them is tested with the live loop."""

import numpy as np
import pytest

from rt_core.trace import (
    CYCLES_AFTER,
    CYCLES_BEFORE,
    EVENTS_KEPT,
    RECORD,
    TRACE_SIZE,
    read_events,
)

EVENT_WORDS = 8 * (1 + CYCLES_BEFORE + 1 + CYCLES_AFTER)


def test_a_record_is_one_cache_line():
    assert RECORD.itemsize == 64
    assert TRACE_SIZE == 8 * (1 + CYCLES_BEFORE) + EVENTS_KEPT * EVENT_WORDS


def test_a_fresh_trace_has_no_event():
    assert read_events(np.zeros(TRACE_SIZE, np.int64)) == (0, [])


def test_an_event_that_is_still_being_written_shows_what_is_there():
    words = np.zeros(TRACE_SIZE, np.int64)
    words[0] = 1
    event = words[8 * (1 + CYCLES_BEFORE) :][:EVENT_WORDS]
    event[:2] = 3, 2
    event[8::8][:3] = 10, 11, 12
    opened, ((at, rows),) = read_events(words)
    assert (opened, at) == (1, 2)
    assert rows["cycle"].tolist() == [10, 11, 12]


@pytest.mark.parametrize("nonsense", [-1, 1 << 62, 34])
def test_nonsense_leads_nowhere(nonsense):
    words = np.full(TRACE_SIZE, nonsense, np.int64)
    _, events = read_events(words)
    assert all(0 <= at < len(rows) <= CYCLES_BEFORE + 1 + CYCLES_AFTER for at, rows in events)
    with pytest.raises(ValueError, match="words"):
        read_events(words[:-1])

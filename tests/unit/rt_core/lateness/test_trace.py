"""The cycles around late ones: written as the loop does, and read out of foreign memory."""

import numpy as np
import pytest

from rt_core.lateness.cause import Cause
from rt_core.lateness.trace import (
    CYCLES_AFTER,
    CYCLES_BEFORE,
    EVENTS_KEPT,
    FIRST_KEPT,
    NEWEST_KEPT,
    RECORD,
    TRACE_SIZE,
    WORST_KEPT,
    read_events,
    trace_records,
)

WORDS = RECORD.itemsize // 8
EVENT_WORDS = WORDS * (1 + CYCLES_BEFORE + 1 + CYCLES_AFTER)
HEAD = WORDS * (1 + CYCLES_BEFORE)


def cycles(n, late):
    """Return n cycles; `late` is cycle → (cause, ns from begin to end)."""
    records = np.zeros(n, RECORD)
    records["cycle"] = np.arange(n)
    records["wall_ns"] = 1000
    for cycle, (cause, wall_ns) in late.items():
        records["cause"][cycle], records["wall_ns"][cycle] = cause, wall_ns
    return records


def kept(records):
    """Return the number of events, and the late cycle of each that was kept."""
    opened, events = read_events(trace_records(records))
    return opened, [int(rows["cycle"][at]) for at, rows in events]


def test_the_sizes_are_those_of_the_records():
    assert RECORD.itemsize == 96
    assert (len(Cause) - 1) * (FIRST_KEPT + WORST_KEPT + NEWEST_KEPT) == EVENTS_KEPT
    assert TRACE_SIZE == HEAD + EVENTS_KEPT * EVENT_WORDS


def test_a_fresh_trace_has_no_event():
    assert read_events(np.zeros(TRACE_SIZE, np.int64)) == (0, [])


def test_the_only_overrun_of_its_own_outlives_hundreds_of_late_wakes():
    late = {40 * i: (Cause.LATE_WAKE, 5000 + i) for i in range(1, 300)}
    late[40 * 150 + 20] = (Cause.OWN, 3000)
    opened, found = kept(cycles(40 * 301, late))
    assert opened == 300
    assert 40 * 150 + 20 in found


def test_an_own_overrun_within_the_event_of_a_late_wake_has_an_event_of_its_own():
    opened, found = kept(cycles(100, {50: (Cause.LATE_WAKE, 9000), 53: (Cause.OWN, 3000)}))
    assert (opened, found) == (2, [50, 53])


def test_what_is_kept_of_a_cause_are_the_first_the_worst_and_the_newest():
    rng = np.random.default_rng(7)
    n = 500
    reach = {40 * (i + 1): int(ns) for i, ns in enumerate(rng.permutation(n) * 1000 + 2000)}
    _, found = kept(cycles(40 * (n + 1), {c: (Cause.STOLEN, ns) for c, ns in reach.items()}))
    at = sorted(reach)
    by_reach = sorted(at, key=lambda c: -reach[c])
    assert set(at[:FIRST_KEPT]) <= set(found)
    assert set(by_reach[:WORST_KEPT]) <= set(found)
    others = [c for c in at if c not in by_reach[:WORST_KEPT]]
    assert set(others[-1:]) <= set(found)
    assert len(found) == FIRST_KEPT + WORST_KEPT + NEWEST_KEPT
    assert found == sorted(found)


def test_a_worse_cycle_within_an_open_event_is_not_lost_in_it():
    opened, found = kept(cycles(100, {50: (Cause.OWN, 3000), 52: (Cause.OWN, 90_000)}))
    assert (opened, found) == (2, [50, 52])
    opened, found = kept(cycles(100, {50: (Cause.OWN, 90_000), 52: (Cause.OWN, 3000)}))
    assert (opened, found) == (1, [50])


def test_an_event_has_the_cycles_around_it():
    _, ((at, rows),) = read_events(trace_records(cycles(100, {50: (Cause.OWN, 3000)})))
    assert at == CYCLES_BEFORE
    assert rows["cycle"].tolist() == list(range(50 - CYCLES_BEFORE, 51 + CYCLES_AFTER))


def test_an_event_that_is_still_being_written_shows_what_is_there():
    words = trace_records(cycles(53, {50: (Cause.OWN, 3000)}))
    _, ((at, rows),) = read_events(words)
    assert rows["cycle"][at:].tolist() == [50, 51, 52]
    # a writer that was killed while it wrote over an event left it without records
    words[HEAD + (Cause.OWN - 1) * (EVENTS_KEPT // 5) * EVENT_WORDS] = 0
    assert read_events(words) == (1, [])


@pytest.mark.parametrize("nonsense", [-1, 1 << 62, 34])
def test_nonsense_leads_nowhere(nonsense):
    words = np.full(TRACE_SIZE, nonsense, np.int64)
    _, events = read_events(words)
    assert all(0 <= at < len(rows) <= CYCLES_BEFORE + 1 + CYCLES_AFTER for at, rows in events)
    with pytest.raises(ValueError, match="words"):
        read_events(words[:-1])

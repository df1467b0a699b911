"""The cycles around late ones on disk, and which of them a report shows."""

import numpy as np
import pytest

from rigloop.run_folder.late import LateEvent, late_file, read_events, worst, write_events
from rt_core.lateness.cause import Cause
from rt_core.lateness.trace import RECORD

PERIODS = {"fast": 200_000, "slow": 1_000_000}


def rows(n, at, cause=Cause.OWN, wall_ns=5_000_000, first=100):
    table = np.zeros(n, RECORD)
    table["cycle"] = np.arange(first, first + n)
    table["wall_ns"] = 3000
    table["stage_ns"][:, 0] = 2000
    table["cause"][at] = cause
    table["wall_ns"][at] = wall_ns
    return table


def event(task, cause, wall_ns):
    return LateEvent(task, 1, rows(3, 1, cause, wall_ns))


def test_what_is_written_is_read_again(tmp_path):
    written = [(2, rows(5, 2)), (0, rows(3, 0, Cause.STOLEN))]
    write_events(tmp_path, "fast", written)
    found = read_events(tmp_path, "fast")
    assert [(e.task, e.at, e.cause) for e in found] == [
        ("fast", 2, Cause.OWN),
        ("fast", 0, Cause.STOLEN),
    ]
    for e, (_, records) in zip(found, written, strict=True):
        for name in RECORD.names:
            assert np.array_equal(e.rows[name], records[name])
    assert found[0].excess_ns == 5_000_000


@pytest.mark.parametrize("content", [None, b"", b"no array", b"\x93NUMPY\x01\x00"])
def test_a_file_that_is_not_there_or_another_shows_nothing(tmp_path, content):
    if content is not None:
        (tmp_path / late_file("fast")).write_bytes(content)
    assert read_events(tmp_path, "fast") == []


def test_arrays_of_another_kind_show_nothing(tmp_path):
    np.save(tmp_path / late_file("fast"), np.zeros(4))
    assert read_events(tmp_path, "fast") == []


def test_a_task_without_late_cycles_has_an_empty_file(tmp_path):
    write_events(tmp_path, "fast", [])
    assert (tmp_path / late_file("fast")).exists()
    assert read_events(tmp_path, "fast") == []


def test_the_worst_of_each_task_and_cause_come_first():
    events = [event("fast", Cause.STOLEN, 1_000_000 * k) for k in (9, 8, 7)]
    events += [event("fast", Cause.OWN, 300_000), event("slow", Cause.STOLEN, 1_500_000)]
    found = worst(events, PERIODS, 4)
    assert [(e.task, e.cause, e.excess_ns) for e in found] == [
        ("fast", Cause.STOLEN, 9_000_000),
        ("slow", Cause.STOLEN, 1_500_000),
        ("fast", Cause.OWN, 300_000),
        ("fast", Cause.STOLEN, 8_000_000),
    ]


@pytest.mark.parametrize("header", ["{'descr': (\n", "{'descr': '''", "(" * 90, "'\\ud800'", "{}"])
def test_a_header_that_somebody_changed_is_no_late_event(tmp_path, header):
    text = header.encode().ljust(117) + b"\n"
    (tmp_path / late_file("fast")).write_bytes(b"\x93NUMPY\x01\x00v\x00" + text + bytes(500))
    assert read_events(tmp_path, "fast") == []

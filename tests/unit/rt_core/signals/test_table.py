"""The table file: who may read it, what it says of itself, and which files it refuses."""

import json
import os
import signal
import stat
import subprocess
import sys

import numpy as np
import pytest

from rt_core.injection.load import BusyBlock
from rt_core.loop.loop import Loop
from rt_core.plan import Task, plan_table
from rt_core.signals.layout import HEADER, TableError, run_of
from rt_core.signals.table import RingReader, SignalTable

SUPERVISOR_SIGNALS = ("supervisor/heartbeat", "supervisor/arm")


@pytest.fixture
def plan():
    return plan_table([Task("fast", [BusyBlock("busy", 0)], 1_000_000)], SUPERVISOR_SIGNALS)


@pytest.fixture
def table(plan, tmp_path):
    table = SignalTable.create(tmp_path / "table", plan)
    yield table
    table.close()


def test_the_file_is_for_its_owner_only_and_fully_allocated(table):
    status = os.stat(table.path)
    assert stat.S_IMODE(status.st_mode) == 0o600
    assert status.st_blocks * 512 >= status.st_size == table.layout.total_bytes
    assert os.listdir(os.path.dirname(table.path)) == ["table"]


def test_a_table_is_never_taken_over(table, plan):
    with pytest.raises(TableError, match="taken: your own"):
        SignalTable.create(table.path, plan)
    assert os.listdir(os.path.dirname(table.path)) == ["table"]


def test_a_link_and_a_file_that_others_may_write_are_no_tables(table, plan, tmp_path):
    link = tmp_path / "link"
    link.symlink_to(table.path)
    with pytest.raises(TableError, match="a symbolic link"):
        SignalTable.attach(link)
    with pytest.raises(TableError, match="taken"):
        SignalTable.create(link, plan)
    os.chmod(table.path, 0o622)
    with pytest.raises(TableError, match="mode 0622"):
        SignalTable.attach(table.path)


CUT = """
import os, sys
from rt_core.signals.layout import TableError
from rt_core.injection.load import BusyBlock
from rt_core.loop.loop import Loop
from rt_core.plan import Task, plan_table
from rt_core.signals.table import RingReader, SignalTable
plan = plan_table([Task("fast", [BusyBlock("busy", 0)], 1_000_000)], ("supervisor/heartbeat",))
path, size = sys.argv[1], int(sys.argv[2])
with SignalTable.create(path, plan) as table, SignalTable.attach(path, writable=True) as other:
    loop, ring = Loop(plan, table), RingReader(other, "fast")
    loop.start()
    ring.drain()
    os.truncate(path, size)
    told = []
    for use in (
        lambda: other.value("loop/fast/cycle"),
        lambda: other.publish({"supervisor/heartbeat": 1.0}),
        lambda: other.histograms("fast"),
        lambda: other.late_events("fast"),
        ring.drain,
        lambda: table.latest("fast"),
    ):
        try:
            use()
        except TableError as error:
            told.append(str(error))
    loop.stop()
    ring.close()
    print(len(told), all("was truncated by another program" in words for words in told), other.cut)
with SignalTable.create(path + "2", plan) as table:
    print(table.cut, table.value("loop/fast/cycle"), flush=True)
os.kill(os.getpid(), 7)
"""


@pytest.mark.parametrize("size", [0, 4096])
def test_a_file_that_is_cut_short_ends_neither_loop_nor_reader(tmp_path, size):
    command = [sys.executable, "-c", CUT, str(tmp_path / "table"), str(size)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.stdout.splitlines() == ["6 True True", "False 0.0"], done.stderr
    # one that somebody sends does what it did before
    assert done.returncode == -signal.SIGBUS


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to somebody else")
def test_a_table_of_another_user_is_refused(table, plan):
    os.chown(table.path, 12345, -1)
    with pytest.raises(TableError, match=r"another user \(uid 12345\)"):
        SignalTable.attach(table.path)
    with pytest.raises(TableError, match=r"taken: of another user \(uid 12345\)"):
        SignalTable.create(table.path, plan)


def test_a_table_says_which_run_it_belongs_to(plan, tmp_path):
    with SignalTable.create(tmp_path / "other", plan, run="runs/1") as made:
        assert run_of(made.layout) == "runs/1"
        with SignalTable.attach(tmp_path / "other") as table:
            assert (run_of(table.layout), table.producers) == ("runs/1", made.producers)


def test_what_was_looked_at_stays_in_the_ring_until_it_is_taken(table):
    ring = RingReader(table, "fast")
    assert len(ring.peek()) == 0
    with pytest.raises(ValueError, match="1 cycles are not in the ring"):
        ring.advance(1)
    ring.tell_unwritten(7, 28)
    assert (ring.counters()["unwritten"], ring.counters()["unwritten_errno"]) == (7, 28)
    ring.close()


def test_live_values_are_published_beside_the_supervisor(tmp_path):
    live = ("live/changes", "live/gain")
    task = Task("fast", [BusyBlock("busy", 0)], 1_000_000)
    with SignalTable.create(tmp_path / "t", plan_table([task], SUPERVISOR_SIGNALS, live)) as table:
        table.publish({"live/gain": 2.0, "live/changes": 1.0}, "live")
        table.publish({"supervisor/arm": 1.0})
        assert table.latest("live").tolist() == [1.0, 2.0]
        assert table.value("supervisor/arm") == 1.0
        with pytest.raises(KeyError, match="the producer 'live' has no signal 'supervisor/arm'"):
            table.publish({"supervisor/arm": 0.0}, "live")
        with pytest.raises(ValueError, match="the loop itself publishes the images of 'fast'"):
            table.publish({"loop/fast/cycle": 0.0}, "fast")


def test_a_reader_needs_nothing_but_the_file(table):
    with SignalTable.attach(table.path) as reader:
        assert reader.producers == table.producers
        assert reader.paths("supervisor") == SUPERVISOR_SIGNALS


def test_published_values_are_seen_and_kept(table):
    with SignalTable.attach(table.path) as reader:
        assert reader.latest_with_number("supervisor")[0] == 0
        table.publish({"supervisor/heartbeat": 7})
        table.publish({"supervisor/arm": 1})
        assert reader.latest_with_number("supervisor")[0] == 2
        assert np.array_equal(reader.latest("supervisor"), [7, 1])
        assert reader.value("supervisor/heartbeat") == 7


def test_a_copy_does_not_change_later(table):
    before = table.latest("supervisor")
    table.publish({"supervisor/arm": 1})
    assert np.array_equal(before, [0, 0])


def test_a_reader_for_reading_cannot_write(table):
    with SignalTable.attach(table.path) as reader:
        with pytest.raises(TableError, match="writable=True"):
            reader.publish({"supervisor/arm": 1})
        with pytest.raises(TableError, match="writable=True"):
            RingReader(reader, "fast")


def test_unknown_names_are_answered_with_what_there_is(table):
    with pytest.raises(KeyError, match="fast, supervisor"):
        table.latest("slow")
    with pytest.raises(KeyError, match="supervisor/amr"):
        table.publish({"supervisor/amr": 1})
    with pytest.raises(KeyError, match="wheel"):
        table.value("wheel/angle_rad")


def test_a_closed_table_says_so_and_a_used_one_stays_open(table):
    reader = RingReader(table, "fast")
    with pytest.raises(RuntimeError, match="in use"):
        table.close()
    reader.close()
    table.close()
    with pytest.raises(TableError, match="closed"):
        table.latest("fast")


def test_a_loop_refuses_the_table_of_another_plan(table):
    other = plan_table([Task("fast", [BusyBlock("other", 0)], 1_000_000)], SUPERVISOR_SIGNALS)
    with pytest.raises(TableError, match="another plan"):
        Loop(other, table)


def rewrite_description(data, change):
    magic, abi, total, length = HEADER.unpack_from(data)
    entries = json.loads(data[HEADER.size : HEADER.size + length])
    text = json.dumps(change(entries)).encode()
    head = HEADER.pack(magic, abi, total, len(text)) + text
    return head + data[len(head) :]


def with_producer(**changes):
    def change(entries):
        entries["producers"][0].update(changes)
        return entries

    return lambda data: rewrite_description(data, change)


HOSTILE = {
    "empty": (lambda data: b"", "too short"),
    "foreign": (lambda data: b"\x7fELF" + data[4:], "not a signal table"),
    "other ABI": (lambda data: data[:8] + b"\x63" + data[9:], "ABI 99"),
    "truncated": (lambda data: data[:-4096], "truncated"),
    "head only": (lambda data: data[: HEADER.size], "truncated"),
    "grown": (lambda data: data + b"\0" * 4096, "truncated or foreign"),
    "huge description": (
        lambda data: HEADER.pack(*HEADER.unpack_from(data)[:3], 1 << 60) + data[HEADER.size :],
        "does not fit",
    ),
    "negative description": (
        lambda data: HEADER.pack(*HEADER.unpack_from(data)[:3], -1) + data[HEADER.size :],
        "does not fit",
    ),
    "no JSON": (lambda data: data[: HEADER.size] + b"\xff" * 50 + data[82:], "bad description"),
    "no producers": (lambda data: rewrite_description(data, lambda _: [1]), "bad description"),
    "deep JSON": (
        lambda data: rewrite_description(data, lambda _: json.loads("[" * 900 + "]" * 900)),
        "bad description",
    ),
    "ring outside": (with_producer(ring_slots=1 << 40), "is not a count"),
    "ring of another size": (with_producer(ring_slots=1 << 20), "needs"),
    "ring no power of two": (with_producer(ring_slots=1000), "power of two"),
    "names no text": (with_producer(signals=[["x"]]), "is not a name"),
    "repeated cells": (with_producer(signals=["a/b", "a/b"]), "repeated"),
    "period no count": (with_producer(period_ns=-1), "is not a count"),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_file_that_is_no_good_table_is_refused_by_name(kind, table, tmp_path):
    spoil, reason = HOSTILE[kind]
    path = tmp_path / "spoilt"
    with open(table.path, "rb") as file:
        path.write_bytes(spoil(file.read()))
    with pytest.raises(TableError, match=reason) as caught:
        SignalTable.attach(path)
    assert str(path) in str(caught.value)


def test_what_is_no_file_is_refused_without_waiting(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(TableError, match="not a regular file"):
        SignalTable.attach(tmp_path / "pipe")
    with pytest.raises(FileNotFoundError):
        SignalTable.attach(tmp_path / "missing")


def test_a_ring_with_impossible_counters_is_refused(table):
    reader = RingReader(table, "fast")
    area = table.layout.areas["fast"]
    with open(table.path, "r+b") as file:
        file.seek(area.ring * 8)
        file.write((1 << 40).to_bytes(8, "little"))
    with pytest.raises(TableError, match="corrupt"):
        reader.drain()
    reader.close()

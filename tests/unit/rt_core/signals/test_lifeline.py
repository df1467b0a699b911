"""A process that dies is marked in the table before its memory is taken apart; one that ends in order is not."""

import os
import signal
import subprocess
import sys
import time

import pytest

from rt_core.injection.load import BusyBlock
from rt_core.loop.loop import Loop
from rt_core.plan import Task, plan_table
from rt_core.signals.lifeline import Lifeline, has_died
from rt_core.signals.table import SignalTable

HOLDS = """
import sys
from rt_core.signals.lifeline import Lifeline
from rt_core.signals.table import SignalTable
table = SignalTable.attach(sys.argv[1], writable=True)
line = Lifeline(table)
print("held", flush=True)
sys.stdin.read()
line.end()
table.close()
"""


@pytest.fixture
def plan():
    # with a watchdog: it is who looks
    return plan_table([Task("fast", [BusyBlock("busy", 0)], 1_000_000, stall_cycles=10_000)])


@pytest.fixture
def table(tmp_path, plan):
    with SignalTable.create(tmp_path / "table", plan) as table:
        yield table


@pytest.fixture
def holder(table):
    child = subprocess.Popen(
        [sys.executable, "-c", HOLDS, table.path],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdout.readline() == "held\n"
    with child:
        yield child
        child.kill()


def is_soon(what):
    until = time.monotonic() + 10.0
    while not what() and time.monotonic() < until:
        time.sleep(0.001)
    return what()


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV])
def test_a_process_that_dies_is_marked(table, holder, number):
    assert not has_died(table)
    holder.send_signal(number)
    assert is_soon(lambda: has_died(table))


@pytest.mark.slow
def test_a_process_that_ends_in_order_is_not(table, holder):
    holder.stdin.close()
    assert holder.wait(10.0) == 0
    assert not has_died(table)


@pytest.mark.slow
def test_a_loop_is_asked_to_stop_when_its_supervisor_dies(plan, table, holder):
    with Loop(plan, table) as loop:
        assert not loop.wait(0.05)
        holder.kill()
        assert loop.wait(10.0)
        assert loop.orphaned
        assert loop.stop_requested


def test_a_table_is_not_closed_under_its_lifeline(table):
    with Lifeline(table), pytest.raises(RuntimeError, match="in use"):
        table.close()


def test_a_forked_process_ends_the_lifeline_of_nobody(table):
    with Lifeline(table) as line:
        pid = os.fork()
        if pid == 0:
            line.end()
            os._exit(0)
        assert os.waitpid(pid, 0)[1] == 0
        # the number of the thread that holds it
        with open(table.path, "rb") as file:
            file.seek(table.layout.life * 8)
            assert int.from_bytes(file.read(4), sys.byteorder) in map(
                int, os.listdir("/proc/self/task")
            )


def test_a_table_that_is_only_read_has_none(table):
    with SignalTable.attach(table.path) as looks, pytest.raises(ValueError, match="writable=True"):
        Lifeline(looks)

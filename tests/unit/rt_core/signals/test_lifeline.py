"""A process that dies is marked in the table before its memory is taken apart; one that ends in order is not."""

import errno
import os
import platform
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

# a kernel without robust futexes, as a filter of system calls makes one
HAS_NONE = """
import ctypes, os, struct, sys
from rt_core.signals.lifeline import Lifeline
from rt_core.signals.table import SignalTable
table = SignalTable.attach(sys.argv[1], writable=True)
lines = [(0x20, 0, 0, 0), (0x15, 0, 1, int(sys.argv[2])), (0x06, 0, 0, 0x00050000 | 38), (0x06, 0, 0, 0x7FFF0000)]
text = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in lines))
program = struct.pack("HxxxxxxP", len(lines), ctypes.addressof(text))
libc = ctypes.CDLL(None, use_errno=True)
assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, program) == 0, os.strerror(ctypes.get_errno())
before = set(os.listdir("/proc/self/task"))
try:
    Lifeline(table)
except OSError as error:
    print(error.errno, set(os.listdir("/proc/self/task")) == before)
table.close()
"""
SET_ROBUST_LIST = {"x86_64": 273, "aarch64": 99}


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


@pytest.mark.slow
@pytest.mark.skipif(platform.machine() not in SET_ROBUST_LIST, reason="another number of the call")
def test_a_kernel_that_has_none_is_named_and_no_thread_stays(table):
    number = str(SET_ROBUST_LIST[platform.machine()])
    done = subprocess.run(
        [sys.executable, "-c", HAS_NONE, table.path, number], capture_output=True, text=True
    )
    assert (done.stdout, done.returncode) == (f"{errno.ENOSYS} True\n", 0), done.stderr


def test_a_table_that_is_only_read_has_none(table):
    with SignalTable.attach(table.path) as looks, pytest.raises(ValueError, match="writable=True"):
        Lifeline(looks)

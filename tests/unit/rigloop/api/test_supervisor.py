"""The line to a supervisor: whose it is after a fork, and what a refusal on the command line says."""

import os
import signal
import socket
import subprocess
import time
from types import SimpleNamespace

import msgspec
import pytest

from rigloop.api.rig import NotRunningError, Rig
from rigloop.api.supervisor import NotAnsweringError, Supervisor
from rigloop.live_values.orders import LiveAnswer, LiveOrder


@pytest.fixture
def played(monkeypatch):
    """Return a supervisor whose process is played, and the process's end of the line."""
    ends = []

    def start(command, stdin, stdout, stderr, **options):
        ends.append(socket.socket(fileno=os.dup(stdin)))
        os.write(stderr.fileno(), "\n".join(BOXED).encode())
        return SimpleNamespace(pid=os.getpid(), returncode=2, poll=lambda: 2, wait=lambda s: 2)

    monkeypatch.setattr(subprocess, "Popen", start)
    yield Supervisor(["live_bench"]), ends[0]
    ends[0].close()


BOXED = (
    "Usage: rigloop run [OPTIONS] RIG",
    "╭─ Error ─────────────────────────────╮",
    "│ Invalid value for '--mode': 'quick' │",
    "╰─────────────────────────────────────╯",
)


def in_a_fork(act):
    """Call something in a forked process, which then sleeps; return its number and if the call was as wanted."""
    there, here = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.write(here, b"1" if act() else b"0")
            signal.pause()
        finally:
            os._exit(1)
    os.close(here)
    good = os.read(there, 1) == b"1"
    os.close(there)
    return pid, good


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_the_line_ends_with_the_program_though_a_fork_of_it_lives(played):
    supervisor, end = played
    rig = Rig("live_bench")
    rig._supervisor = supervisor
    rig._watched = SimpleNamespace(close=lambda: None)

    def is_refused():
        with pytest.raises(NotRunningError, match="before this process was forked"):
            rig.stop()
        with pytest.raises(NotRunningError, match="before this process was forked"):
            rig.write(assistance=1.0)
        rig.__exit__(None, None, None)  # as the end of a `with` block does
        return True

    pid, good = in_a_fork(is_refused)
    try:
        assert good
        end.settimeout(0.05)
        with pytest.raises(TimeoutError):
            end.recv(1)  # the run goes on
        supervisor._line.close()  # as the death of the program does
        end.settimeout(10.0)
        assert end.recv(1) == b""
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def test_what_the_command_line_refuses_comes_without_its_box(played):
    supervisor, _ = played
    assert str(supervisor.refusal()).splitlines()[-1] == "Invalid value for '--mode': 'quick'"
    assert "│" not in str(supervisor.refusal())
    assert "╭" not in str(supervisor.refusal())


def test_a_supervisor_that_stands_still_is_waited_for_once(played):
    supervisor, end = played

    def ask(timeout_s=10.0):
        return supervisor.ask({"gain": 1.0}, (), (), "anna", timeout_s)

    with pytest.raises(NotAnsweringError, match=r"within 0\.01 s"):
        ask(0.01)
    order = msgspec.json.decode(end.recv(1000), type=LiveOrder)
    # whenever it goes on, it knows that nobody waits
    assert 0 < order.until_ns <= time.monotonic_ns()
    with pytest.raises(NotAnsweringError, match="not answered yet"):
        ask()
    # the late answer, then that of the next order
    for number in (order.number, order.number + 1):
        end.sendall(msgspec.json.encode(LiveAnswer(number, 5)) + b"\n")
    assert ask() == 5


def test_a_supervisor_that_was_killed_has_not_refused_to_start(played):
    supervisor, _ = played
    supervisor.process.returncode = -9
    words = str(supervisor.refusal())
    assert "killed (SIGKILL)" in words
    assert "`rigloop report`" in words
    assert "mode" not in words


def test_an_order_to_arm_has_a_moment_after_which_it_is_void(played):
    supervisor, end = played
    supervisor.arm(5.0)
    word, until = end.recv(100).split()
    assert word == b"arm"
    assert abs(int(until) - time.monotonic_ns() - 5_000_000_000) < 5_000_000_000

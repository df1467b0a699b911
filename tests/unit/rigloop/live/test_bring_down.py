"""The end of processes: in bounded time, whatever they do."""

import os
import signal
import subprocess
import sys
import time

import pytest

from rigloop.host import children
from rigloop.live import bring_down

DEAF = "import signal, time; signal.signal(15, signal.SIG_IGN); print('up', flush=True); time.sleep(60)"


@pytest.fixture
def quick(monkeypatch):
    monkeypatch.setattr(bring_down, "STOP_TIMEOUT_S", 0.2)
    monkeypatch.setattr(children, "STOP_TIMEOUT_S", 0.2)


@pytest.fixture
def deaf():
    child = subprocess.Popen([sys.executable, "-c", DEAF], stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "up\n"
    yield child
    child.kill()
    child.communicate()


@pytest.mark.slow
def test_a_child_that_does_not_listen_is_killed(quick, deaf):
    assert bring_down.end(deaf) == -signal.SIGKILL


def test_a_child_that_stands_still_is_killed_at_once(quick, deaf):
    os.kill(deaf.pid, signal.SIGSTOP)
    assert bring_down.end(deaf) == -signal.SIGKILL


class Undying(subprocess.Popen):
    """A process whose thread never gets a core: SIGKILL is pending, and it is still there."""

    def kill(self):
        pass


@pytest.mark.slow
def test_a_child_that_cannot_even_die_is_not_waited_for(quick):
    child = Undying([sys.executable, "-c", DEAF], stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "up\n"
    try:
        began = time.monotonic()
        assert bring_down.end(child) is None
        with children.ended(child):
            pass
        assert child.poll() is None
        assert time.monotonic() - began < 30.0
    finally:
        os.kill(child.pid, signal.SIGKILL)
        child.communicate()

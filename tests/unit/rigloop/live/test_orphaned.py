"""A loop without its supervisor is noticed; one whose supervisor lives, or is not known, goes on."""

import subprocess
import sys

from rigloop.live import orphaned
from rigloop.live.orphaned import Orphaned
from rigloop.run_folder.process_state import Process
from rigloop.run_folder.tables import table_path


def sleeper():
    return subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])


def named_after(process):
    return f"/dev/shm/rigloop-0-{process.pid}-{process.start_ticks}"


def test_the_end_of_the_supervisor_is_seen(monkeypatch):
    monkeypatch.setattr(orphaned, "LOOK_S", 0.0)
    child = sleeper()
    try:
        is_orphaned = Orphaned(named_after(Process.of(child.pid)))
        assert not is_orphaned()
        child.kill()
        child.wait()
        assert is_orphaned()
    finally:
        child.kill()


def test_another_process_of_the_same_number_is_not_the_supervisor(monkeypatch):
    monkeypatch.setattr(orphaned, "LOOK_S", 0.0)
    child = sleeper()
    try:
        real = Process.of(child.pid)
        assert Orphaned(named_after(Process(real.pid, real.start_ticks + 1)))()
    finally:
        child.kill()
        child.wait()


def test_a_table_that_names_nobody_has_nobody_to_lose():
    assert not Orphaned("/dev/shm/rigloop-trial-1")()
    assert not Orphaned(table_path())()

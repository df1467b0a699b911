"""What is read of real processes."""

import os
import subprocess
import sys

from rigloop.soak.processes import SUPERVISOR, processes_of_run, sample

CHILD = """
import threading, sys
print("a", flush=True); sys.stdin.readline()
kept = bytearray(b"x" * 50_000_000)
files = [open("/dev/null") for _ in range(7)]
threads = [threading.Thread(target=threading.Event().wait, daemon=True) for _ in range(3)]
for thread in threads: thread.start()
print("b", flush=True); sys.stdin.readline()
"""


def test_memory_threads_and_files_of_a_process_are_seen_to_grow():
    with subprocess.Popen(
        [sys.executable, "-c", CHILD], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        child.stdout.readline()
        before = sample(child.pid)
        print(file=child.stdin, flush=True)
        child.stdout.readline()
        after = sample(child.pid)
        child.kill()
    assert 45_000 < after.own_kib - before.own_kib < 110_000
    assert after.resident_kib >= after.own_kib
    assert after.threads == before.threads + 3
    assert after.files == before.files + 7
    assert after.faults == {}


def test_a_process_that_has_ended_is_nothing():
    child = subprocess.Popen([sys.executable, "-c", ""])
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert sample(child.pid) is None  # a zombie
    child.wait()
    assert sample(child.pid) is None


def test_processes_of_a_run_are_found_by_their_role_also_below_another():
    code = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'input()', 'io_bridge.recording.recorder'])"
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE) as outer:
        try:
            found = {}
            for _ in range(500):
                found = processes_of_run(os.getpid())
                if "recorder" in found:
                    break
        finally:
            outer.stdin.close()
            outer.wait(20)
    assert found[SUPERVISOR] == os.getpid()
    assert found["recorder"] not in (os.getpid(), outer.pid)
    assert "cycle" not in found

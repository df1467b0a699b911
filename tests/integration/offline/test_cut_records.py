"""Records that something else cuts short while a command reads them: named, and no command dies of it."""

import os
import subprocess
import sys

import numpy as np
import pytest

from io_bridge.recording.record import RecordWriter

READER = """
import gc, os, sys
import numpy as np
from io_bridge.recording.record import cut_records, open_record
path, size = sys.argv[1], int(sys.argv[2])
record = open_record(path)
column = record["a"][::2]
assert column[-1] == 1.0 and not cut_records()
os.truncate(path, size)
print(float(record["a"][-1]), float(column[-1]), len(cut_records()))
del record
gc.collect()
print(float(column.sum()) <= len(column), len(cut_records()))
del column
gc.collect()
print(len(cut_records()))
for _ in range(200):
    assert len(open_record(sys.argv[3])) == 10
again = open_record(sys.argv[3])
assert again["a"][-1] == 1.0 and len(cut_records()) == 1
"""


def written(path, rows):
    with RecordWriter(path, ["a"]) as writer:
        block = np.ones(rows, writer.dtype)
        writer.append(block)
    return path


@pytest.mark.parametrize("size", [0, 4096, 100_000])
def test_rows_that_are_gone_are_zeros_and_the_record_is_named(tmp_path, size):
    record, other = written(tmp_path / "r.npy", 100_000), written(tmp_path / "other.npy", 10)
    command = [sys.executable, "-c", READER, str(record), str(size), str(other)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, (done.returncode, done.stderr)
    assert done.stdout.splitlines() == ["0.0 0.0 1", "True 1", "1"]


COMMAND = """
import os, sys
from rigloop.console.answers import told
with told(False):
    from io_bridge.recording.record import open_record
    record = open_record(sys.argv[1])
    os.truncate(sys.argv[1], 0)
    if sys.argv[2] == "computes":
        1 / int(record["a"][-1])
    record["a"].sum()
"""


@pytest.mark.parametrize("how", ["computes", "adds"])
def test_a_command_ends_with_the_name_of_the_record(tmp_path, how):
    record = written(tmp_path / "r.npy", 100_000)
    command = [sys.executable, "-c", COMMAND, str(record), how]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, env=os.environ)
    assert "r.npy: was cut short by something else while it was read" in done.stderr
    assert "ZeroDivision" not in done.stderr.splitlines()[0]
    assert done.returncode > 0

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
from io_bridge.recording.record import open_record, take_cut_records
path, size = sys.argv[1], int(sys.argv[2])
record = open_record(path)
column = record["a"][::2]
assert column[-1] == 1.0 and not take_cut_records()
os.truncate(path, size)
print(float(record["a"][-1]), float(column[-1]))
if sys.argv[4] == "while it is open":
    print(take_cut_records())
del record
gc.collect()
assert float(column.sum()) <= len(column)
del column
gc.collect()
print(take_cut_records())
for _ in range(200):
    assert len(open_record(sys.argv[3])) == 10
again = open_record(sys.argv[3])
assert again["a"][-1] == 1.0 and not take_cut_records()
"""


def written(path, rows):
    with RecordWriter(path, ["a"]) as writer:
        block = np.ones(rows, writer.dtype)
        writer.append(block)
    return path


@pytest.mark.parametrize("when", ["while it is open", "once it is closed"])
@pytest.mark.parametrize("size", [0, 4096, 100_000])
def test_rows_that_are_gone_are_zeros_and_the_record_is_named_once(tmp_path, size, when):
    record, other = written(tmp_path / "r.npy", 100_000), written(tmp_path / "other.npy", 10)
    command = [sys.executable, "-c", READER, str(record), str(size), str(other), when]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, (done.returncode, done.stderr)
    named = [f"{record}: was truncated by another program while it was read"]
    said = [str(named), "[]"] if when == "while it is open" else [str(named)]
    assert done.stdout.splitlines() == ["0.0 0.0", *said]


COMMAND = """
import os, sys
from rigloop.console.answers import errors_as_lines
with errors_as_lines(False):
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
    assert "r.npy: was truncated by another program while it was read" in done.stderr
    assert "ZeroDivision" not in done.stderr.splitlines()[0]
    assert done.returncode > 0

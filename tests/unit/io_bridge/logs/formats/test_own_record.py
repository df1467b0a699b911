"""Records of our own runs as logs: one that was cut says so beside its rows."""

import subprocess
import sys

import numpy as np
import pytest

from io_bridge.logs.formats.own_record import read_own_record, record_parts
from io_bridge.recording.record import RecordWriter, record_dtype


@pytest.fixture
def cut(tmp_path):
    dtype = record_dtype(["wheel/angle_rad"])
    rows = np.zeros(100, dtype)
    rows["t_ns"] = np.arange(100) * 1_000_000
    path = tmp_path / "estimation.npy"
    with RecordWriter(path, ["wheel/angle_rad"]) as writer:
        writer.append(rows)
    path.write_bytes(path.read_bytes()[:-4])
    return path


@pytest.mark.filterwarnings("error")
def test_a_record_that_was_cut_is_read_with_a_remark(cut):
    table = read_own_record(cut)
    assert len(table.row) == 99
    assert "the last row is cut (12 of 16 bytes); left out" in table.remarks[0]
    assert "100 rows were written, 99 are there" in table.remarks[1]
    assert sum(len(part.row) for part in record_parts(cut, 10)) == 99


@pytest.mark.slow
def test_a_reader_that_computes_for_ever_is_ended_by_its_processor_time_alone():
    code = "from io_bridge.logs.formats.fence import bound_time; bound_time(1)\nwhile True: pass"
    done = subprocess.run([sys.executable, "-c", code], timeout=300, check=False)
    assert done.returncode == -24  # SIGXCPU

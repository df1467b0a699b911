import gc
import os
import resource
import signal
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from io_bridge.recording.record import (
    RecordError,
    RecordFull,
    RecordWarning,
    RecordWriter,
    open_record,
    record_dtype,
)
from rt_core.signals.mapped_file import guard_memory, release_memory

FIELDS = ("wheel/angle_rad", "loop/estimation/late_ns")


def rows(n, first=0):
    out = np.zeros(n, record_dtype(FIELDS))
    out["t_ns"] = (first + np.arange(n)) * 250_000
    out["wheel/angle_rad"] = np.sin(first + np.arange(n))
    return out


def test_closed_record_is_a_plain_npy(tmp_path):
    path = tmp_path / "a.npy"
    with RecordWriter(path, FIELDS) as writer:
        writer.append(rows(3))
        writer.append(rows(0))
        writer.append(rows(4, first=3))
    for read in (np.load(path, mmap_mode="r"), np.load(path), open_record(path)):
        np.testing.assert_array_equal(read, rows(7))
    assert isinstance(open_record(path), np.memmap)


def test_record_is_read_while_it_grows(tmp_path):
    writer = RecordWriter(tmp_path / "a.npy", FIELDS)
    assert len(open_record(writer.path)) == 0
    writer.append(rows(5))
    assert len(open_record(writer.path)) == 5
    writer.append(rows(5, first=5))
    np.testing.assert_array_equal(open_record(writer.path), rows(10))
    writer.close()
    writer.close()


def test_record_of_a_killed_writer_is_whole(tmp_path):
    path = tmp_path / "a.npy"
    program = textwrap.dedent(
        f"""
        import numpy as np
        from io_bridge.recording.record import RecordWriter
        writer = RecordWriter({str(path)!r}, {FIELDS!r})
        k = 0
        while True:
            row = np.zeros(7, writer.dtype)
            row["t_ns"] = np.arange(k, k + 7)
            writer.append(row)
            k += 7
            if k == 7000:
                print("going", flush=True)
        """
    )
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE)
    try:
        assert process.stdout.readline() == b"going\n"
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.wait(timeout=20)
        process.stdout.close()
    record = open_record(path)
    assert len(record) >= 7000
    np.testing.assert_array_equal(record["t_ns"], np.arange(len(record)))


@given(cut=st.integers(1, 23))
def test_cut_last_row_is_left_out_and_said(tmp_path_factory, cut):
    path = tmp_path_factory.mktemp("cut") / "a.npy"
    writer = RecordWriter(path, FIELDS)
    writer.append(rows(6))
    os.truncate(path, path.stat().st_size - cut)
    with pytest.warns(RecordWarning, match="last row is cut"):
        record = open_record(path)
    np.testing.assert_array_equal(record, rows(5))
    writer.close()


def test_rows_lost_after_the_close_are_said(tmp_path):
    path = tmp_path / "a.npy"
    with RecordWriter(path, FIELDS) as writer:
        writer.append(rows(6))
    os.truncate(path, path.stat().st_size - 2 * writer.dtype.itemsize)
    with pytest.warns(RecordWarning, match="6 rows were written, 4 are there"):
        assert len(open_record(path)) == 4


def test_full_disk_leaves_whole_rows_and_says_so(tmp_path):
    # a limit on the size of files stands for the full disk: the same short write, then an error
    path = tmp_path / "a.npy"
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    writer = RecordWriter(path, FIELDS)
    writer.append(rows(10))
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + 100, hard))
        with pytest.raises(RecordFull, match="after 14 rows"):
            writer.append(rows(10, first=10))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, before)
    writer.close()
    np.testing.assert_array_equal(np.load(path), rows(14))


def test_record_of_many_signals_opens(tmp_path):
    fields = [f"task/{'x' * 60}/signal_{i}_rad" for i in range(500)]
    with RecordWriter(tmp_path / "a.npy", fields) as writer:
        writer.append(np.zeros(2, writer.dtype))
    assert open_record(tmp_path / "a.npy").dtype.names[1:] == tuple(fields)


def test_existing_file_is_never_overwritten(tmp_path):
    path = tmp_path / "a.npy"
    path.write_text("precious")
    with pytest.raises(FileExistsError):
        RecordWriter(path, FIELDS)
    assert path.read_text() == "precious"


@pytest.mark.parametrize(
    "fields", [("a", "a"), ("t_ns",), ("",), ("ä",), [f"{i:0200}" for i in range(400)]]
)
def test_fields_that_cannot_be_a_record_are_refused(tmp_path, fields):
    with pytest.raises(RecordError):
        RecordWriter(tmp_path / "a.npy", fields)
    assert not (tmp_path / "a.npy").exists()


def test_rows_with_other_fields_are_refused(tmp_path):
    with (
        RecordWriter(tmp_path / "a.npy", FIELDS) as writer,
        pytest.raises(RecordError, match="other fields"),
    ):
        writer.append(np.zeros(3, record_dtype(["other"])))


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"time,angle\n0,1\n",
        b"\x93NUMPY\x01\x00\xff\xff{",
        b"\x93NUMPY\x02\x00",
        b"\x93NUMPY\x01\x00\x10\x00{'descr': object}",
        os.urandom(500),
    ],
)
def test_foreign_file_is_refused(tmp_path, content):
    path = tmp_path / "a.npy"
    path.write_bytes(content)
    with pytest.raises(RecordError, match=r"a\.npy: is not a record"):
        open_record(path)


@pytest.mark.parametrize(
    "array", [np.zeros(4), np.zeros((2, 2)), np.zeros(3, [("t_ns", "<f8"), ("a", "<f8")]),
              np.zeros(3, [("t_ns", "<i8"), ("a", "<f4")])]
)  # fmt: skip
def test_npy_that_is_no_record_is_refused(tmp_path, array):
    np.save(tmp_path / "a.npy", array)
    with pytest.raises(RecordError, match="not a record"):
        open_record(tmp_path / "a.npy")


def test_missing_record_is_an_ordinary_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        open_record(tmp_path / "none.npy")


def test_records_that_only_cycles_hold_keep_no_table_from_its_place(tmp_path):
    path = tmp_path / "r.npy"
    with RecordWriter(path, FIELDS) as writer:
        writer.append(rows(3))
    gc.collect()
    gc.disable()
    try:
        for _ in range(300):  # more than there are places
            held = [open_record(path)]
            held.append(held)
        del held
        begin = np.zeros(8)
        release_memory(guard_memory(begin.ctypes.data, begin.nbytes))
    finally:
        gc.enable()

"""Each binary format, written by its own library, comes back equal; CAN logs through a DBC."""

import sys
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).parents[5] / "benchmarks" / "logs"


@pytest.fixture(scope="module", autouse=True)
def intake():
    sys.path.insert(0, str(FOLDER))
    yield
    sys.path.remove(str(FOLDER))


@pytest.fixture(scope="module")
def log():
    from intake.planted import make

    return next(one for one in (make(s, clean=True) for s in range(50)) if one.angle_unit == "deg")


LIBRARIES = {
    "parquet": "pyarrow", "hdf5": "h5py", "mat": "scipy", "mat73": "h5py", "mdf": "asammdf", "mcap": "mcap",
    "candump": "cantools",
}  # fmt: skip


@pytest.mark.parametrize("form", LIBRARIES)
def test_format_comes_back_equal(tmp_path, log, form):
    from intake.files import write

    from io_bridge.logs.formats.fence import tables_of
    from io_bridge.logs.formats.opened import head_of
    from io_bridge.logs.formats.read import format_of, read_tables

    pytest.importorskip(LIBRARIES[form])
    path = write(log, tmp_path, np.random.default_rng(0), form)
    kind = format_of(head_of(path))
    if form == "candump":
        tables = read_tables(path, dbc=path.with_suffix(".dbc"))
    else:
        tables = tables_of(path, kind)
    (table,) = tables
    values = [v for v in table.numbers.values() if np.allclose(v, log.value, atol=1e-4)]
    assert len(values) == 1
    assert len(table.numbers) == 3


def test_damaged_file_is_read_behind_a_fence_and_refused_in_a_line(tmp_path, log):
    from intake.files import write

    from io_bridge.logs.formats.read import read_tables
    from io_bridge.logs.formats.table import LogError

    pytest.importorskip("pyarrow")
    path = write(log, tmp_path, np.random.default_rng(0), "parquet")
    assert len(read_tables(path)[0].row) == len(log.value)
    path.write_bytes(path.read_bytes()[:-20] + b"\xff" * 20)
    with pytest.raises(LogError, match="damaged parquet file") as caught:
        read_tables(path)
    assert "\n" not in str(caught.value)


def test_can_log_without_a_dbc_says_what_it_holds(tmp_path):
    from io_bridge.logs.formats.read import read_tables
    from io_bridge.logs.formats.table import LogError

    path = tmp_path / "log.asc"
    path.write_text("date Mon\nbase hex timestamps absolute\n" + "0.1 1 25 Rx d 2 00 11\n" * 20)
    with pytest.raises(LogError, match=r"20 CAN frames of 1 ids \(0x025\).*--dbc"):
        read_tables(path)


def test_frames_of_can_fd_in_an_asc_log():
    from io_bridge.logs.formats.can_lines import _frames

    line = " 0.010000 CANFD 1 Rx  181  Msg  0 0 4  4 01 02 03 0a  100000 130 1000 0 0 0 0 0"
    (frame,), spoilt = _frames(f"base hex\n{line}\n", "asc")
    assert (frame[:3], spoilt) == ((0.01, 0x181, b"\x01\x02\x03\x0a"), [])


@pytest.mark.parametrize("seed", [0, 1, 2, 3])
def test_asc_log_comes_back_equal_in_either_base(tmp_path, log, seed):
    from intake.files import write

    from io_bridge.logs.formats.read import read_tables

    pytest.importorskip("cantools")
    path = write(log, tmp_path, np.random.default_rng(seed), "asc")
    (table,) = read_tables(path, dbc=path.with_suffix(".dbc"))
    assert not table.spoilt
    np.testing.assert_allclose(table.numbers["STEER_ANGLE"], log.value, atol=1e-4)


def test_relative_stamps_of_an_asc_log_add_up_and_events_are_no_damaged_rows():
    from io_bridge.logs.formats.can_lines import _frames

    lines = [
        "base hex timestamps relative",
        "0.5 1 25 Rx d 1 0a",
        "0.25 CAN 1 Status:chip status error active",
        "0.25 1 25 Rx r",
        "0.5 1 Statistic: D 1 R 0",
        "0.5 SV: 2 0 1 ::wheel = 3",
        "1.0 1 25 Rx d 1 0b",
        "1.0 1 25 Rx d 2 0b",
    ]
    frames, spoilt = _frames("\n".join(lines), "asc")
    assert [frame[:3] for frame in frames] == [(0.5, 0x25, b"\x0a"), (3.0, 0x25, b"\x0b")]
    assert [one.line for one in spoilt] == [8]


def test_packed_log_in_a_packed_log_is_refused_by_name(tmp_path):
    import gzip

    from io_bridge.logs.formats.read import read_tables
    from io_bridge.logs.formats.table import LogError

    path = tmp_path / "log.csv.gz.gz"
    path.write_bytes(gzip.compress(gzip.compress(b"t,angle\n0,1\n")))
    with pytest.raises(LogError, match="gz inside of gz: unpack it first"):
        read_tables(path)


def test_lists_and_stamps_of_json_messages_are_columns(tmp_path):
    import json

    writer = pytest.importorskip("mcap.writer")
    from io_bridge.logs.formats.binary import read_mcap

    path = tmp_path / "bag.mcap"
    with path.open("wb") as file:
        bag = writer.Writer(file)
        bag.start()
        schema = bag.register_schema("JointState", "jsonschema", b"{}")
        channel = bag.register_channel("/joints", "json", schema)
        for k in range(20):
            stamp = {"sec": 5, "nanosec": 10_000_000 * k}
            message = {"header": {"stamp": stamp}, "position": [0.1 * k, 1.0]}
            bag.add_message(channel, k, json.dumps(message).encode(), k)
        bag.finish()
    (table,) = read_mcap(path)
    np.testing.assert_allclose(table.numbers["header.stamp"], 5.0 + 0.01 * np.arange(20))
    np.testing.assert_allclose(table.numbers["position.0"], 0.1 * np.arange(20))


def test_messages_that_unpack_to_more_than_is_read_are_refused(tmp_path, monkeypatch):
    writer = pytest.importorskip("mcap.writer")
    from io_bridge.logs.formats import binary
    from io_bridge.logs.formats.table import LogError

    path = tmp_path / "bomb.mcap"
    with path.open("wb") as file:
        bag = writer.Writer(file)
        bag.start()
        channel = bag.register_channel("/joints", "json", 0)
        for k in range(20):
            bag.add_message(channel, k, b'{"angle_rad": 1, "x": "' + 1000 * b"x" + b'"}', k)
        bag.finish()
    assert len(binary.read_mcap(path)[0].row) == 20
    monkeypatch.setattr(binary, "MOST_BYTES", 10_000)
    with pytest.raises(LogError, match="messages unpack to more than"):
        binary.read_mcap(path)


def test_signals_of_a_scope_are_named_by_their_labels(tmp_path):
    io = pytest.importorskip("scipy.io")
    from io_bridge.logs.formats.binary import read_mat

    values = np.arange(30.0)[:, None]
    kinds = [("values", object), ("label", object)]
    signals = np.array([(values, "Angle [deg]"), (2 * values, "Torque [Nm]")], dtype=kinds)
    path = tmp_path / "scope.mat"
    io.savemat(path, {"ScopeData": {"time": 0.01 * values, "signals": signals}})
    (table,) = read_mat(path)
    assert [name for name in table.numbers if "Angle [deg]" in name]
    np.testing.assert_array_equal(table.numbers["signals/Torque [Nm]/values"], 2 * values[:, 0])


def test_a_file_too_large_to_be_read_whole_is_told_what_is_read_in_parts(tmp_path):
    from io_bridge.logs.formats.read import read_tables
    from io_bridge.logs.formats.table import LogError

    path = tmp_path / "big.mat"
    with path.open("wb") as file:
        file.write(b"MATLAB 5.0 MAT-file, made by hand".ljust(124) + b"\x00\x01IM")
        file.truncate(600 << 20)  # sparse
    with pytest.raises(
        LogError, match=r"600 MiB, at most 512 MiB of it are read: convert it to .*v7\.3"
    ):
        read_tables(path)

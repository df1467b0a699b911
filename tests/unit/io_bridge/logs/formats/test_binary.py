"""Each binary format, written by its own library, comes back equal; CAN logs through a DBC."""

import sys
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).parents[5] / "benchmarks"


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

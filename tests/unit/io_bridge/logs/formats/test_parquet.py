"""Parquet files as other programs write them: moments, durations, times of day, decimals and structures."""

import datetime
import decimal

import numpy as np
import pytest

from io_bridge.logs.formats.parquet import read_parquet

N = 60
T = np.arange(N) * 0.25


def column_of(tmp_path, values):
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "x.parquet"
    parquet.write_table(arrow.table({"t": values, "angle": T}), path)
    (table,) = read_parquet(path)
    return table


@pytest.mark.parametrize(
    "values",
    [
        (T * 1e9).astype("timedelta64[ns]"),
        (T * 1e3).astype("timedelta64[ms]"),
        np.datetime64("1970-01-01T00:00:00", "us") + (T * 1e6).astype("timedelta64[us]"),
        [datetime.time(0, 0, int(t), round(t % 1 * 1e6)) for t in T],
        [f"1970-01-01T00:00:{t:05.2f}Z" for t in T],
    ],
)
def test_each_form_of_time_is_in_seconds(tmp_path, values):
    table = column_of(tmp_path, values)
    assert table.numbers["t"].tolist() == pytest.approx(T.tolist(), abs=1e-9)
    assert table.units == {"t": "s"}


def test_a_structure_is_several_columns_and_the_parts_of_a_stamp_are_one(tmp_path):
    stamps = [{"sec": int(t), "nanosec": int(t % 1 * 1e9)} for t in T]
    table = column_of(
        tmp_path, [{"stamp": stamp, "x": 2.0 * t} for stamp, t in zip(stamps, T, strict=True)]
    )
    assert table.numbers["t.stamp"].tolist() == T.tolist()
    assert table.numbers["t.x"].tolist() == (2.0 * T).tolist()


def test_decimals_are_numbers_and_words_are_not(tmp_path):
    assert (
        column_of(tmp_path, [decimal.Decimal(f"{t:.2f}") for t in T]).numbers["t"].tolist()
        == T.tolist()
    )
    assert "t" not in column_of(tmp_path, ["idle"] * N).numbers


def test_a_moment_that_is_missing_is_no_number(tmp_path):
    moments = np.array(["NaT", *["1970-01-01"] * (N - 1)], "M8[ns]")
    table = column_of(tmp_path, moments)
    assert np.isnan(table.numbers["t"][0])
    assert table.numbers["t"][1] == 0.0

"""Columns of a Parquet file: numbers, moments, durations, and those in structures."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from io_bridge.logs.formats.opened import extra
from io_bridge.logs.formats.stamps import STAMP, seconds_of_all
from io_bridge.logs.formats.table import (
    MOST_CELLS,
    MOST_COLUMNS,
    Array,
    LogError,
    Table,
    whole_table,
)
from io_bridge.logs.formats.window import Window

MOST_DEPTH = 6
LOOKED_AT = 50  # words of a column, by which it is known to be of moments
STAMP_PARTS = (("sec", "nanosec"), ("sec", "nsec"), ("secs", "nsecs"))


def read_parquet(path: Path) -> list[Table]:
    """Read the columns of a Parquet file."""
    parquet = extra("pyarrow.parquet", path)
    types = extra("pyarrow", path).types
    file = parquet.ParquetFile(path, memory_map=True)
    if file.metadata.num_rows * file.metadata.num_columns > MOST_CELLS:
        raise LogError(f"parquet: more than {MOST_CELLS} cells")
    return [_table(types, file.read())]


def parquet_parts(path: Path, window: Window) -> Iterator[list[Table]]:
    """Read the rows of a Parquet file, some at a time."""
    parquet = extra("pyarrow.parquet", path)
    arrow = extra("pyarrow", path)
    file = parquet.ParquetFile(path)
    roots = None
    if window.columns is not None:
        # of a structure the whole is read
        names = file.schema_arrow.names
        roots = [n for n in names if any(c == n or c.startswith(f"{n}.") for c in window.columns)]
    at = 0
    for k in range(file.metadata.num_row_groups):
        n = file.metadata.row_group(k).num_rows
        if at + n <= window.begin:
            at += n
            continue
        # one group after the other: a reader of several of them keeps what it has read
        for batch in file.iter_batches(
            window.size, row_groups=[k], columns=roots, use_threads=False
        ):
            first, at = max(at, window.begin), at + batch.num_rows
            if at > window.begin:
                there = batch.slice(first - (at - batch.num_rows))
                table = _table(arrow.types, arrow.Table.from_batches([there]))
                yield [window.placed(table, first)]


def _table(types: Any, table: Any) -> Table:
    for _ in range(MOST_DEPTH):
        if any(types.is_struct(column.type) for column in table.schema):
            table = table.flatten()
    numbers: dict[str, Array] = {}
    units: dict[str, str] = {}
    for column in table.schema:
        found = _numbers(types, column.type, table.column(column.name))
        if found is None or len(numbers) >= MOST_COLUMNS:
            continue
        numbers[column.name], unit = found
        stated = (column.metadata or {}).get(b"unit") or (column.metadata or {}).get(b"units")
        unit = stated.decode(errors="replace") if stated else unit
        if unit:
            units[column.name] = unit
    remarks = [
        f"{key.decode(errors='replace')}: {value[:200].decode(errors='replace')}"
        for key, value in (table.schema.metadata or {}).items()
        if key not in (b"pandas", b"ARROW:schema")
    ]
    numbers, units = stamped(numbers), {**units}
    return whole_table("", numbers, units, "parquet", tuple(remarks))


def _numbers(types: Any, kind: Any, column: Any) -> tuple[Array, str] | None:
    # values and the unit that their type states; None: no numbers
    if types.is_decimal(kind):
        column = column.cast("float64")
    elif types.is_time32(kind) or types.is_time64(kind):
        column = column.cast(f"time64[{'ns' if kind.unit == 'ns' else 'us'}]").cast("int64")
        return column.to_numpy() * (1e-9 if kind.unit == "ns" else 1e-6), "s"
    elif types.is_string(kind) or types.is_large_string(kind):
        return _moments(["" if word is None else word for word in column.to_pylist()])
    values = column.to_numpy()
    if values.dtype.kind in "Mm":
        whole = values.astype(f"{values.dtype.kind}8[ns]")
        return np.where(np.isnat(whole), np.nan, whole.astype(np.int64) * 1e-9), "s"
    return (values.astype(float), "") if values.dtype.kind in "iufb" else None


def _moments(words: list[str]) -> tuple[Array, str] | None:
    few = words[:LOOKED_AT]
    if not few or sum(bool(STAMP.match(word)) for word in few) <= len(few) / 2:
        return None
    return seconds_of_all(words), "s"


def stamped(columns: dict[str, Array]) -> dict[str, Array]:
    """Return columns in which the two parts of a stamp are one."""
    found = dict(columns)
    for name in columns:
        for whole, part in STAMP_PARTS:
            stem = name.removesuffix(f".{whole}")
            if stem != name and f"{stem}.{part}" in found and name in found:
                found[stem] = found.pop(name) + 1e-9 * found.pop(f"{stem}.{part}")
    return found

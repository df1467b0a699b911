"""The table of a sweep: a row a replay, the same bytes whoever computed it and however often it was resumed."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from io_bridge.logs.formats.opened import extra

Row = dict[str, Any]
Columns = dict[str, list[Any]]


def columns_of(
    rows: Sequence[Row],
    sources: Sequence[str],
    keys: Sequence[str],
    points: Sequence[tuple[Any, ...]],
    metrics: Sequence[str],
) -> Columns:
    """Return columns in the order of sources and points: parameters, metrics, hash, faults, error."""
    order = {source: n for n, source in enumerate(sources)}
    rows = sorted(rows, key=lambda row: (order[row["source"]], row["point"]))
    columns: Columns = {
        "source": [row["source"] for row in rows],
        "point": [row["point"] for row in rows],
    }
    for k, key in enumerate(keys):
        columns[key] = alike([points[row["point"]][k] for row in rows])
    for name in metrics:
        columns[name] = [float(row["metrics"].get(name, math.nan)) for row in rows]
    for name in ("sha256", "faults", "error"):
        columns[name] = [row[name] for row in rows]
    return columns


def alike(values: list[Any]) -> list[Any]:
    """Return values of one type: those of several as numbers, or as text."""
    types = {type(value) for value in values}
    if types <= {int, float} and len(types) > 1:
        return [float(value) for value in values]
    if len(types) > 1 or not types <= {int, float, bool, str}:
        return [value if isinstance(value, str) else json.dumps(value) for value in values]
    return values


def write_table(columns: Columns, facts: Mapping[str, Any], path: Path) -> None:
    """Write the table as Parquet, all of it or nothing.

    Raises
    ------
    LogError
        pyarrow is not installed.
    OSError
        It cannot be written.
    """
    arrow, parquet = extra("pyarrow", path, "written"), extra("pyarrow.parquet", path, "written")
    table = arrow.table({name: arrow.array(values) for name, values in columns.items()})
    table = table.replace_schema_metadata({"rigloop": json.dumps(dict(facts))})
    building = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        parquet.write_table(table, building)
        building.replace(path)
    finally:
        building.unlink(missing_ok=True)


def numbers(columns: Columns, name: str) -> np.ndarray:
    """Return a column as numbers: those of words are their place among the words."""
    values = columns[name]
    if all(isinstance(value, int | float) for value in values):
        return np.array(values, float)
    known = list(dict.fromkeys(values))
    return np.array([known.index(value) for value in values], float)

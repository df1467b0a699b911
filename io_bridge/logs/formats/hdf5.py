"""HDF5 by h5py: data sets of one folder and length as tables, whole or some rows at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from io_bridge.logs.formats.opened import extra
from io_bridge.logs.formats.table import (
    MOST_CELLS,
    MOST_COLUMNS,
    Array,
    LogError,
    Table,
    whole_table,
)
from io_bridge.logs.formats.window import Window

NAMES_OF_COLUMNS = ("columns", "column_names", "names", "labels", "fields")
MOST_ACROSS = 64  # columns of a matrix

_Named = list[tuple[str, "_Column"]]


@dataclass(frozen=True)
class _Column:
    """A column that is read when some of its rows are asked for."""

    name: str
    length: int
    unit: str
    rows: Callable[[slice], Any]


def read_hdf5(path: Path) -> list[Table]:
    """Read the data sets of an HDF5 file, and of a MATLAB v7.3 file, which is one."""
    h5py = extra("h5py", path)
    with h5py.File(path, "r") as file:
        columns = _columns(h5py, file)
        cells = sum(one.length for one in columns)
        if cells > MOST_CELLS:
            raise LogError(f"hdf5: {cells} cells, at most {MOST_CELLS} are read at once")
        remarks = _remarks(file)
        return [_table(name, m, slice(None), remarks) for name, m in _tables(columns)]


def hdf5_parts(path: Path, window: Window) -> Iterator[list[Table]]:
    """Read rows of the data sets of an HDF5 file, some at a time."""
    h5py = extra("h5py", path)
    with h5py.File(path, "r") as file:
        tables = _tables(_columns(h5py, file))
        if window.table is not None:
            tables = tables[window.table : window.table + 1]
        tables = [(f, [(n, c) for n, c in m if window.wants(n)]) for f, m in tables]
        remarks, begin = _remarks(file), window.begin
        while there := [(f, m) for f, m in tables if m and m[0][1].length > begin]:
            rows = slice(begin, begin + window.size)
            yield [window.placed(_table(f, m, rows, remarks), begin) for f, m in there]
            begin += window.size


def grouped(columns: Sequence[tuple[str, int]]) -> list[tuple[str, list[tuple[int, str]]]]:
    """Return the folders of columns, by paths and lengths, with the number and the name of each column in them.

    Columns of one folder and one length are one table, and so are those of folders in it without a time of their own.
    """
    homes = {(name.rpartition("/")[0], length) for name, length in columns}
    groups: dict[tuple[str, int], list[tuple[int, str]]] = {}
    for k, (name, length) in enumerate(columns):
        steps = name.split("/")
        depth = next(i for i in range(len(steps)) if ("/".join(steps[:i]), length) in homes)
        folder, last = "/".join(steps[:depth]), "/".join(steps[depth:])
        groups.setdefault((folder, length), []).append((k, last))
    return [(folder, members) for (folder, _), members in groups.items()]


def _tables(columns: Sequence[_Column]) -> list[tuple[str, _Named]]:
    places = grouped([(one.name, one.length) for one in columns])
    return [(folder, [(name, columns[k]) for k, name in members]) for folder, members in places]


def _table(folder: str, members: _Named, rows: slice, remarks: tuple[str, ...]) -> Table:
    numbers: dict[str, Array] = {n: np.asarray(one.rows(rows), dtype=float) for n, one in members}
    units = {name: one.unit for name, one in members if one.unit}
    return whole_table(folder, numbers, units, "hdf5", remarks)


def _remarks(file: Any) -> tuple[str, ...]:
    return tuple(f"{key}: {str(value)[:200]}" for key, value in file.attrs.items())


def _columns(h5py: Any, file: Any) -> list[_Column]:
    found: list[_Column] = []

    def look(name: str, item: Any) -> None:
        is_wanted = isinstance(item, h5py.Dataset) and not name.startswith("#")
        if is_wanted and len(found) < MOST_COLUMNS:
            found.extend(_of_item(name, item))

    file.visititems(look)
    return found


def _of_item(name: str, item: Any) -> Iterator[_Column]:
    # a vector, a matrix of a few columns, whichever way it lies, or a vector of structures
    shape = tuple(item.shape)
    unit = item.attrs.get("unit", item.attrs.get("units", ""))
    unit = unit.decode(errors="replace") if isinstance(unit, bytes) else str(unit)
    if item.dtype.names and len(shape) == 1:
        for n in item.dtype.names:
            if item.dtype[n].kind in "iufb" and not item.dtype[n].shape:
                yield _Column(f"{name}/{n}", shape[0], "", partial(_rows_of_field, item, n))
    if item.dtype.kind not in "iufb" or len(shape) not in (1, 2) or item.size < 4:
        return
    if len(shape) == 1:
        yield _Column(name, shape[0], unit, item.__getitem__)
        return
    length, across = max(shape), min(shape)
    if across > MOST_ACROSS:
        return
    names = _columns_named(item)
    for k in range(across):
        last = name if across == 1 else f"{name}/{names[k]}" if names else f"{name}_{k + 1}"
        if shape[0] >= shape[1]:
            yield _Column(last, length, unit, partial(_rows_of, item, k))
        else:
            yield _Column(last, length, unit, partial(_rows_across, item, k))


def _rows_of_field(item: Any, name: str, rows: slice) -> Any:
    return item[rows][name]


def _rows_of(item: Any, k: int, rows: slice) -> Any:
    return item[rows, k]


def _rows_across(item: Any, k: int, rows: slice) -> Any:
    return item[k, rows]


def _columns_named(item: Any) -> list[str]:
    # names of a matrix's columns, from an attribute that has as many
    for key in NAMES_OF_COLUMNS:
        cells = np.ravel(item.attrs.get(key, []))
        words = [c.decode(errors="replace") if isinstance(c, bytes) else str(c) for c in cells]
        if len(words) == min(item.shape) and all(words):
            return [word.replace("/", " ")[:80] for word in words]
    return []

"""The table of a file that a mapping reads, and the mapping that fits a file; of a missing name those near are said."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from io_bridge.logs.formats.table import LogError, Table
from rig_configs.log_schema import LogMapping, matching_mapping, shipped_mappings
from rig_configs.mistakes import near


def table_and_mapping(
    path: Path, tables: Sequence[Table], mapping: LogMapping | None
) -> tuple[Table, LogMapping]:
    """Return the table that a mapping reads; without one, the shipped mapping that fits a table.

    Raises
    ------
    LogError
        None fits.
    """
    if mapping is not None:
        return table_for(path, tables, mapping), mapping
    for table in tables:
        if (found := matching_mapping(table.columns)) is not None:
            return table, found
    raise LogError(_no_mapping(path, tables[0].columns))


def table_for(path: Path, tables: Sequence[Table], mapping: LogMapping) -> Table:
    """Return the table of a file that a mapping reads.

    Raises
    ------
    LogError
        There is no such table, or it lacks columns: all of them are named.
    """
    named = (
        [table for table in tables if table.name == mapping.table]
        if mapping.table
        else list(tables)
    )
    if not named:
        raise LogError(
            f"{path}: no table {mapping.table}; found {', '.join(t.name for t in tables)[:300]}"
        )
    fits = [table for table in named if set(mapping.columns) <= set(table.columns)]
    if fits:
        return fits[0]
    missing = [name for name in mapping.columns if name not in named[0].columns]
    raise LogError("; ".join(_no_column(path, name, named[0].columns, mapping) for name in missing))


def _no_column(path: Path, name: str, columns: tuple[str, ...], mapping: LogMapping) -> str:
    return (
        f"{path}: no column {name} (mapping {mapping.name}); found {', '.join(columns)}; "
        f"{near(name, columns)}"
    )


def _no_mapping(path: Path, columns: tuple[str, ...]) -> str:
    known = shipped_mappings()
    found = f"{path}: no shipped mapping fits its columns {', '.join(columns)}"
    # the mapping that misses least, if it is close
    nearest = min(known, key=lambda m: len(set(m.header) - set(columns)) / len(m.header))
    lacking = [name for name in nearest.header if name not in columns]
    hint = (
        f"; for {nearest.name} it lacks {', '.join(lacking)}"
        if 0 < len(lacking) < len(nearest.header)
        else ""
    )
    names = ", ".join(m.name for m in known)
    remedy = (
        f"`rigloop log check {shlex.quote(str(path))} --write FILE` makes one for --mapping FILE"
    )
    return f"{found}{hint}; {remedy} (shipped: {names})"

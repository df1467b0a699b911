"""MDF4 by asammdf: channel groups as tables, whole or some rows at a time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from io_bridge.logs.formats.opened import extra
from io_bridge.logs.formats.table import MOST_COLUMNS, Array, Table, whole_table
from io_bridge.logs.formats.window import Window

MASTERS = (2, 3)  # types of channels that hold the time


def read_mdf(path: Path) -> list[Table]:
    """Read the channel groups of an MDF4 (or MDF3) file; the time of each is its master channel."""
    with extra("asammdf", path).MDF(path) as mdf:
        tables = [_table(mdf, index, None, 0, None) for index in range(len(mdf.groups))]
    return [table for table in tables if table is not None]


def mdf_parts(path: Path, window: Window) -> Iterator[list[Table]]:
    """Read rows of the channel groups of an MDF4 file, some at a time."""
    with extra("asammdf", path).MDF(path) as mdf:
        groups = [
            index
            for index, group in enumerate(mdf.groups)
            if group.channel_group.cycles_nr and _table(mdf, index, None, 0, 1) is not None
        ]
        if window.table is not None:
            groups = groups[window.table : window.table + 1]
        begin = window.begin
        while True:
            tables = []
            for index in groups:
                n = min(window.size, int(mdf.groups[index].channel_group.cycles_nr) - begin)
                table = _table(mdf, index, window, begin, n) if n > 0 else None
                if table is not None:
                    tables.append(window.placed(table, begin))
            if not tables:
                return
            yield tables
            begin += window.size


def _table(
    mdf: Any, index: int, window: Window | None, begin: int, count: int | None
) -> Table | None:
    group = mdf.groups[index]
    names = [channel.name for channel in group.channels[:MOST_COLUMNS]]
    named = "time" if "time" not in names else "master time"
    numbers: dict[str, Array] = {}
    units: dict[str, str] = {}
    stamps = np.zeros(0)
    for k, channel in enumerate(group.channels[:MOST_COLUMNS]):
        if window and not window.wants(channel.name):
            continue
        signal = mdf.get(
            group=index,
            index=k,
            ignore_invalidation_bits=True,
            record_offset=begin,
            record_count=count,
        )
        samples = np.asarray(signal.samples)
        stamps = np.asarray(signal.timestamps, dtype=float)
        is_master = channel.channel_type in MASTERS
        if is_master or samples.ndim != 1 or samples.dtype.kind not in "iufb":
            continue
        numbers[channel.name] = samples.astype(float)
        units[channel.name] = signal.unit or ""
    if not numbers:
        return None
    name = str(getattr(group.channel_group, "acq_name", "") or f"group {index}")
    numbers = {named: stamps, **numbers}
    return whole_table(name, numbers, {named: "s", **units}, "mdf")

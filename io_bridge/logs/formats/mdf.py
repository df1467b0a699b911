"""MDF4 by asammdf: channel groups as tables, whole or some rows at a time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from io_bridge.logs.formats.opened import extra
from io_bridge.logs.formats.table import MOST_COLUMNS, Array, Table, whole_table
from io_bridge.logs.formats.window import Window

FRAGMENT_BYTES = 8 << 20
MASTERS = (2, 3)  # types of channels that hold the time


def read_mdf(path: Path) -> list[Table]:
    """Read the channel groups of an MDF4 (or MDF3) file; the time of each is its master channel."""
    with extra("asammdf", path).MDF(path) as mdf:
        tables = [_table(mdf, index, None) for index in range(len(mdf.groups))]
    return [table for table in tables if table is not None]


def mdf_parts(path: Path, window: Window) -> Iterator[list[Table]]:
    """Read rows of the channel groups of an MDF4 file, some at a time."""
    with extra("asammdf", path).MDF(path) as mdf:
        mdf.configure(read_fragment_size=FRAGMENT_BYTES)
        groups = [
            index
            for index, group in enumerate(mdf.groups)
            if group.channel_group.cycles_nr and _table(mdf, index, 1) is not None
        ]
        if window.table is None:
            first = [_table(mdf, index, window.size) for index in groups]
            yield [window.placed(table, 0) for table in first if table is not None]
            return
        for table in _in_order(mdf, groups[window.table], window):
            yield [table]


def _in_order(mdf: Any, index: int, window: Window) -> Iterator[Table]:
    # each channel of a group piece by piece: all of them come in the same pieces
    whole = _table(mdf, index, 1)
    if whole is None:
        return
    time, *names = whole.numbers
    channels = mdf.groups[index].channels[:MOST_COLUMNS]
    last = {channel.name: k for k, channel in enumerate(channels)}
    wanted = [name for name in names if window.wants(name)] or names[:1]
    pieces = zip(*(mdf.iter_get(group=index, index=last[name]) for name in wanted), strict=True)
    at = 0
    for signals in pieces:
        n = len(signals[0].samples)
        columns = {time: np.asarray(signals[0].timestamps, dtype=float)}
        columns |= {
            name: np.asarray(one.samples).astype(float)
            for name, one in zip(wanted, signals, strict=True)
        }
        for first in range(max(at, window.begin), at + n, window.size):
            rows = slice(first - at, min(first - at + window.size, n))
            some = {name: values[rows] for name, values in columns.items()}
            yield window.placed(whole_table(whole.name, some, whole.units, "mdf"), first)
        at += n


def _table(mdf: Any, index: int, count: int | None) -> Table | None:
    group = mdf.groups[index]
    names = [channel.name for channel in group.channels[:MOST_COLUMNS]]
    named = "time" if "time" not in names else "master time"
    numbers: dict[str, Array] = {}
    units: dict[str, str] = {}
    stamps = np.zeros(0)
    for k, channel in enumerate(group.channels[:MOST_COLUMNS]):
        if count is None:
            signal = mdf.get(group=index, index=k, ignore_invalidation_bits=True)
        else:
            # its first piece: a look at some records alone reads the time of all
            signal = next(mdf.iter_get(group=index, index=k))
        samples = np.asarray(signal.samples)[:count]
        stamps = np.asarray(signal.timestamps, dtype=float)[:count]
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

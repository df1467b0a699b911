"""MDF4: a channel group a task with its time as master, units, the start in UTC; events are a group of texts.

A row of a group is its time and its signals as they stand in a record, so that an export is hardly more than a copy.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from io_bridge.exports.mdf_blocks import REAL, TEXT, Blocks, Channel
from io_bridge.exports.measured import Group, Happening, Measured
from io_bridge.exports.progress import Advance

BYTES = 8  # of a number
TIME = Channel("time", "s", REAL, 0, BYTES, is_master=True)


def write_mdf(measured: Measured, path: Path, advance: Advance) -> None:
    """Write each signal as a channel of float64 named by its path."""
    with path.open("wb", buffering=1 << 20) as file:
        facts = json.dumps(dict(measured.facts))
        blocks = Blocks(file, measured.utc_ns or 0, facts)
        for group in measured.groups:
            channels = [TIME, *_channels(group)]
            row_bytes = BYTES * len(channels)
            blocks.begin_group(group.name, channels, row_bytes, len(group))
            for t_ns, values in group.parts():
                rows = np.empty((len(t_ns), len(channels)), "<f8")
                rows[:, 0] = t_ns * 1e-9
                rows[:, 1:] = values
                file.write(rows.data)
                advance(len(t_ns))
        if measured.events:
            rows_of_events = _events(measured.events)
            width = rows_of_events.dtype["words"].itemsize
            channels = [TIME, Channel("events", "", TEXT, BYTES, width)]
            blocks.begin_group("events", channels, BYTES + width, len(rows_of_events))
            file.write(rows_of_events.tobytes())


def _channels(group: Group) -> list[Channel]:
    return [
        Channel(name, unit, REAL, BYTES * place, BYTES)
        for place, (name, unit) in enumerate(zip(group.paths, group.units, strict=True), 1)
    ]


def _events(events: tuple[Happening, ...]) -> np.ndarray:
    # texts of one width, each with a zero behind it
    words = [f"{event.kind}: {event.words}".encode() for event in events]
    rows = np.zeros(len(events), [("t_s", "<f8"), ("words", f"S{max(map(len, words)) + 1}")])
    rows["t_s"], rows["words"] = [event.t_ns * 1e-9 for event in events], words
    return rows

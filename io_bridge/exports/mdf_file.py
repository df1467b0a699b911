"""MDF4: a channel group a task with its time as master, units, the start in UTC; events are a group of texts."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path

import numpy as np

from io_bridge.exports.measured import NS, TEMPORARY, Measured
from io_bridge.exports.progress import Advance
from io_bridge.logs.formats.opened import extra

VERSION = "4.11"
ENDING = ".mf4"  # the library writes no other
# of a data block, the most that other readers take; the library copies such parts the least
BLOCK_BYTES = 4 << 20

KEPT_BYTES = 24 << 20  # glibc: 32 MiB at most


def write_mdf(measured: Measured, path: Path, advance: Advance) -> None:
    """Write each signal as a channel of float64 named by its path.

    `mf4-rs` 3.7 would be faster, but its Python side can write neither units nor the start in UTC.
    """
    asammdf = extra("asammdf", path, "written")
    # once a block of this size was freed, the C library keeps smaller ones for later (mallopt(3), dynamic mmap
    # threshold); before, each buffer of the library is new memory, whose page faults cost over a quarter of the time
    np.empty(KEPT_BYTES, np.uint8)
    with _folder(path) as made, asammdf.MDF(version=VERSION, temporary_folder=str(made)) as mdf:
        mdf.configure(write_fragment_size=BLOCK_BYTES)
        utc_ns = measured.utc_ns or 0
        mdf.header.start_time = datetime.fromtimestamp(utc_ns // NS, UTC)
        mdf.header.abs_time = utc_ns  # the date above has no nanoseconds
        mdf.header.description = json.dumps(dict(measured.facts))
        for index, group in enumerate(measured.groups):
            is_first = True
            most_rows = BLOCK_BYTES // (8 * (1 + len(group.paths)))
            for t_ns, values in group.parts(most_rows=most_rows):
                stamps = t_ns * 1e-9
                if is_first:
                    channels = [
                        asammdf.Signal(values[:, k], stamps, name=name, unit=unit)
                        for k, (name, unit) in enumerate(zip(group.paths, group.units, strict=True))
                    ]
                    mdf.append(channels, acq_name=group.name, common_timebase=True)
                else:
                    mdf.extend(index, [(stamps, None), *((column, None) for column in values.T)])
                is_first = False
                advance(len(t_ns))
        if measured.events:
            stamps = np.array([event.t_ns * 1e-9 for event in measured.events])
            words = [f"{event.kind}: {event.words}".encode() for event in measured.events]
            texts = asammdf.Signal(np.array(words), stamps, name="events", encoding="utf-8")
            mdf.append([texts], acq_name="events", common_timebase=True)
        with redirect_stdout(StringIO()):  # the library prints how fast it was
            mdf.save(path, overwrite=True)


@contextmanager
def _folder(path: Path) -> Iterator[Path]:
    """Make a folder for the library's temporary file, which has the size of the export: /tmp may lack that room."""
    folder = path.with_name(f"{path.name}{TEMPORARY}")
    folder.mkdir()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)

"""MATLAB v5: a variable a signal, a time a task, and `signals`, which says what each variable is."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from io_bridge.exports.measured import Group, Measured, identifiers
from io_bridge.exports.progress import Advance
from io_bridge.exports.refused import ExportError
from io_bridge.logs.formats.opened import extra
from io_bridge.logs.formats.table import Array

BLOCK_BYTES = 128 << 20  # of columns that are held at once: a record is read once a block
MOST_BYTES = 2**31 - 1  # of a variable, whose size has 32 bits
LONGEST_NAME = 63


def write_mat(measured: Measured, path: Path, advance: Advance) -> None:
    """Write vectors, `t_s_<task>` among them; a variable is never larger than the format's 2 GiB."""
    savemat = extra("scipy.io", path, "written").savemat
    most = max(len(group) for group in measured.groups)
    if most * 8 > MOST_BYTES:
        raise ExportError(
            f"{path}: {most} rows: a variable of a MATLAB v5 file has at most 2 GiB; "
            "take fewer with --between, or --to hdf5"
        )
    times = {group.name: f"t_s_{group.name}" for group in measured.groups}
    names = identifiers(
        [*times.values(), *(p for p, _ in measured.columns), "signals", "events", "facts"]
    )
    listed = []
    with path.open("wb") as file:

        def save(**variables: object) -> None:
            savemat(file, variables, long_field_names=True, oned_as="column")

        for group in measured.groups:
            time = names[times[group.name]]
            save(**{time: group.t_ns * 1e-9})
            for which in _blocks(group):
                held = _columns(group, which)
                for column, k in enumerate(which):
                    signal = group.paths[k]
                    save(**{names[signal]: held[column]})
                    listed.append((names[signal], signal, group.units[k], group.name, time))
                # a block is a part of every row
                advance(len(group) * len(which) // len(group.paths))
        heads = ("variable", "path", "unit", "task", "time")
        rows = {h: np.array([row[n] for row in listed], object) for n, h in enumerate(heads)}
        save(signals=rows)
        save(
            events={
                "t_s": np.array([event.t_ns * 1e-9 for event in measured.events]),
                "kind": np.array([event.kind for event in measured.events], object),
                "words": np.array([event.words for event in measured.events], object),
            }
        )
        save(facts=json.dumps(dict(measured.facts)))


def _blocks(group: Group) -> Iterator[list[int]]:
    size = max(1, BLOCK_BYTES // (8 * max(1, len(group))))
    for first in range(0, len(group.paths), size):
        yield list(range(first, min(first + size, len(group.paths))))


def _columns(group: Group, which: list[int]) -> Array:
    held = np.empty((len(which), len(group)))
    row = 0
    for t_ns, values in group.parts(which):
        held[:, row : row + len(t_ns)] = values.T
        row += len(t_ns)
    return held

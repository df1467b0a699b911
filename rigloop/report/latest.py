"""The table of the cycles that began latest, with those around them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from rigloop.display.numbers import figure, microseconds
from rigloop.display.tables import Row, Table, Tone, figures, words
from rigloop.report.tables import NONE
from rigloop.run_folder.manifest import Manifest
from rigloop.run_folder.recorded import is_sane

WORST = 10


def worst_cycles(record: np.ndarray, task: str, most: int = WORST) -> list[int]:
    """Rows of the latest cycles of a record, latest first; those on time are left out."""
    name = f"loop/{task}/late_ns"
    if name not in (record.dtype.names or ()):
        return []
    late = np.asarray(record[name])
    late = np.where(is_sane(late), late, 0.0)
    count = min(most, len(late))
    rows = np.argpartition(-late, count - 1)[:count] if count else np.empty(0, np.int64)
    return [int(row) for row in sorted(rows, key=lambda row: (-late[row], row)) if late[row] > 0]


def latest_cycles(manifest: Manifest, records: Mapping[str, np.ndarray]) -> Table | None:
    """Return the table of the cycles that began latest, each between its neighbours; None without a late one."""
    # neighbours show what led to a late cycle and what it did to the angle and the torque
    latest = sorted(
        (
            (-float(record[f"loop/{task}/late_ns"][row]), task, row)
            for task, record in records.items()
            for row in worst_cycles(record, task)
        ),
        key=lambda one: one[0],
    )
    rows: list[Row] = []
    for _, task, row in latest[:WORST]:
        rows += [Row(()), *_around(manifest, task, records[task], row)]
    heads = figures("Time s", "Late µs", "Step µs", "Bus µs", "Elapsed")
    heads += figures("Angle rad", "Torque N m", "Command N m")
    return Table([*words("Task"), *heads], rows) if rows else None


def _around(manifest: Manifest, task: str, record: np.ndarray, row: int) -> Iterator[Row]:
    paths = [f"loop/{task}/{name}" for name in ("late_ns", "step_ns", "bus_ns", "elapsed")]
    paths += [manifest.signals.get(role, ("", ""))[1] for role in ("angle", "torque", "command")]
    for near in range(max(0, row - 1), min(row + 2, len(record))):
        cells = [f"{record['t_ns'][near] * 1e-9:.4f}"]
        cells += [_cell(record, path, near) for path in paths]
        is_this = near == row
        yield Row([task if is_this else "", *cells], Tone.STRONG if is_this else Tone.SOFT)


def _cell(record: np.ndarray, path: str, row: int) -> str:
    if path not in (record.dtype.names or ()):
        return NONE
    value = float(record[path][row])
    return microseconds(value) if path.endswith("_ns") else figure(value)

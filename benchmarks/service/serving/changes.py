"""The cycle that has a change: how long after it began, and whether an earlier one ought to have had it."""

from __future__ import annotations

import numpy as np

from rig_configs.live import CHANGES
from rigloop.api.recorded_run import RecordedRun
from rigloop.live_values.journal import read_journal


def first_cycles(run: RecordedRun, task: str, period_ns: int) -> tuple[list[float], int]:
    """Return µs from each change to the next cycle that began, and how many cycles began after one without it."""
    rows, first_ns = run.records[task], run.manifest.first_cycle_ns
    late_ns = rows[f"loop/{task}/late_ns"].astype(np.int64) % period_ns
    began_ns, seen = first_ns + rows["t_ns"] + late_ns, rows[CHANGES]
    without, waited_us = 0, []
    for entry in read_journal(run.folder):
        if entry.sequence == 0:
            continue
        later = int(np.searchsorted(began_ns, entry.monotonic_ns, side="right"))
        if later == len(rows):
            continue
        without += int(np.sum(seen[later:] < entry.sequence))
        waited_us.append((began_ns[later] - entry.monotonic_ns) * 1e-3)
    return waited_us, without

"""Cycles that a test gives to a scope, cut into any pieces."""

from itertools import pairwise

import numpy as np

from io_bridge.recording.record import record_dtype
from rigloop.scope.rows import cycle_path

MS = 1_000_000


def rows_of(task, values, period_ns=MS, keep=None):
    """Return the rows of a task with the signal `TASK/x`; of an array `keep`, only where it is true."""
    rows = np.zeros(len(values), record_dtype([cycle_path(task), f"{task}/x"]))
    rows["t_ns"] = np.arange(len(values)) * period_ns
    rows[cycle_path(task)] = np.arange(1, len(values) + 1)
    rows[f"{task}/x"] = values
    return rows if keep is None else rows[np.asarray(keep, bool)]


class GivenCycles:
    """A source that hands over rows of tasks, those of the times between two cuts in one piece."""

    name, origin = "given", "nowhere"

    def __init__(self, rows, cuts_ns=(), periods=None, live=False):
        self.live = live
        self.tasks = periods or dict.fromkeys(rows, MS)
        self.paths = {task: of.dtype.names[1:] for task, of in rows.items()}
        self.homes = {path: task for task, paths in self.paths.items() for path in paths}
        self.units = dict.fromkeys(self.homes, "rad")
        edges = [-1, *sorted(cuts_ns), 1 << 62]
        self._pieces = [
            {task: of[(of["t_ns"] > low) & (of["t_ns"] <= high)] for task, of in rows.items()}
            for low, high in pairwise(edges)
        ]

    def take(self):
        return self._pieces.pop(0) if self._pieces else {}

    @property
    def ended(self):
        return len(self._pieces) <= 1

    def close(self):
        pass

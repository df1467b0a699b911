"""Histograms of lateness and step time of each task, over all cycles that a page has seen."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rt_core.plan import loop_signal

FIRST_NS, OCTAVES, A_OCTAVE = 100.0, 24, 4
EDGES_NS = FIRST_NS * 2.0 ** (np.arange(OCTAVES * A_OCTAVE + 1) / A_OCTAVE)
"""Quarters of an octave from 100 ns to 1.7 s; the first bin has all that is shorter."""
SHOWN = {"late": "late_ns", "step": "step_ns"}


class TaskHistograms:
    """Lateness and step time of one task.

    Parameters
    ----------
    task : str
    """

    def __init__(self, task: str) -> None:
        self.paths = {kind: loop_signal(task, signal) for kind, signal in SHOWN.items()}
        self._counts = {kind: np.zeros(len(EDGES_NS), np.int64) for kind in SHOWN}
        self._most = dict.fromkeys(SHOWN, 0.0)
        self._seen_ns = -1

    def add(self, t_ns: NDArray[np.int64], columns: dict[str, NDArray[np.float64]]) -> None:
        """Count the cycles that were not counted yet."""
        first = int(np.searchsorted(t_ns, self._seen_ns, side="right"))
        if first == len(t_ns):
            return
        self._seen_ns = int(t_ns[-1])
        for kind, path in self.paths.items():
            values = columns[path][first:]
            values = values[np.isfinite(values)]
            # bin 0: below the first edge
            bins = np.minimum(np.searchsorted(EDGES_NS, values, side="right"), len(EDGES_NS) - 1)
            self._counts[kind] += np.bincount(bins, minlength=len(EDGES_NS))
            self._most[kind] = max(self._most[kind], float(values.max(initial=0.0)))

    def message(self) -> dict[str, Any]:
        """Return the counts with the upper edges of their bins, without the empty ones at both ends."""
        found: dict[str, Any] = {}
        for kind, counts in self._counts.items():
            there = np.flatnonzero(counts)
            low, high = (int(there[0]), int(there[-1]) + 1) if len(there) else (0, 0)
            found[kind] = {
                "edges_ns": EDGES_NS[low:high].tolist(),
                "counts": counts[low:high].tolist(),
                "most_ns": self._most[kind],
            }
        return found

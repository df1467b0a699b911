"""Cycles written down, for stepping without a clock: the time of each, its view of the other tasks, its inputs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True)
class Steps:
    """Some cycles of one task.

    Attributes
    ----------
    t_ns : array_like of int, shape (n,)
        Nominal time of each cycle, rising.
    seen : mapping of task to array_like of int, shape (n,)
        Of each task that this one reads: how many of its cycles were done in the newest image of it that each cycle
        saw; live, the mirror of `loop/<task>/cycle`. It never falls.
    forced : mapping of path to array_like, shape (n,)
        Cells of the task's image, its mirrors included, that are set after the mirrors were refreshed and before the
        blocks are stepped: logged inputs.
    """

    t_ns: ArrayLike
    seen: Mapping[str, ArrayLike] = field(default_factory=dict)
    forced: Mapping[str, ArrayLike] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(np.asarray(self.t_ns))

    def part(self, first: int, end: int) -> Steps:
        """Return the cycles from `first` to before `end`."""
        seen, forced = (
            {name: np.asarray(column)[first:end] for name, column in given.items()}
            for given in (self.seen, self.forced)
        )
        return Steps(np.asarray(self.t_ns)[first:end], seen, forced)


def in_order(times: Mapping[str, NDArray[np.int64]]) -> dict[str, dict[str, NDArray[np.int64]]]:
    """Return what each task sees of each other where all cycles take no time and come in the order of their times.

    Parameters
    ----------
    times : mapping of task to ndarray of int64, shape (n,)
        Of cycles of one time the task that is named first comes first.
    """
    names = [*times]
    return {
        task: {
            other: np.searchsorted(
                times[other], times[task], side="right" if names.index(other) < place else "left"
            ).astype(np.int64)
            for other in names
            if other != task
        }
        for place, task in enumerate(names)
    }

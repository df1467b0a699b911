"""Compiled blocks whose outputs are no numbers, though all of their inputs are: without a guard nothing trips on it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from rig_configs.schema import Rig
from rigloop.blocks.catalogue import kind_of
from rigloop.compose.blocks import paths

STRETCHES, ROWS = 100, 100  # of a record, spread over all of it: few of its pages are read
LEAST_PERCENT = 1.0


def not_numbers(rig: Rig, records: Mapping[str, np.ndarray]) -> list[str]:
    """Return a sentence for each output that is NaN or infinite in a share of the cycles, without such an input.

    Parameters
    ----------
    rig : Rig
    records : mapping of str to structured ndarray
        Record of each task; signals that are not recorded count as numbers.
    """
    found = []
    for task, table in rig.tasks.items():
        record = records.get(task)
        if record is None or not len(record):
            continue
        rows = _spread(len(record))
        for name in table.blocks:
            block = rig.blocks[name]
            if kind_of(block).declared is None:
                continue
            reads, writes = paths(name, block)
            inputs_are = _are_numbers(record, list(reads.values()), rows)
            for path in writes.values():
                wrong = inputs_are & ~_are_numbers(record, [path], rows)
                percent = 100.0 * float(np.mean(wrong))
                if percent >= LEAST_PERCENT:
                    found.append(
                        f"{path}: NaN or infinite in {percent:.3g} % of the cycles, although all inputs of block "
                        f"{name!r} ({block.kind}) are numbers: check its parameters and its source"
                    )
    return found


def _spread(n: int) -> np.ndarray:
    """Return the numbers of all rows of a short record, and of some stretches of a long one."""
    if n <= STRETCHES * ROWS:
        return np.arange(n)
    begins = np.linspace(0, n - ROWS, STRETCHES).astype(np.int64)
    return (begins[:, None] + np.arange(ROWS)).ravel()


def _are_numbers(record: np.ndarray, signals: list[str], rows: np.ndarray) -> np.ndarray:
    found = np.ones(len(rows), bool)
    for path in signals:
        if path in (record.dtype.names or ()):
            found &= np.isfinite(record[path][rows])
    return found

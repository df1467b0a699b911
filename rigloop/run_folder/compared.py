"""Two records of the same signals, compared bit for bit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import msgspec
import numpy as np

from io_bridge.recording.record import TIME_FIELD
from rigloop.run_folder.common_rows import common_rows
from rigloop.run_folder.manifest import Number, number

Records = Mapping[str, np.ndarray]
MOST_NAMED = 4  # signals that only one run has, in a sentence


class Difference(msgspec.Struct, frozen=True):
    """A signal that is not the same in two records."""

    path: str
    task: str
    differing: int
    """Cycles in which a bit differs."""
    first_row: int
    """Row of the first of them in the record of the first run."""
    first_t_s: float
    before: Number
    after: Number
    """The two values there."""
    largest: Number
    """Largest distance of the two in any cycle; NaN if no distance is a number."""
    rms: Number
    """Root of the mean square of the distance; equal bits have none."""

    @property
    def first_s(self) -> str:
        """Return the time of the first of them, to the microsecond."""
        return f"{self.first_t_s:.6f}"


class Comparison(msgspec.Struct, frozen=True):
    """The result of comparing records: what differs, and how much was compared."""

    differences: list[Difference]
    """The one that differs first is first."""
    signals: int
    """Signals that were compared."""
    values: int
    only_before: list[str] = []
    only_after: list[str] = []
    cycles_before: dict[str, int] = {}
    """By task: cycles that only the first run has."""
    cycles_after: dict[str, int] = {}

    @property
    def is_equal(self) -> bool:
        """True: something was compared, and every bit of it is the same."""
        return self.values > 0 and not self.differences

    @property
    def is_whole(self) -> bool:
        """True: both have the same signals and cycles, so that everything was compared."""
        return not (self.only_before or self.only_after or self.cycles_before or self.cycles_after)

    @property
    def firsts(self) -> list[Difference]:
        """One difference of each signal, though the records of several tasks may have it: the first."""
        found: dict[str, Difference] = {}
        for difference in self.differences:
            found.setdefault(difference.path, difference)
        return [*found.values()]

    def words(self) -> str:
        """Return it in one sentence; "bit for bit" is said of what was compared only."""
        return "; ".join([self._compared(), *self.alone()])

    def alone(self) -> list[str]:
        """Return what only one of the two has, in words."""
        sides = (
            ("before", self.only_before, self.cycles_before),
            ("after", self.only_after, self.cycles_after),
        )
        return [
            f"only {which}: {', '.join([*_cycles(cycles), *_named(paths)])}"
            for which, paths, cycles in sides
            if paths or cycles
        ]

    def _compared(self) -> str:
        if not self.values:
            return "nothing is in both: nothing was compared"
        if not self.differences:
            return f"equal bit for bit: {self.values} values of {self.signals} signals"
        first = self.differences[0]
        at = first.first_s.rstrip("0").rstrip(".")
        return (
            f"{len(self.firsts)} of {self.signals} signals differ, first {first.path} "
            f"at {at} s (row {first.first_row} of {first.task})"
        )


def _cycles(cycles: Mapping[str, int]) -> list[str]:
    return [f"{n} cycles of {task}" for task, n in cycles.items()]


def _named(paths: list[str]) -> list[str]:
    if len(paths) <= MOST_NAMED:
        return paths
    return [f"{len(paths)} signals ({', '.join(paths[:MOST_NAMED])}, …)"]


def compare(before: Records, after: Records, only: Iterable[str] | None = None) -> Comparison:
    """Compare the signals that both have, in the cycles that both have, by their nominal times.

    Parameters
    ----------
    only : iterable of str, optional
        Compare no others than these.

    Raises
    ------
    ManifestError
        The times of a record do not rise: it is damaged.
    """
    chosen = None if only is None else set(only)
    found: list[Difference] = []
    signals: set[str] = set()
    alone: tuple[set[str], set[str]] = (set(), set())
    cycles: tuple[dict[str, int], dict[str, int]] = ({}, {})
    values = 0
    for task in [*before, *(task for task in after if task not in before)]:
        old, new = before.get(task), after.get(task)
        names = [
            set() if r is None else set(r.dtype.names or ()) - {TIME_FIELD} for r in (old, new)
        ]
        if chosen is not None:
            names = [side & chosen for side in names]
        alone[0].update(names[0] - names[1])
        alone[1].update(names[1] - names[0])
        if old is None or new is None:
            continue
        paths = sorted(names[0] & names[1])
        n_common, differences = _compare_task(task, paths, old, new)
        found += differences
        if n_common:
            signals.update(paths)
            values += n_common * len(paths)
        for side, record in zip(cycles, (old, new), strict=True):
            if len(record) > n_common:
                side[task] = len(record) - n_common
    found.sort(key=lambda difference: difference.first_t_s)
    only_before, only_after = (sorted(side) for side in alone)
    return Comparison(found, len(signals), values, only_before, only_after, *cycles)


def _compare_task(
    task: str, paths: list[str], old: np.ndarray, new: np.ndarray
) -> tuple[int, list[Difference]]:
    """Return the number of cycles in both, and the differences; each record is read once, part by part."""
    columns = [
        [{name: k for k, name in enumerate(r.dtype.names or ())}[path] for path in paths]
        for r in (old, new)
    ]
    sums: dict[int, _Apart] = {}
    n_common = 0
    for rows_old, rows_new in common_rows(task, old, new):
        one, other = (
            _table(record[rows])[:, which]
            for record, rows, which in ((old, rows_old, columns[0]), (new, rows_new, columns[1]))
        )
        n_common += len(one)
        differs = one.view(np.int64) != other.view(np.int64)
        for k in np.flatnonzero(differs.any(axis=0)).tolist():
            where = np.flatnonzero(differs[:, k])
            if (known := sums.get(k)) is None:
                at = int(where[0])
                row = _row(rows_old, at)
                t_s = float(old[TIME_FIELD][row]) * 1e-9
                known = _Apart(row, t_s, float(one[at, k]), float(other[at, k]))
            sums[k] = known.plus(one[where, k], other[where, k])
    return n_common, [sums[k].difference(paths[k], task, n_common) for k in sorted(sums)]


def _table(rows: np.ndarray) -> np.ndarray:
    # every field has eight bytes
    whole = np.ascontiguousarray(rows)
    return whole.view(np.float64).reshape(len(whole), -1)


def _row(rows: slice | np.ndarray, at: int) -> int:
    return rows.start + at if isinstance(rows, slice) else int(rows[at])


class _Apart(NamedTuple):
    """The distances of a signal in two records, summed up over their parts."""

    first_row: int
    first_t_s: float
    before: float
    after: float
    differing: int = 0
    known: int = 0
    largest: float = 0.0
    squares: float = 0.0

    def plus(self, old: np.ndarray, new: np.ndarray) -> _Apart:
        with np.errstate(invalid="ignore", over="ignore"):
            apart = np.abs(new - old)
            apart = apart[np.isfinite(apart)]
            return self._replace(
                differing=self.differing + len(old),
                known=self.known + len(apart),
                largest=max(self.largest, float(np.max(apart, initial=0.0))),
                squares=self.squares + float(np.sum(apart**2)),
            )

    def difference(self, path: str, task: str, n_common: int) -> Difference:
        # where both have the same bits, the distance is none
        n = n_common - self.differing + self.known
        return Difference(
            path,
            task,
            self.differing,
            self.first_row,
            self.first_t_s,
            number(self.before),
            number(self.after),
            number(self.largest if self.known else np.nan),
            number(float(np.sqrt(self.squares / n)) if self.known else np.nan),
        )

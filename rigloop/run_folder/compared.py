"""Two records of the same signals, compared bit for bit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec
import numpy as np

from io_bridge.recording.record import TIME_FIELD
from rigloop.run_folder.manifest import Number, number

Records = Mapping[str, np.ndarray]


class Difference(msgspec.Struct, frozen=True):
    """A signal that is not the same in two records."""

    path: str
    task: str
    differing: int
    """Cycles in which a bit differs."""
    first_row: int
    """The first of them, counted in the cycles that are in both."""
    first_t_s: float
    before: Number
    after: Number
    """The two values there."""
    largest: Number
    """Largest distance of the two in any cycle."""
    rms: Number
    """Root of the mean square of the distance."""


class Comparison(msgspec.Struct, frozen=True):
    """The result of comparing records: what differs, and how much was compared."""

    differences: list[Difference]
    """The one that differs first is first."""
    signals: int
    """Signals that were compared."""
    values: int
    only_before: list[str] = []
    only_after: list[str] = []

    @property
    def is_equal(self) -> bool:
        """True: something was compared, and every bit of it is the same."""
        return self.values > 0 and not self.differences

    @property
    def firsts(self) -> list[Difference]:
        """One difference of each signal, though the records of several tasks may have it: the first."""
        found: dict[str, Difference] = {}
        for difference in self.differences:
            found.setdefault(difference.path, difference)
        return [*found.values()]

    def words(self) -> str:
        """Return it in one sentence; "bit for bit" is said of what was compared only."""
        if not self.values:
            return "nothing is in both: nothing was compared"
        if not self.differences:
            return f"equal bit for bit: {self.values} values of {self.signals} signals"
        first = self.differences[0]
        return (
            f"{len(self.firsts)} of {self.signals} signals differ, first {first.path} "
            f"at {first.first_t_s:g} s (cycle {first.first_row} of {first.task})"
        )


def compare(before: Records, after: Records, only: Iterable[str] | None = None) -> Comparison:
    """Compare the signals that both have, in the cycles that both have, by their nominal times.

    Parameters
    ----------
    only : iterable of str, optional
        Compare no others than these.
    """
    chosen = None if only is None else set(only)
    found: list[Difference] = []
    signals: set[str] = set()
    alone: tuple[set[str], set[str]] = (set(), set())
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
        t_ns, rows_old, rows_new = common_rows(old[TIME_FIELD], new[TIME_FIELD])
        if not len(t_ns):
            continue
        for path in sorted(names[0] & names[1]):
            signals.add(path)
            values += len(t_ns)
            one, other = (
                np.ascontiguousarray(r[path][rows])
                for r, rows in ((old, rows_old), (new, rows_new))
            )
            if (difference := _difference(path, task, t_ns, one, other)) is not None:
                found.append(difference)
    found.sort(key=lambda difference: difference.first_t_s)
    return Comparison(found, len(signals), values, sorted(alone[0]), sorted(alone[1]))


def common_rows(
    old: np.ndarray, new: np.ndarray
) -> tuple[np.ndarray, slice | np.ndarray, slice | np.ndarray]:
    """Return the times that are in both, and the rows that have them."""
    n = min(len(old), len(new))
    if np.array_equal(old[:n], new[:n]):
        return np.asarray(old[:n]), slice(n), slice(n)
    return np.intersect1d(old, new, return_indices=True)


def _difference(
    path: str, task: str, t_ns: np.ndarray, old: np.ndarray, new: np.ndarray
) -> Difference | None:
    rows = np.flatnonzero(old.view(np.int64) != new.view(np.int64))
    if not len(rows):
        return None
    first = int(rows[0])
    with np.errstate(invalid="ignore", over="ignore"):
        apart = np.abs(new - old)
        known = apart[np.isfinite(apart)]
        rms = float(np.sqrt(np.mean(known**2))) if len(known) else float("nan")
    return Difference(
        path,
        task,
        len(rows),
        first,
        float(t_ns[first]) * 1e-9,
        number(float(old[first])),
        number(float(new[first])),
        number(float(np.max(known)) if len(known) else float("nan")),
        number(rms),
    )

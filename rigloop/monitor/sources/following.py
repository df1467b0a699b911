"""The cycles of each task, one piece after the other without a hole, cut at the borders of buckets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rigloop.monitor.sources.envelope import bucket_ns, envelopes
from rigloop.monitor.sources.source import Piece, Source

END_NS = 10**17
MOST_BUCKETS = 6000  # of one frame


@dataclass
class Tail:
    """The newest cycles of one task.

    Attributes
    ----------
    task : str
    width_ns : int
        Of a bucket.
    is_single : bool
        A bucket is one cycle.
    shown : list of str
        Signals whose envelopes are sent.
    others : list of str
        Signals that are read for something else.
    next : int
        The first bucket that was not read yet.
    is_broken : bool
        Cycles before the next ones were left out.
    """

    task: str
    width_ns: int
    is_single: bool = False
    shown: list[str] = field(default_factory=list)
    others: list[str] = field(default_factory=list)
    next: int = 0
    is_broken: bool = True

    def read(self, source: Source) -> tuple[Piece, int] | None:
        """Return the cycles of all buckets that are complete now, and the number of the first; None: there are none."""
        paths = list(dict.fromkeys([*self.shown, *self.others]))
        if not paths:
            return None
        first = self.next
        from_ns = first * self.width_ns
        piece = source.capture(
            paths, self.task, from_ns, min(END_NS, from_ns + MOST_BUCKETS * self.width_ns)
        )
        end = min(piece.complete_to_ns // self.width_ns, first + MOST_BUCKETS)
        if end <= first:
            return None
        self.next = end
        n = int(np.searchsorted(piece.t_ns, end * self.width_ns))
        columns = {path: values[:n] for path, values in piece.columns.items()}
        return Piece(piece.t_ns[:n], columns, end * self.width_ns), first


def tails_of(
    source: Source, shown: Sequence[str], others: Sequence[tuple[str, str]], wanted_ns: int
) -> dict[str, Tail]:
    """Return the tails of some signals by task.

    Parameters
    ----------
    source : Source
    shown : sequence of str
        Signals whose envelopes are sent; those in no record are passed over.
    others : sequence of (task, signal)
        Signals that are read at the cycles of a task, which need not be the one that writes them.
    wanted_ns : int
        Width of a bucket, to the next multiple of a period.
    """
    tails = {}
    for one in source.description.tasks:
        width_ns = bucket_ns(wanted_ns, one.period_us * 1000)
        tails[one.name] = Tail(one.name, width_ns, width_ns == one.period_us * 1000)
    for path in shown:
        task = source.recorded_in(path)
        if task in tails:
            tails[task].shown.append(path)
    for task, path in others:
        if task in tails and source.recorded_in(path) is not None:
            tails[task].others.append(path)
    return tails


def groups(
    shown: Sequence[str], pieces: Iterable[tuple[Tail, Piece, int]]
) -> tuple[list[dict[str, Any]], list[NDArray[np.float64]]]:
    """Return header and numbers of the envelopes of some pieces; signals are numbered as in `shown`."""
    number = {path: k for k, path in enumerate(shown)}
    headers, arrays = [], []
    for tail, piece, first in pieces:
        if not tail.shown:
            continue
        n = piece.complete_to_ns // tail.width_ns - first
        found = envelopes(piece.t_ns, piece.columns, tail.shown, first, tail.width_ns, n)
        headers.append(
            {
                "signals": [number[path] for path in tail.shown],
                "first": first,
                "bucket_ns": tail.width_ns,
                "n": n,
                "single": tail.is_single,
            }
        )
        arrays.append(found.values)
    return headers, arrays


def whole_range(
    source: Source,
    tail: Tail,
    from_ns: int,
    to_ns: int,
    most_pieces: int,
    on_piece: Callable[[], None] = lambda: None,
) -> tuple[Tail, Piece, int] | None:
    """Return all cycles of a task between two moments as one piece, as far as they are recorded."""
    first, last = from_ns // tail.width_ns, -(-to_ns // tail.width_ns)
    pieces: list[Piece] = []
    at_ns = first * tail.width_ns
    for _ in range(most_pieces):
        piece = source.capture(tail.shown, tail.task, at_ns, last * tail.width_ns)
        on_piece()
        if piece.complete_to_ns <= at_ns:
            break
        pieces.append(piece)
        at_ns = piece.complete_to_ns
        if at_ns >= last * tail.width_ns:
            break
    end = at_ns // tail.width_ns
    if end <= first:
        return None
    t_ns = np.concatenate([piece.t_ns for piece in pieces])
    columns = {
        path: np.concatenate([piece.columns[path] for piece in pieces]) for path in tail.shown
    }
    return tail, Piece(t_ns, columns, end * tail.width_ns), first

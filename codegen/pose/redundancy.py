"""Redundant constraints, by name."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from codegen.pose.sparse import LARGE, Rows, rows_of

RANK_LIMIT = 1e-8  # rows have gradients of order one
SHARE_LIMIT = 1e-6


@dataclass(frozen=True)
class Redundancy:
    """A row that follows from others, and those others."""

    row: str
    others: tuple[str, ...]

    def __str__(self) -> str:
        if not self.others:
            return f"row '{self.row}' constrains nothing here"
        return f"row '{self.row}' is redundant with {', '.join(repr(o) for o in self.others)}"


@dataclass(frozen=True)
class RowSpace:
    """Rank of a Jacobian and its dependent rows, each with its combination of earlier rows.

    Attributes
    ----------
    rank : int
    dependent : dict of int to ndarray, shape (n_phi,)
        `combination @ jac = 0`; 1 at the row itself.
    """

    rank: int
    dependent: dict[int, np.ndarray]

    def named(self, labels: Sequence[str]) -> list[Redundancy]:
        """Each dependent row with the rows that it follows from."""
        return [
            Redundancy(
                labels[row],
                tuple(
                    labels[int(i)]
                    for i in np.flatnonzero(np.abs(combination) > SHARE_LIMIT)
                    if i != row
                ),
            )
            for row, combination in self.dependent.items()
        ]


def row_space(jac: np.ndarray) -> RowSpace:
    """Rank of the rows in their order, so that of two equal rows the later one is dependent.

    Rank-revealing by orthogonalising each row against those before it, twice; a full-rank Jacobian
    is recognised by one QR factorisation. A large one is eliminated row by row instead.
    """
    n_phi, n_q = jac.shape
    size = np.linalg.norm(jac, axis=1)
    scaled = jac / np.where(size > 0.0, size, 1.0)[:, None]
    if max(jac.shape) >= LARGE:
        return _by_elimination(rows_of(scaled), n_phi)
    if n_phi <= n_q and np.min(size, initial=1.0) > RANK_LIMIT:
        pivots = np.abs(np.diag(np.linalg.qr(scaled.T, mode="r")))
        if np.min(pivots, initial=1.0) > 1e-4:
            return RowSpace(n_phi, {})
    basis = np.zeros((min(n_phi, n_q), n_q))
    kept: list[int] = []
    left_over: list[int] = []
    for row in range(n_phi):
        rest = scaled[row].copy()
        known = basis[: len(kept)]
        for _ in range(2):
            rest -= known.T @ (known @ rest)
        left = float(np.linalg.norm(rest))
        if left > RANK_LIMIT and len(kept) < n_q:
            basis[len(kept)] = rest / left
            kept.append(row)
        else:
            left_over.append(row)
    # kept rows are independent: one way each, and nothing of later ones but round-off
    combinations = np.zeros((len(left_over), n_phi))
    if kept and left_over:
        shares = np.linalg.lstsq(scaled[kept].T, scaled[left_over].T)[0].T
        combinations[:, kept] = np.where(np.less.outer(left_over, kept), 0.0, -shares)
    combinations[range(len(left_over)), left_over] = 1.0
    return RowSpace(len(kept), dict(zip(left_over, combinations, strict=True)))


def _by_elimination(rows: Rows, n_phi: int) -> RowSpace:
    """Return each row minus the earlier ones that share its columns; the remainder gives the next pivot."""
    pivot_of: dict[int, int] = {}  # column -> row
    left: Rows = []
    shares: Rows = []  # of earlier rows, taken off
    dependent: dict[int, np.ndarray] = {}
    for r, given in enumerate(rows):
        row, taken = dict(given), {}
        waiting = [pivot_of[i] for i in row if i in pivot_of]
        heapq.heapify(waiting)
        while waiting:
            k = heapq.heappop(waiting)
            column, other = next(iter(left[k].items()))
            value = row.pop(column, 0.0)
            if value == 0.0:
                continue  # was there twice
            share = taken[k] = value / other
            for i, entry in left[k].items():
                if i == column:
                    continue
                if i not in row and i in pivot_of:
                    heapq.heappush(waiting, pivot_of[i])
                row[i] = row.get(i, 0.0) - share * entry
        shares.append(taken)
        largest = max(row, key=lambda i: abs(row[i]), default=-1)
        if largest >= 0 and abs(row[largest]) > RANK_LIMIT:
            # the pivot stands first
            left.append({largest: row.pop(largest)} | {i: e for i, e in row.items() if e != 0.0})
            pivot_of[largest] = r
        else:
            left.append({})
            dependent[r] = _combination(r, shares, n_phi)
    return RowSpace(n_phi - len(dependent), dependent)


def _combination(row: int, shares: Rows, n_phi: int) -> np.ndarray:
    """Return the row minus the parts that were taken off, over the rows as given."""
    found = np.zeros(n_phi)
    found[row] = 1.0
    for k in range(row, -1, -1):
        if found[k] != 0.0:
            for m, share in shares[k].items():
                found[m] -= found[k] * share
    return found

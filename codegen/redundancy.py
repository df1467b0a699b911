"""Which constraints say the same thing, by name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

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
    is recognised by one QR factorisation.
    """
    n_phi, n_q = jac.shape
    size = np.linalg.norm(jac, axis=1)
    scaled = jac / np.where(size > 0.0, size, 1.0)[:, None]
    if n_phi <= n_q and np.min(size, initial=1.0) > RANK_LIMIT:
        pivots = np.abs(np.diag(np.linalg.qr(scaled.T, mode="r")))
        if np.min(pivots, initial=1.0) > 1e-4:
            return RowSpace(n_phi, {})
    basis = np.zeros((min(n_phi, n_q), n_q))
    kept: list[int] = []
    dependent: dict[int, np.ndarray] = {}
    for row in range(n_phi):
        rest = scaled[row].copy()
        known = basis[: len(kept)]
        for _ in range(2):
            rest -= known.T @ (known @ rest)
        left = float(np.linalg.norm(rest))
        if left > RANK_LIMIT and len(kept) < n_q:
            basis[len(kept)] = rest / left
            kept.append(row)
            continue
        combination = np.zeros(n_phi)
        combination[row] = 1.0
        if kept and size[row] > 0.0:
            combination[kept] = -np.linalg.lstsq(scaled[kept].T, scaled[row])[0]
        dependent[row] = combination
    return RowSpace(len(kept), dependent)

"""Kinds of faults of a log, each with what may be done about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Rows = NDArray[np.int64]
Mask = NDArray[np.bool_]


class Policy(StrEnum):
    """A way to go on at a fault. None of them makes a motion that nobody logged."""

    DROP = "drop"
    """The samples become no samples: the filter predicts across them."""
    HOLD = "hold"
    """The samples repeat the value before them."""
    SPLIT = "split"
    """Time, or the count, goes on from where it was: what the jump added is taken off."""
    REFUSE = "refuse"
    """The log is not used."""
    KEEP = "keep"
    """Nothing is lost by it: taken as it is, or undone exactly."""


@dataclass(frozen=True)
class Kind:
    """A kind of fault: its policy unless another is asked for, and the others that make sense."""

    name: str
    policy: Policy
    others: tuple[Policy, ...]
    words: str
    counts: bool = True
    """It speaks against the log; a wrap does not."""


D, H, S, R, K = Policy.DROP, Policy.HOLD, Policy.SPLIT, Policy.REFUSE, Policy.KEEP
KINDS = {
    kind.name: kind
    for kind in (
        Kind("damaged row", D, (R,), "a row that could not be read"),
        Kind("damaged cell", D, (R,), "a cell that is not a number"),
        Kind("repeated header", D, (R,), "the names stand among the rows"),
        Kind("cut last row", D, (R,), "the last row has no end"),
        Kind("missing value", D, (H, R), "no angle in a row that should have one"),
        Kind("missing time", D, (R,), "no stamp in a row"),
        Kind("impossible value", D, (H, R), "more than any counter or sensor gives"),
        Kind("gap", D, (S, R), "samples are missing between two rows"),
        Kind("bunched stamps", K, (D, R), "samples that came late and then together"),
        Kind("repeated stamps", D, (R,), "rows with the time of the row before"),
        Kind("backward stamps", D, (R,), "rows that are earlier than the one before"),
        Kind("restarted clock", S, (R,), "time begins again"),
        Kind("clock wrap", K, (R,), "the clock's counter ran over", counts=False),
        Kind("counter wrap", K, (R,), "the encoder's counter ran over", counts=False),
        Kind("reset to zero", S, (D, R), "the count jumps to zero and continues from there"),
        Kind("index jump", S, (D, K, R), "the count jumps and continues from another value"),
        Kind("spike", D, (H, R), "samples are far from those before and after"),
        Kind("stuck", D, (H, R), "one value while the wheel moved on"),
        Kind("all ones", D, (H, R), "every bit is set"),
        Kind("all zeros", D, (H, R), "zero, by a jump"),
        Kind("saturation", D, (H, R), "the value stops at a limit while the motion continues"),
        Kind("loss of power", D, (R,), "no count, and afterwards another reference"),
        Kind("lost precision", K, (D, R), "coarser steps than elsewhere in the log"),
        Kind("suspicion of units", R, (K,), "numbers that no wheel gives in this unit"),
    )
}  # fmt: skip


@dataclass(frozen=True)
class Finding:
    """One fault of a log.

    Attributes
    ----------
    kind : str
        One of `KINDS`.
    row, last_row : int
        Data rows of its first and last sample, from 0.
    samples : int
        Rows that it spoils.
    time_s : float
        Time of the first row since the log's first, s; NaN where it has none.
    value : float
        The column's value there; NaN where it has none.
    words : str
        The fault in this place.
    action : str
        The policy that is taken.
    column : str
        Column that has it.
    line : int
        Line of a text file, from 1; 0: none.
    """

    kind: str
    row: int
    last_row: int
    samples: int
    time_s: float
    value: float
    words: str
    action: str
    column: str = ""
    line: int = 0


@dataclass(frozen=True)
class Found:
    """A fault by its samples `first` to `last` of an array, before rows and times are put to it."""

    kind: str
    first: int
    last: int
    words: str
    size: float = 0.0
    """Size of a jump, in the column's unit."""


def policy_of(kind: str, asked: Mapping[str, str]) -> Policy:
    """Return what is done about a kind: as asked, else its own."""
    return Policy(asked[kind]) if kind in asked else KINDS[kind].policy


def runs(where: Mask, least: int = 1) -> list[tuple[int, int]]:
    """Return begin and end of each stretch of True that is long enough."""
    edge = np.diff(np.r_[0, where.astype(np.int8), 0])
    begins, ends = np.flatnonzero(edge == 1), np.flatnonzero(edge == -1)
    long = ends - begins >= least
    return [*zip(begins[long].tolist(), ends[long].tolist(), strict=True)]


def counted(findings: Sequence[Finding]) -> dict[str, int]:
    """Return the number of faults of each kind."""
    found: dict[str, int] = {}
    for one in findings:
        found[one.kind] = found.get(one.kind, 0) + 1
    return found

"""The bits of an encoder's count, seen while a wheel is turned: one that never changes is stuck."""

from __future__ import annotations

import numpy as np

from rigloop.commission.axis import COUNTER_SPAN
from rigloop.commission.stand import Array

BITS = 32
MASK = int(COUNTER_SPAN) - 1


class SeenBits:
    """The values of each bit that were seen, until they are taken."""

    def __init__(self) -> None:
        self._ones = self._zeros = 0

    def see(self, counts: Array, valid: Array) -> None:
        """Look at the counts of some cycles; one without a frame repeats an older count, or has none."""
        heard = counts[(valid > 0.5) & (np.abs(counts) <= COUNTER_SPAN)]
        whole = heard.astype(np.int64) & MASK
        self._ones |= int(np.bitwise_or.reduce(whole, initial=0))
        self._zeros |= int(np.bitwise_or.reduce(~whole & MASK, initial=0))

    def take(self) -> int:
        """Return the bits that were both 0 and 1 since the last call."""
        changed = self._ones & self._zeros
        self._ones = self._zeros = 0
        return changed


def stuck_bits(changed: int, counts: float) -> list[int]:
    """Return the bits that a way of this many counts must have changed, and has not.

    The lowest ones may all stand still: an encoder may be coarser than its count.
    """
    lowest = (changed & -changed).bit_length() - 1
    if lowest < 0:
        return []
    highest = int(abs(counts)).bit_length() - 1  # half a way of these counts
    return [bit for bit in range(lowest, highest) if not changed >> bit & 1]

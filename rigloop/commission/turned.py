"""The counts of a turn by hand."""

from __future__ import annotations

from rigloop.commission.axis import COUNTER_SPAN
from rigloop.commission.bits import stuck_bits
from rigloop.commission.hands import Act
from rigloop.commission.step import Bench


def turned_counts(bench: Bench, act: Act) -> float:
    """Return the counts by which an act of the hands has turned the encoder, across a wrap of its counter."""
    before = bench.stand.count()
    bench.ask(act)
    return (bench.stand.count() - before + COUNTER_SPAN / 2) % COUNTER_SPAN - COUNTER_SPAN / 2


def stuck_words(bench: Bench, counts: float) -> str:
    """Return a sentence on bits that never changed on the way of the last turn; empty: there is none."""
    stuck = stuck_bits(bench.stand.changed_bits, counts)
    if not stuck:
        return ""
    which = f"Bit {stuck[0]}" if len(stuck) == 1 else f"Bits {', '.join(map(str, stuck))}"
    return f"{which} of the count never changed on a way of {abs(counts):.0f} counts."

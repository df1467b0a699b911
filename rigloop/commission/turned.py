"""The counts of a turn by hand."""

from __future__ import annotations

from rigloop.commission.axis import COUNTER_SPAN
from rigloop.commission.hands import Act
from rigloop.commission.step import Bench


def turned_counts(bench: Bench, act: Act) -> float:
    """Return the counts by which an act of the hands has turned the encoder, across a wrap of its counter."""
    before = bench.stand.count()
    bench.ask(act)
    return (bench.stand.count() - before + COUNTER_SPAN / 2) % COUNTER_SPAN - COUNTER_SPAN / 2

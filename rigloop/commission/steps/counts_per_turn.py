"""The counts of one turn of the wheel, against those that the rig states."""

from __future__ import annotations

from rigloop.commission.hands import Act
from rigloop.commission.step import Bench, Measured, Step
from rigloop.commission.turned import stuck_words, turned_counts

SHARE = 0.04  # of a turn: 14 degrees of a careful hand
STUCK = "The encoder has a bit that is stuck: the angle jumps on each turn."
STUCK_REMEDY = (
    "See to the encoder, its cable and its protocol (data bits, parity); change what is broken."
)


def measure(bench: Bench) -> Measured:
    """Count one turn by hand; both places of the rig that state the counts must agree with it."""
    axis = bench.axis
    counts = abs(turned_counts(bench, Act.ONE_TURN))
    stated = axis.counts_per_rev
    if stuck := stuck_words(bench, min(counts, stated)):
        return Measured(None, "counts", words=stuck, remedy=STUCK_REMEDY, sentence=STUCK)
    words = f"One turn is {counts:.0f} counts; the rig has {stated}."
    if axis.drive_config.counts_per_rev != stated:
        words = f"The rig has {stated} counts at the filter and {axis.drive_config.counts_per_rev} at the drive."
        return Measured(None, "counts", words=words)
    return Measured(counts, "counts", (1 - SHARE) * stated, (1 + SHARE) * stated, words)


STEP = Step(
    place=3,
    name="counts_per_turn",
    title="Counts per turn",
    question="How many counts is one turn of the wheel?",
    commands="",
    measure=measure,
    good="One turn of the wheel is one turn of the rig.",
    bad="One turn of the wheel is another angle for the rig.",
    remedy="Correct counts_per_rev at the drive and at the encoder filter; bits are not counts, and edges count "
    "four times.",
)

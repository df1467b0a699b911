"""The angle of straight ahead."""

from __future__ import annotations

from rigloop.commission.hands import Act
from rigloop.commission.step import Bench, Measured, Step

MOST_DEG = 3.0


def measure(bench: Bench) -> Measured:
    """Read the rig's angle with the wheel straight ahead."""
    axis = bench.axis
    bench.ask(Act.STRAIGHT)
    count = bench.stand.count()
    degrees = 360.0 * axis.sign * (count - axis.zero_count) / axis.counts_per_rev
    return Measured(
        degrees,
        "°",
        -MOST_DEG,
        MOST_DEG,
        f"Straight ahead the rig has {degrees:.2f}°, at the count {count:.0f}.",
        f"Set zero_count = {count:.0f} at the encoder filter, or the zero of the drive.",
    )


STEP = Step(
    place=4,
    name="zero",
    title="Zero",
    question="Is straight ahead the angle zero?",
    commands="",
    measure=measure,
    good="Straight ahead is zero.",
    bad="Straight ahead is not zero.",
    remedy="Set zero_count at the encoder filter, or the zero of the drive.",
)

"""The direction in which the encoder counts."""

from __future__ import annotations

from rigloop.commission.hands import Act
from rigloop.commission.step import Bench, Measured, Step
from rigloop.commission.turned import turned_counts

LEAST_DEG = 20.0


def measure(bench: Bench) -> Measured:
    """Compare the count before and after somebody has turned the wheel to the left."""
    axis = bench.axis
    counts = turned_counts(bench, Act.LEFT)
    degrees = 360.0 * axis.sign * counts / axis.counts_per_rev
    return Measured(degrees, "°", LEAST_DEG, None, f"The rig saw the wheel turn by {degrees:.1f}°.")


STEP = Step(
    place=2,
    name="encoder_direction",
    title="Direction of the encoder",
    question="Does a turn to the left count up?",
    commands="",
    measure=measure,
    good="A turn to the left counts up.",
    bad="A turn to the left does not count up.",
    remedy="Change `sign` of the drive (it turns encoder and torque together) or of the encoder filter.",
)

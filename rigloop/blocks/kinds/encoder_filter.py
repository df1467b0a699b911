"""A Kalman filter for an encoder: count → angle, rate, acceleration.

The filter corrects at the time of each sample and predicts to the time of the cycle, so that lost cycles and late
samples are bridged. `docs/models/filters.md` explains how to choose its bandwidth, and `rigloop tune` proposes one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field

from estimators.encoder.filter import READ_PORTS, WRITE_PORTS, EncoderFilter
from estimators.encoder.settings import (
    Count,
    CounterSpan,
    CountsPerRev,
    Gains,
    Gate,
    Model,
    Noise,
    Rate,
)
from rig_configs.hazards import FALSE_SENSOR, RUNAWAY, WRONG_SCALE, WRONG_SIGN, answers
from rig_configs.mistakes import Mistake
from rig_configs.names import SignalPath
from rig_configs.numbers import IN_FILE, PositiveMs
from rig_configs.schema import BlockTable, Rig
from rigloop.blocks.kind import BlockKind, Making, Port, constant
from rigloop.blocks.usual import MS
from rt_core.settings import SettingsError, Sign


class EncoderFilterBlock(BlockTable):
    """Kalman filter: count → angle, rate, acceleration."""

    kind: Literal["encoder_filter"]
    counts_per_rev: Annotated[CountsPerRev, IN_FILE, answers(WRONG_SCALE)]
    """The counts of the encoder in one turn."""
    counter_span: Annotated[CounterSpan, IN_FILE, answers(WRONG_SCALE)] = float(2**32)
    """The counter starts again after this number of counts; 0: never."""
    sign: Annotated[Sign, answers(WRONG_SIGN)] = 1
    """An encoder with -1 counts against the rig's positive direction."""
    zero_count: Annotated[Count, IN_FILE, answers(RUNAWAY)] = 0.0
    """The angle is zero at this count."""
    bandwidth_rad_s: Annotated[Rate, IN_FILE] = 310.4
    """The filter follows motion up to this frequency; its acceleration lags by about two divided by this frequency
    (6.4 ms)."""
    model: Model = "constant_acceleration"
    """The filter assumes that this derivative is constant between two samples."""
    gains: Gains = "time_varying"
    """The gains follow from the covariance; there is no other choice."""
    noise_rad: Annotated[Noise, IN_FILE, Field(examples=[1.73e-6])] | None = None
    """A sample has this standard deviation; the default is the standard deviation of rounding to counts."""
    gate_nis: Annotated[Gate, IN_FILE, answers(FALSE_SENSOR)] = 0.0
    """A sample with a larger normalised innovation squared is rejected; 0: no gate."""
    lost_after_ms: Annotated[PositiveMs, answers(FALSE_SENSOR)] = 20.0
    """After this time without a sample the estimate is discarded and starts again with the next sample."""
    reads: dict[SignalPath, SignalPath]


def make(making: Making) -> EncoderFilter:
    """Return an encoder filter, with the settings of a log in place of the rig's."""
    given = making.block.model_dump(exclude={"kind", "reads", "writes"})
    given["period_s"] = making.period_us * 1e-6
    given["lost_after_s"] = given.pop("lost_after_ms") * 1e-3
    reads, writes = making.reads(READ_PORTS), making.writes(WRITE_PORTS)
    return EncoderFilter(making.name, reads, writes, **(given | dict(making.settings)))


def mistakes(file: str, rig: Rig, name: str) -> Iterator[Mistake]:
    """Find settings that an encoder filter refuses."""
    try:
        make(Making(rig, name, rig.blocks[name]))
    except SettingsError as error:
        for found in error.wrong:
            key = {"lost_after_s": "lost_after_ms"}.get(found.key, found.key)
            value = getattr(rig.blocks[name], key)
            yield Mistake(file, f"blocks.{name}.{key}", found.problem, found.remedy, value)


READS = (
    Port("position_count", "count", "The raw count of the encoder.", usual="*/position_count"),
    Port("valid", "1", "1: there is a new sample; any other value: there is none.", usual="*/*/valid"),
    Port("elapsed", "1", "The number of periods since the last executed cycle.", usual="loop/TASK/elapsed"),
    Port(
        "sample_age_s", "s",
        "The age of the sample in this cycle; not wired: 0.", optional=True,
    ),
)  # fmt: skip
WRITES = (
    Port("angle_rad", "rad", "The estimated angle."),
    Port("rate_rad_s", "rad/s", "The estimated rate."),
    Port("acceleration_rad_s2", "rad/s^2", "The estimated acceleration."),
    Port("innovation_rad", "rad", "The difference between this cycle's sample and its prediction; 0 without a "
                                  "sample."),
    Port("unwrapped_count", "count", "The count of the last accepted sample, with wraps of the counter undone."),
    Port("offset_rad", "rad", "The remaining difference between the filter's angle and the encoder's angle "
                              "after a jump."),
    Port("missed", "1", "The number of consecutive cycles without an accepted sample."),
    Port("rejected", "1", "The number of samples rejected since the start."),
    Port("jumps", "1", "The number of jumps accepted since the start."),
    Port("ready", "1", "1: the estimate has settled."),
    Port("trusted", "1", "1: the estimate has settled and uses a sample of this cycle."),
    Port("jerk_rad_s3", "rad/s^3", "The estimated jerk with a model of constant jerk, otherwise 0."),
    Port("nis", "1", "The normalised innovation squared of this cycle's sample."),
    Port("covariance_resets", "1", "The number of resets of the covariance."),
)  # fmt: skip

KIND = BlockKind(
    name="encoder_filter",
    schema=EncoderFilterBlock,
    ports=constant(READS, WRITES),
    make=make,
    about=__doc__,
    mistakes=mistakes,
    usual={
        "counts_per_rev": (100, 2**28, "counts, not bits, and after the edges are counted"),
        "bandwidth_rad_s": (1.0, 2e4, "Hz are rad/s / 6.28"),
        "noise_rad": (1e-9, 0.1, "degrees are rad x 57.3"),
        "gate_nis": (1.0, 1e4, "it is the square of a number of sigmas"),
        "lost_after_ms": (0.2, 5000.0, MS),
    },
    has_place=lambda block: True,
)

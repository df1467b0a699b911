"""A Kalman filter of an encoder: count → angle, rate, acceleration.

It corrects at the time of each sample and moves the result to the cycle, so that lost cycles and late samples are
bridged. `docs/models/filters.md` says how to choose its bandwidth, and `rigloop tune` proposes one.
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
    """The number of counts after which the counter begins again; 0: it never does."""
    sign: Annotated[Sign, answers(WRONG_SIGN)] = 1
    """An encoder with -1 counts against the rig's positive sense."""
    zero_count: Annotated[Count, IN_FILE, answers(RUNAWAY)] = 0.0
    """The angle is zero at this count."""
    bandwidth_rad_s: Annotated[Rate, IN_FILE] = 310.4
    """The filter follows motion up to this frequency; its acceleration lags by about two over it (6.4 ms)."""
    model: Model = "constant_acceleration"
    """Between two samples this is taken to stay constant."""
    gains: Gains = "time_varying"
    """The gains follow the covariance; there are no others."""
    noise_rad: Annotated[Noise, IN_FILE, Field(examples=[1.73e-6])] | None = None
    """A sample has this standard deviation; the default is that of the rounding to counts."""
    gate_nis: Annotated[Gate, IN_FILE, answers(FALSE_SENSOR)] = 0.0
    """A sample with a larger normalised innovation squared is rejected; 0: no such gate."""
    lost_after_ms: Annotated[PositiveMs, answers(FALSE_SENSOR)] = 20.0
    """Without a sample for so long the estimate is given up and begins again with the next one."""
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
    Port("valid", "1", "1 for a new sample, anything else for none.", usual="*/*/valid"),
    Port("elapsed", "1", "Periods since the last executed cycle.", usual="loop/TASK/elapsed"),
    Port(
        "sample_age_s", "s",
        "The sample was taken so long before this cycle; bare: at the cycle.", optional=True,
    ),
)  # fmt: skip
WRITES = (
    Port("angle_rad", "rad", "The estimated angle."),
    Port("rate_rad_s", "rad/s", "The estimated rate."),
    Port("acceleration_rad_s2", "rad/s^2", "The estimated acceleration."),
    Port("innovation_rad", "rad", "What this cycle's sample adds to the prediction; 0 without one."),
    Port("unwrapped_count", "count", "The count of the last accepted sample, without the counter's span."),
    Port("offset_rad", "rad", "How far the angle still is from the encoder's after a jump."),
    Port("missed", "1", "Consecutive cycles without an accepted sample."),
    Port("rejected", "1", "Samples refused since the start."),
    Port("jumps", "1", "Jumps believed since the start."),
    Port("ready", "1", "1 once the estimate has settled."),
    Port("trusted", "1", "1 when the estimate has settled and a sample of this cycle went into it."),
    Port("jerk_rad_s3", "rad/s^3", "The estimated jerk, of a model of constant jerk; else 0."),
    Port("nis", "1", "The normalised innovation squared of this cycle's sample."),
    Port("covariance_resets", "1", "Times that the covariance was started again."),
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

"""A sum of sines of equal amplitude that is added to the torque request before the guard.

The sum begins when the guard has ramped in, rises over `ramp_s`, and ends when the guard ends the torque.
`rigloop bench frf` uses it to measure the frequency response of the drive.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from rig_configs.hazards import OSCILLATION, SUDDEN_TORQUE, answers
from rig_configs.names import SignalPath
from rig_configs.numbers import Positive, PositiveS, Real
from rig_configs.schema import BlockTable
from rigloop.blocks.kind import BlockKind, Making, Port, constant
from rigloop.blocks.kinds.excitation_step import READS, WRITES, Excitation


class ExcitationBlock(BlockTable):
    """A sum of sines, added to a torque request."""

    kind: Literal["excitation"]
    amplitude_nm: Annotated[Positive, Field(examples=[0.5]), answers(OSCILLATION, SUDDEN_TORQUE)]
    """The sum has this peak."""
    base_hz: Annotated[Real, Field(ge=0.01, le=100.0, examples=[0.5])]
    """The sum repeats with this frequency."""
    harmonics: Annotated[
        list[Annotated[int, Field(ge=1, le=100_000)]],
        Field(min_length=1, max_length=256, examples=[[1, 3, 5]]),
    ]
    """The sines are at these multiples of `base_hz`."""
    ramp_s: Annotated[PositiveS, answers(SUDDEN_TORQUE)] = 1.0
    """The sum rises to its peak over this time."""
    reads: dict[SignalPath, SignalPath]


def make(making: Making) -> Excitation:
    """Return an excitation."""
    given = making.block.model_dump(exclude={"kind", "reads", "writes"})
    return Excitation(making.name, making.reads(READS), making.writes(WRITES), **given)


KIND = BlockKind(
    name="excitation",
    schema=ExcitationBlock,
    ports=constant(
        (
            Port("request_nm", "Nm", "The sines are added to this request."),
            Port("ramp", "1", "The guard's ramp: the sines begin when it reaches 1."),
        ),
        (
            Port("torque_nm", "Nm", "The request and the sines."),
            Port("excitation_nm", "Nm", "The sines alone."),
            Port("elapsed_s", "s", "The time since the sines began; 0: they have not begun."),
        ),
    ),
    make=make,
    about=__doc__,
)

"""The torque of a relay: `+torque_nm` if an angle is zero or more, `-torque_nm` if it is below zero.

`rigloop bench latency` puts the relay after the model: the time from a sign change of the encoder to the torque with
the new sign is the latency of the rig.
"""

from __future__ import annotations

from typing import Literal

from rig_configs.names import SignalPath
from rig_configs.numbers import Positive
from rig_configs.schema import BlockTable
from rigloop.blocks.kind import BlockKind, Making, Port, constant
from rigloop.blocks.kinds.relay_step import FAULTS, READS, WRITES, Relay


class RelayBlock(BlockTable):
    """Torque of the sign of an angle."""

    kind: Literal["relay"]
    torque_nm: Positive
    """The torque has this size."""
    reads: dict[SignalPath, SignalPath]


def make(making: Making) -> Relay:
    """Return a relay."""
    return Relay(making.block.torque_nm, making.name, making.reads(READS), making.writes(WRITES))


KIND = BlockKind(
    name="relay",
    schema=RelayBlock,
    ports=constant(
        (Port("angle_rad", "rad", "The torque has the sign of this angle."),),
        (Port("torque_nm", "Nm", "The torque of the relay."),),
    ),
    make=make,
    about=__doc__,
    faults=FAULTS,
    usual={"torque_nm": (0.01, 1000.0, "mNm are Nm/1000")},
)

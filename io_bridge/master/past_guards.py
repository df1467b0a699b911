"""Slaves that would move past their guard as they are found: by channels of a terminal, or by a torque offset."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from io_bridge.master.manager_pieces import entries_of
from io_bridge.master.slave_objects import SlaveObjects
from io_bridge.slaves.drive_config import DriveConfig
from io_bridge.slaves.errors import SdoAbortError
from io_bridge.slaves.moving_objects import AXIS_STEP, moving
from io_bridge.slaves.sii_contents import SiiPdo
from io_bridge.slaves.terminal_config import TerminalConfig

TORQUE_OFFSET = 0x60B2
LEAST_BITS = 16
"""Least size of an object that moves a drive; channels of terminals have such indices, with a subindex."""


def hidden_drives(
    slaves: Sequence[DriveConfig | TerminalConfig], outputs: tuple[SiiPdo, ...]
) -> Iterator[str]:
    """Find terminals with output channels in a slave whose outputs move a drive; a sentence each.

    Parameters
    ----------
    slaves : sequence of DriveConfig or TerminalConfig
        The entries of the rig in this slave.
    outputs : tuple of SiiPdo
        Of the slave, as it runs.
    """
    moves = [
        f"{index:#06x}, {moving(index)}"
        for index, sub, bits in entries_of(outputs)
        if sub == 0 and bits >= LEAST_BITS and moving(index)
    ]
    for slave in slaves:
        if moves and isinstance(slave, TerminalConfig) and slave.outputs:
            yield (
                f"{slave.name}: is a drive (its outputs have {'; '.join(moves)}), and no guard limits what channels "
                "of a terminal send: describe it under `drives`, or omit its outputs"
            )


def torque_offsets(
    slaves: Sequence[DriveConfig | TerminalConfig],
    outputs: tuple[SiiPdo, ...],
    objects: SlaveObjects,
) -> Iterator[str]:
    """Find drives that would add a torque of their own to every command; a sentence each.

    An offset that is mapped gets zero in each frame. Any other one is what somebody has left there.
    """
    mapped = {entry[:2] for entry in entries_of(outputs)}
    for slave in slaves:
        if not isinstance(slave, DriveConfig) or slave.mode != "torque":
            continue
        index = TORQUE_OFFSET + AXIS_STEP * slave.axis
        if (index, 0) in mapped:
            continue
        try:
            offset = int.from_bytes(objects.upload(index)[:2], "little", signed=True)
        except SdoAbortError:
            continue  # it has none
        if offset:
            yield (
                f"{slave.name}: its torque offset ({index:#06x}) is {offset} per mille of its rated torque, and would "
                "act past the guard: set it to 0, as with `rigloop sdo`, or by the maker's tool"
            )

"""Drives that a rig describes as terminals, with channels that would move them past every guard."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from io_bridge.master.manager_pieces import entries_of
from io_bridge.slaves.drive_config import DriveConfig
from io_bridge.slaves.moving_objects import moving
from io_bridge.slaves.sii_contents import SiiPdo
from io_bridge.slaves.terminal_config import TerminalConfig

LEAST_BITS = (
    16  # of an object that moves a drive; channels of terminals have such indices, with a subindex
)


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
                "of a terminal send: describe it under `drives`, or leave its outputs away"
            )

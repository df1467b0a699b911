"""Survey of the slaves on the wire: addresses, identities and EEPROMs of all slaves, before any is configured."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Sequence
from dataclasses import dataclass

from io_bridge.master.mailbox import LEAST_BYTES, MOST_BYTES
from io_bridge.master.master import Master
from io_bridge.slaves.drive_config import DriveConfig
from io_bridge.slaves.errors import BringUpError, NoReplyError
from io_bridge.slaves.sii import Identity
from io_bridge.slaves.sii_contents import SiiContents, read_contents
from io_bridge.slaves.terminal_config import TerminalConfig
from rig_configs.plain import line

SlaveConfig = DriveConfig | TerminalConfig
MOST_NAME = 64
COUNT_TRIES = 10
"""Frames to a wire that does not answer: some are lost, while a link or a slave comes up."""


@dataclass(frozen=True)
class Surveyed:
    """A slave as its EEPROM and its controller describe it."""

    station: int
    identity: Identity
    contents: SiiContents
    has_clock: bool


def survey(master: Master, groups: Sequence[Sequence[SlaveConfig]]) -> list[Surveyed]:
    """Count, address and read all slaves, and compare them with the rig.

    Parameters
    ----------
    master : Master
        Takes the slaves' names.
    groups : sequence of sequences
        The entries of the rig in each slave of the ring.

    Raises
    ------
    BringUpError
        Wrong number of slaves, wrong or unreadable ones; all of them are named.
    """
    found = 0
    for _ in range(COUNT_TRIES):
        with contextlib.suppress(NoReplyError):
            found = master.count()
        if found:
            break
    if found != len(groups):
        raise BringUpError(_other_number(master, found, len(groups)))
    wrong: list[str] = []
    slaves = []
    for position, group in enumerate(groups):
        station = master.address(position)
        master.names[station] = "+".join(slave.name for slave in group)
        master.limits[station] = group[0].limits
        try:
            slaves.append(read_slave(master, station))
        except BringUpError as error:
            wrong.append(str(error))
            continue
        wrong += check_identity(position, group[0], slaves[-1].identity)
    if wrong:
        raise BringUpError("; ".join(wrong))
    return slaves


def _other_number(master: Master, found: int, wanted: int) -> str:
    if not found:
        return f"no slave answers, the rig has {wanted}: cable, power, or another kind of network"
    names = []
    for position in range(min(found, 32)):
        try:
            name = read_slave(master, master.address(position)).contents.name
            names.append(line(name, MOST_NAME) or "no name")
        except BringUpError as error:
            names.append(str(error))
    return f"{found} slaves answer, the rig has {wanted}; those are: {', '.join(names)}"


def read_slave(master: Master, station: int) -> Surveyed:
    """Read one slave.

    Raises
    ------
    BringUpError
        Its EEPROM cannot be read, is blank, or describes a mailbox that cannot be.
    """
    master.take_eeprom(station)
    identity = master.identity(station)
    blank = {0xFFFFFFFF: "all 0xFF", 0: "all 0"}.get(identity.vendor)
    if blank and identity.product == identity.vendor:
        raise BringUpError(
            f"{master.called(station)}: its EEPROM is blank ({blank} where vendor and product are): write it "
            "with the maker's tool"
        )
    contents = read_contents(functools.partial(master.eeprom, station))
    if any(size and not LEAST_BYTES <= size <= MOST_BYTES for size in contents.mailbox_bytes):
        raise BringUpError(
            f"{master.called(station)}: its EEPROM has mailboxes of {contents.mailbox_bytes} bytes; {LEAST_BYTES} to "
            f"{MOST_BYTES} can be used: it is damaged, write it with the maker's tool"
        )
    has_clock = bool(master.read(station, 0x0008, 1)[0] & 0x04)
    return Surveyed(station, identity, contents, has_clock)


def check_identity(position: int, config: SlaveConfig, found: Identity) -> list[str]:
    """Return the differences between the slave found and the one configured."""
    if config.identity is None:
        return []
    return [
        f"slave {position} ({config.name}): {field} {getattr(found, field):#x}, "
        f"the rig has {getattr(config.identity, field):#x}"
        for field in ("vendor", "product", "revision", "serial")
        if getattr(found, field) != getattr(config.identity, field)
        and not (field == "serial" and config.identity.serial == 0)
    ]

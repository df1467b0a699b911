"""Contents of an ESI for one device."""

from __future__ import annotations

from dataclasses import dataclass

from io_bridge.slaves.device_description import Object
from io_bridge.slaves.sii import Identity, SyncManager
from io_bridge.slaves.state_limits import STANDARD, StateLimits


@dataclass(frozen=True)
class EsiEntry:
    """One entry of a PDO; index 0 is padding."""

    index: int
    sub: int
    bits: int
    name: str = ""
    type: str = ""


@dataclass(frozen=True)
class EsiPdo:
    """A PDO; `manager` is the sync manager that it is assigned to after power-up, None = to none."""

    index: int
    name: str
    entries: tuple[EsiEntry, ...]
    manager: int | None = None
    fixed: bool = False

    @property
    def mapped(self) -> tuple[tuple[int, int, int], ...]:
        """Index, subindex and bits of each entry."""
        return tuple((entry.index, entry.sub, entry.bits) for entry in self.entries)


@dataclass(frozen=True)
class ClockMode:
    """An operation mode of the distributed clock; cycles and shifts of SYNC0 and SYNC1 in ns."""

    name: str
    text: str
    activate: int
    cycle_ns: tuple[int, int] = (0, 0)
    factor: tuple[int, int] = (0, 0)
    shift_ns: tuple[int, int] = (0, 0)


@dataclass(frozen=True)
class CoeServices:
    """Abilities of a mailbox with CoE."""

    sdo_info: bool = False
    pdo_assign: bool = False
    pdo_config: bool = False
    upload: bool = False
    complete_access: bool = False


@dataclass(frozen=True)
class EsiDevice:
    """A device of an ESI file.

    Attributes
    ----------
    vendor_name, type, name : str
    identity : Identity
    ports : tuple of {"mii", "ebus", ""}
    managers : tuple of SyncManager
        Use 0: not used.
    coe : CoeServices or None
        None: no mailbox, or one without CoE.
    rx_pdos, tx_pdos : tuple of EsiPdo
    clock_modes : tuple of ClockMode
    objects : tuple of Object
        Of the dictionary; empty where none is given.
    device_type : int
        Object 0x1000, from the profile.
    config : bytes
        First words of the EEPROM, empty if not given.
    limits : StateLimits
        How long its states and its mailbox may take.
    notes : tuple of str
        Values that were read otherwise than they stand in the file, or left out.
    """

    vendor_name: str
    type: str
    name: str
    identity: Identity
    ports: tuple[str, ...]
    managers: tuple[SyncManager, ...] = ()
    coe: CoeServices | None = None
    rx_pdos: tuple[EsiPdo, ...] = ()
    tx_pdos: tuple[EsiPdo, ...] = ()
    clock_modes: tuple[ClockMode, ...] = ()
    objects: tuple[Object, ...] = ()
    device_type: int = 0
    config: bytes = b""
    limits: StateLimits = STANDARD
    notes: tuple[str, ...] = ()

    def entry(self, index: int, sub: int) -> EsiEntry | None:
        """Return the entry of a PDO for an object, None if no PDO has it."""
        for pdo in (*self.rx_pdos, *self.tx_pdos):
            for entry in pdo.entries:
                if (entry.index, entry.sub) == (index, sub):
                    return entry
        return None

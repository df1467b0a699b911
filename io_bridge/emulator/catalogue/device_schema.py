"""The schema of a device file: identity, objects, PDOs and options of an emulated device."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, model_validator

from io_bridge.slaves.device_description import TEXT, TYPES, VARIABLE, Entry, Object
from rig_configs.section import Section
from rig_configs.slaves import Bits32, RxIndex, TxIndex
from rt_core.settings import Refusal

MAPPED = re.compile(r"(0x[0-9A-Fa-f]{1,4}):(\d{1,3})|pad:(\d{1,2})")
MOST_PDOS = 16
"""Limit of the PDOs that can be assigned in one direction."""


def _known_type(name: str) -> str:
    if name not in TYPES and not TEXT.fullmatch(name):
        raise Refusal("is not a type", f"known are {', '.join(TYPES)}, STRING(n), OCTETS(n)")
    return name


def _mapped(text: str) -> str:
    if not MAPPED.fullmatch(text):
        raise Refusal("is not an entry", 'write "0x6000:1" or "pad:4"')
    return text


def _ascii(name: str) -> str:
    if not name.isascii() or not 0 < len(name) <= 64:
        raise Refusal("must be 1 to 64 ASCII characters")
    return name


def _mailbox(size: int) -> int:
    if 0 < size < 48:
        raise Refusal("must be 0, or 48 to 256")
    return size


def _port(ports: list[str]) -> list[str]:
    if ports[0] == "":
        raise Refusal("the first port is the input, and cannot be missing", 'write "mii" or "ebus"')
    return ports


Name = Annotated[str, AfterValidator(_ascii)]
Ports = Annotated[
    list[Literal["mii", "ebus", ""]], Field(min_length=2, max_length=4), AfterValidator(_port)
]
Type = Annotated[str, AfterValidator(_known_type)]
Access = Literal["ro", "wo", "rw", "preop"]
Mapped = Literal["", "rx", "tx", "rxtx"]


class ValueTable(Section):
    """The keys of a value of the dictionary."""

    name: str = ""
    access: Access = "ro"
    pdo: Mapped = ""
    value: int | str = 0


class EntryTable(ValueTable):
    """An entry of an object."""

    sub: Annotated[int, Field(ge=1, le=254)]
    type: Type

    @model_validator(mode="after")
    def _fits(self) -> EntryTable:
        self.entry()
        return self

    def entry(self) -> Entry:
        """Return the entry that the table describes.

        Raises
        ------
        Refusal
            Its value does not fit its type.
        """
        return fitting(Entry(self.sub, self.type, self.name, self.access, self.pdo, self.value))


class ObjectTable(ValueTable):
    """An object: with entries, with several that are alike, or a single value."""

    index: Annotated[int, Field(ge=1, le=0xFFFF)]
    entries: Annotated[list[EntryTable], Field(min_length=1)] | None = None
    repeat: Annotated[int, Field(ge=1, le=254)] | None = None
    label: str = "Value"
    type: Type | None = None

    @model_validator(mode="after")
    def _has_values(self) -> ObjectTable:
        self.object()
        return self

    def object(self) -> Object:
        """Return the object that the table describes.

        Raises
        ------
        Refusal
            It has no values, or one that does not fit its type.
        """
        if self.entries is not None:
            entries = [table.entry() for table in self.entries]
        elif self.type is None:
            raise Refusal("has no values", "give entries, or a type, with repeat for several")
        elif self.repeat is None:
            alone = Entry(0, self.type, self.name, self.access, self.pdo, self.value)
            return Object(self.index, self.name, (fitting(alone),), VARIABLE)
        else:
            numbers = range(1, self.repeat + 1)
            entries = [
                Entry(n, self.type, f"{self.label} {n}", self.access, self.pdo) for n in numbers
            ]
        count = Entry(0, "UINT8", "SubIndex 000", value=entries[-1].sub)
        return Object(self.index, self.name, (count, *entries))


class PdoTable(Section):
    """A PDO: what it carries, and how much room there is for more."""

    index: int
    name: str = ""
    entries: list[Annotated[str, AfterValidator(_mapped)]] = []
    room: Annotated[int, Field(ge=0, le=254)] = 0
    assigned: bool = True


class RxPdoTable(PdoTable):
    """A PDO to the device."""

    index: RxIndex


class TxPdoTable(PdoTable):
    """A PDO from the device."""

    index: TxIndex


class IdentityTable(Section):
    """The numbers by which a master knows a device."""

    vendor: Bits32 = 0
    product: Bits32 = 0
    revision: Bits32 = 0
    serial: Bits32 = 0


class DeviceTable(Section):
    """The keys of every device file."""

    kind: str
    identity: IdentityTable
    options: dict[str, Any] = {}
    quirks: Any = {}
    objects: list[ObjectTable] = []
    rx_pdos: list[RxPdoTable] = []
    tx_pdos: list[TxPdoTable] = []
    assign: Annotated[int, Field(ge=0, le=MOST_PDOS)] = 0


class PlainTable(DeviceTable):
    """A device that is described as a whole."""

    name: Name
    ports: Ports
    mailbox_bytes: Annotated[int, Field(ge=0, le=256), AfterValidator(_mailbox)] = 0
    device_type: Bits32 = 0


def fitting(entry: Entry) -> Entry:
    """Return an entry whose value its type can hold.

    Raises
    ------
    Refusal
        It cannot.
    """
    if isinstance(entry.value, int) and not -(1 << entry.bits - 1) <= entry.value < 1 << entry.bits:
        raise Refusal(f"value {entry.value} does not fit {entry.type}")
    return entry

"""One <Device> of an ESI file."""

from __future__ import annotations

from xml.etree.ElementTree import Element

from io_bridge.esi.dictionary import read_dictionary
from io_bridge.esi.document import Located, Reading, text_of
from io_bridge.esi.model import ClockMode, CoeServices, EsiDevice, EsiEntry, EsiPdo
from io_bridge.esi.time_limits import read_limits
from io_bridge.slaves.device_description import Object
from io_bridge.slaves.sii import Identity, SyncManager

USES = {"": 0, "mboxout": 1, "mboxin": 2, "outputs": 3, "inputs": 4}
PHYSICS = {"Y": "mii", "H": "mii", "K": "ebus", " ": ""}
CONFIG_BYTES = 14
MOST_PDO_BITS = 255
"""Largest size of an entry: the range of one byte of its mapping."""


def read_device(reading: Reading, device: Located, vendor: int, vendor_name: str) -> EsiDevice:
    """Read a device; mistakes go to `reading`, and so do notes."""
    known = device.find("Type")
    assert isinstance(known, Located)
    product = reading.attribute(known, "ProductCode")
    revision = reading.attribute(known, "RevisionNo")
    type_name = " ".join((known.text or "").split())
    managers = _managers(reading, device)
    objects: list[Object] = []
    for dictionary in device.iterfind("Profile/Dictionary"):
        assert isinstance(dictionary, Located)
        objects += read_dictionary(reading, dictionary)
    if device.find("Slots") is not None:
        reading.note(device, "its modules (<Slots>) are left out")
    limits = read_limits(reading, device)
    return EsiDevice(
        vendor_name,
        type_name,
        text_of(device, "Name") or type_name,
        Identity(vendor, product, revision),
        _ports(reading, device),
        managers,
        _coe(reading, device),
        _pdos(reading, device, "RxPdo", managers),
        _pdos(reading, device, "TxPdo", managers),
        _clock_modes(reading, device),
        tuple(sorted(objects, key=lambda item: item.index)),
        _device_type(reading, device),
        _config(reading, device),
        limits,
        tuple(reading.notes),
    )


def _ports(reading: Reading, device: Located) -> tuple[str, ...]:
    text = device.get("Physics", "").upper().rstrip()
    if not text:
        reading.note(device, "Physics is missing; two ports of EtherCAT are taken")
        return "mii", "mii"
    if len(text) > 4 or any(letter not in PHYSICS for letter in text) or text[0] == " ":
        reading.wrong(
            device, f"Physics = {text!r}: up to four of Y, H (EtherCAT), K (E-bus), space"
        )
        return "mii", "mii"
    ports = tuple(PHYSICS[letter] for letter in text)
    return ports if len(ports) > 1 else (*ports, "")


def _managers(reading: Reading, device: Located) -> tuple[SyncManager, ...]:
    found = []
    for item in device.iterfind("Sm"):
        assert isinstance(item, Located)
        use = (item.text or "").strip().lower()
        if use not in USES:
            reading.wrong(item, f"{use!r}: one of MBoxOut, MBoxIn, Outputs, Inputs")
        found.append(
            SyncManager(
                reading.attribute(item, "StartAddress", 0xFFFF),
                reading.attribute(item, "DefaultSize", 0xFFFF),
                reading.attribute(item, "ControlByte", 0xFF),
                USES.get(use, 0),
            )
        )
    return tuple(found)


def _coe(reading: Reading, device: Located) -> CoeServices | None:
    coe = device.find("Mailbox/CoE")
    if coe is None:
        return None
    assert isinstance(coe, Located)
    return CoeServices(
        reading.flag(coe, "SdoInfo"),
        reading.flag(coe, "PdoAssign"),
        reading.flag(coe, "PdoConfig"),
        reading.flag(coe, "PdoUpload"),
        reading.flag(coe, "CompleteAccess"),
    )


def _pdos(
    reading: Reading, device: Located, tag: str, managers: tuple[SyncManager, ...]
) -> tuple[EsiPdo, ...]:
    found: dict[int, EsiPdo] = {}
    first = 0x1600 if tag == "RxPdo" else 0x1A00
    use = USES["outputs" if tag == "RxPdo" else "inputs"]
    for item in device.iterfind(tag):
        assert isinstance(item, Located)
        index = reading.child(item, "Index", 0xFFFF)
        if not first <= index <= first + 0x1FF:
            reading.wrong(item, f"<Index> {index:#06x}: {first:#06x} to {first + 0x1FF:#06x}")
        if index in found:
            reading.wrong(item, f"<Index> {index:#06x}: there is such a PDO already")
        manager = None
        if item.get("Sm", "").strip():
            manager = reading.attribute(item, "Sm", 15)
            if manager >= len(managers) or managers[manager].use != use:
                reading.wrong(item, f"Sm = {manager}: no sync manager for {tag}")
        entries = tuple(
            _entry(reading, entry) for entry in item.iterfind("Entry") if isinstance(entry, Located)
        )
        name = text_of(item, "Name")
        found[index] = EsiPdo(index, name, entries, manager, reading.flag(item, "Fixed"))
    return tuple(found.values())


def _entry(reading: Reading, item: Located) -> EsiEntry:
    index = reading.child(item, "Index", 0xFFFF)
    bits = reading.child(item, "BitLen", MOST_PDO_BITS)
    if not bits:
        reading.wrong(item, f"<BitLen> 0: 1 to {MOST_PDO_BITS}")
    sub = reading.child(item, "SubIndex", 0xFF, 0)
    return EsiEntry(index, sub, bits, text_of(item, "Name"), text_of(item, "DataType"))


def _clock_modes(reading: Reading, device: Located) -> tuple[ClockMode, ...]:
    found = []
    for item in device.iterfind("Dc/OpMode"):
        assert isinstance(item, Located)
        cycles, shifts = (
            [item.find(f"{what}TimeSync{i}") for i in (0, 1)] for what in ("Cycle", "Shift")
        )
        factors = [
            _signed(reading, at, "" if at is None else at.get("Factor", "")) for at in cycles
        ]
        times = [_signed(reading, at, _text(at)) for at in (*cycles, *shifts)]
        found.append(
            ClockMode(
                text_of(item, "Name"),
                text_of(item, "Desc"),
                reading.child(item, "AssignActivate", 0xFFFF),
                (times[0], times[1]),
                (factors[0], factors[1]),
                (times[2], times[3]),
            )
        )
    return tuple(found)


def _text(at: Element | None) -> str:
    return "" if at is None else at.text or ""


def _signed(reading: Reading, at: Element | None, text: str) -> int:
    """A time or a factor, which may be negative; 0 where there is none."""
    text = text.strip()
    if not text:
        return 0
    assert isinstance(at, Located)
    size = reading.number(at, at.tag, text.lstrip("+-"), 1 << 40)
    return -size if text.startswith("-") else size


def _device_type(reading: Reading, device: Located) -> int:
    profile = device.find("Profile")
    if profile is None:
        return 0
    assert isinstance(profile, Located)
    number = reading.child(profile, "ProfileNo", 0xFFFFFFFF, 0)
    return number & 0xFFFF | reading.child(profile, "AddInfo", 0xFFFF, 0) << 16


def _config(reading: Reading, device: Located) -> bytes:
    found = device.find("Eeprom/ConfigData")
    if not isinstance(found, Located):
        return b""
    return reading.hex_bytes(found)[:CONFIG_BYTES]

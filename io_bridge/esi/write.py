"""Emulated devices as an ESI file, so that the configurators of other masters know them."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from io_bridge.esi.data_types import esi_name
from io_bridge.slaves.device_description import (
    ARRAY,
    TEXT,
    VARIABLE,
    Description,
    Entry,
    Object,
    Pdo,
    all_objects,
)

VENDOR_NAME = "rigloop"
GROUP = "Emulated"
USES = ("", "MBoxOut", "MBoxIn", "Outputs", "Inputs")
PHYSICS = {"mii": "Y", "ebus": "K", "": " "}
ACCESS = {"ro": "ro", "wo": "wo", "rw": "rw", "preop": "rw"}
MAPPING = {"rx": "R", "tx": "T", "rxtx": "RT"}


def esi_text(devices: Sequence[Description]) -> bytes:
    """Return an ESI file with these devices.

    Raises
    ------
    ValueError
        They are of several vendors, or the list is empty.
    """
    vendors = {device.identity.vendor for device in devices}
    if len(vendors) != 1:
        raise ValueError(f"devices of {len(vendors)} vendors: an ESI file has those of one")
    root = Element("EtherCATInfo", Version="1.6")
    vendor = SubElement(root, "Vendor")
    _text(vendor, "Id", _hex(vendors.pop()))
    _text(vendor, "Name", VENDOR_NAME)
    descriptions = SubElement(root, "Descriptions")
    group = SubElement(SubElement(descriptions, "Groups"), "Group")
    _text(group, "Type", GROUP)
    _text(group, "Name", GROUP, LcId="1033")
    listed = SubElement(descriptions, "Devices")
    # the same device twice in a ring is one device of the file
    for device in {(d.identity.product, d.identity.revision): d for d in devices}.values():
        _device(listed, device)
    indent(root)
    return tostring(root, encoding="utf-8", xml_declaration=True) + b"\n"


def _hex(number: int, digits: int = 8) -> str:
    return f"#x{number:0{digits}X}"


def _text(parent: Element, tag: str, text: str | int, **attributes: str) -> Element:
    found = SubElement(parent, tag, attributes)
    found.text = str(text)
    return found


def _device(parent: Element, device: Description) -> None:
    physics = "".join(PHYSICS[port] for port in device.ports).rstrip()
    made = SubElement(parent, "Device", Physics=physics)
    who = device.identity
    codes = {"ProductCode": _hex(who.product), "RevisionNo": _hex(who.revision)}
    _text(made, "Type", device.name, **codes)
    _text(made, "Name", device.name, LcId="1033")
    _text(made, "GroupType", GROUP)
    if device.mailbox_bytes:
        profile = SubElement(made, "Profile")
        _text(profile, "ProfileNo", device.device_type & 0xFFFF)
        _text(profile, "AddInfo", device.device_type >> 16)
        _dictionary(SubElement(profile, "Dictionary"), all_objects(device))
    for use in (3, 4):
        if device.manager_of(use) >= 0:
            _text(made, "Fmmu", USES[use])
    for manager in device.managers:
        _text(
            made, "Sm", USES[manager.use], DefaultSize=str(manager.size),
            StartAddress=_hex(manager.start, 4), ControlByte=_hex(manager.control, 2), Enable="1",
        )  # fmt: skip
    for tag, pdos, use in (("RxPdo", device.rx_pdos, 3), ("TxPdo", device.tx_pdos, 4)):
        for pdo in pdos:
            _pdo(made, tag, pdo, device, use)
    if device.mailbox_bytes:
        details = device.coe_details
        names = ("SdoInfo", "PdoAssign", "PdoConfig", "PdoUpload", "CompleteAccess")
        flags = {name: str(details >> i & 1) for i, name in enumerate(names, 1)}
        SubElement(SubElement(made, "Mailbox"), "CoE", flags)
    _text(SubElement(made, "Eeprom"), "ConfigData", device.config.hex().upper())


def _pdo(parent: Element, tag: str, pdo: Pdo, device: Description, use: int) -> None:
    made = SubElement(parent, tag, Fixed="0" if pdo.room else "1")
    if pdo.assigned:
        made.set("Sm", str(device.manager_of(use)))
    _text(made, "Index", _hex(pdo.index, 4))
    _text(made, "Name", pdo.name)
    for index, sub, bits in pdo.entries:
        row = SubElement(made, "Entry")
        _text(row, "Index", _hex(index, 4))
        if not index:
            _text(row, "BitLen", bits)
            continue
        entry = device.entry(index, sub)
        _text(row, "SubIndex", sub)
        _text(row, "BitLen", bits)
        if entry is not None:
            _text(row, "Name", entry.name)
            _text(row, "DataType", esi_name(entry.type))


def _dictionary(parent: Element, objects: Sequence[Object]) -> None:
    types = SubElement(parent, "DataTypes")
    listed = SubElement(parent, "Objects")
    plain: dict[str, int] = {}
    for item in objects:
        for entry in item.entries:
            plain[esi_name(entry.type)] = entry.bits
        made = SubElement(listed, "Object")
        _text(made, "Index", _hex(item.index, 4))
        _text(made, "Name", item.name)
        if item.code == VARIABLE:
            entry = item.entries[0]
            _text(made, "Type", esi_name(entry.type))
            _text(made, "BitSize", entry.bits)
            _value(SubElement(made, "Info"), entry)
            _flags(made, entry)
            continue
        name = f"DT{item.index:04X}"
        bits = _record(types, name, item)
        _text(made, "Type", name)
        _text(made, "BitSize", bits)
        info = SubElement(made, "Info")
        for entry in item.entries:
            row = SubElement(info, "SubItem")
            _text(row, "Name", entry.name)
            _value(SubElement(row, "Info"), entry)
        _flags(made, item.entries[0])
    for name, bits in plain.items():
        declared = SubElement(types, "DataType")
        _text(declared, "Name", name)
        _text(declared, "BitSize", bits)


def _record(types: Element, name: str, item: Object) -> int:
    """Declare the type of a record or an array; return its bits."""
    made = Element("DataType")
    total = 16 + sum(entry.bits for entry in item.entries[1:])
    _text(made, "Name", name)
    _text(made, "BitSize", total)
    rows = item.entries
    is_array = item.code == ARRAY and len(rows) > 1
    if is_array:
        first, *elements = item.entries
        rows = (first,)
        array = SubElement(types, "DataType")
        _text(array, "Name", f"{name}ARR")
        _text(array, "BaseType", esi_name(elements[0].type))
        _text(array, "BitSize", sum(entry.bits for entry in elements))
        info = SubElement(array, "ArrayInfo")
        _text(info, "LBound", elements[0].sub)
        _text(info, "Elements", len(elements))
    at = 0
    for entry in rows:
        part = SubElement(made, "SubItem")
        _text(part, "SubIdx", entry.sub)
        _text(part, "Name", entry.name)
        _text(part, "Type", esi_name(entry.type))
        _text(part, "BitSize", entry.bits)
        _text(part, "BitOffs", at)
        _flags(part, entry)
        # entries begin on a word after the count
        at += entry.bits if entry.sub else 16
    if is_array:
        part = SubElement(made, "SubItem")
        _text(part, "Name", "Elements")
        _text(part, "Type", f"{name}ARR")
        _text(part, "BitSize", total - 16)
        _text(part, "BitOffs", 16)
        _flags(part, item.entries[1])
    types.append(made)
    return total


def _value(info: Element, entry: Entry) -> None:
    text = TEXT.fullmatch(entry.type)
    size = (entry.bits + 7) // 8
    if isinstance(entry.value, str) and text is not None and text[1] == "STRING":
        _text(info, "DefaultString", entry.value)
        return
    value = entry.value
    if isinstance(value, str):
        data = value.encode()[:size].ljust(size, b"\0")
    else:
        data = (value % (1 << 8 * size)).to_bytes(size, "little")
    _text(info, "DefaultData", data.hex().upper())


def _flags(parent: Element, entry: Entry) -> None:
    flags = SubElement(parent, "Flags")
    access = _text(flags, "Access", ACCESS[entry.access])
    if entry.access == "preop":
        access.set("WriteRestrictions", "PreOP")
    if entry.pdo:
        _text(flags, "PdoMapping", MAPPING[entry.pdo])

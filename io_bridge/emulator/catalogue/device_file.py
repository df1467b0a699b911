"""Read a device file: a TOML description of an emulated device, and the device made from it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from io_bridge.emulator.devices.described_device import DescribedDevice
from io_bridge.emulator.drive.device import DriveDevice
from io_bridge.emulator.drive.multi_axis import MultiAxisDrive
from io_bridge.emulator.drive.objects import drive_description
from io_bridge.emulator.quirks.catalogue import from_table
from io_bridge.emulator.terminals.analog_io import AnalogIo
from io_bridge.emulator.terminals.digital_io import DigitalIo
from io_bridge.emulator.terminals.encoder_input import EncoderInput
from io_bridge.slaves.device_description import (
    ACCESS,
    MAPPABLE,
    TEXT,
    TYPES,
    VARIABLE,
    Description,
    Entry,
    Object,
    Pdo,
)
from io_bridge.slaves.drive_config import SIMULATED_IDENTITY, DrivePlant
from io_bridge.slaves.sii import Identity
from rig_configs.bounded import UnreadableError, parse_toml, read_text
from rig_configs.numbers import strange_numbers
from rig_configs.plain import line

MAPPED = re.compile(r"(0x[0-9A-Fa-f]{1,4}):(\d{1,3})|pad:(\d{1,2})")
DRIVES = ("drive", "multi_axis_drive")
"""Kinds whose objects come by themselves; name and mailbox are among their options."""
OWN_KEYS = ("name", "ports", "mailbox_bytes", "device_type")
KEYS = ("kind", "identity", "options", "quirks", "objects", "rx_pdos", "tx_pdos", "assign")
MOST_PDOS = 16
"""Limit of the PDOs that can be assigned in one direction."""


class DeviceError(ValueError):
    """A device file is wrong; the message has one line for each mistake, each with the file."""


def shipped() -> dict[str, Path]:
    """Return the device files that come with the package: name → path."""
    return {path.stem: path for path in sorted(Path(__file__).parent.glob("*.toml"))}


def find_device(name: str) -> Path:
    """Return the file of a device: the name of one that ships, or a path.

    Raises
    ------
    DeviceError
        Neither; the message lists those that ship.
    """
    known = shipped()
    if name in known:
        return known[name]
    path = Path(name)
    try:
        if path.suffix == ".toml" and path.exists():
            return path
    except OSError:  # a name of too many bytes
        pass
    raise DeviceError(f"{name}: no device file, and none of those that ship: {', '.join(known)}")


def load_device(path: Path) -> DescribedDevice:
    """Make the device of a file.

    Raises
    ------
    DeviceError
        All mistakes of the file at once.
    """
    try:
        content = parse_toml(read_text(path))
    except UnreadableError as error:
        raise DeviceError(f"{path}: {error}") from error
    bad = [
        f"{line(key)} = {value!r:.40}: {problem}"
        for key, value, problem in strange_numbers(content)
    ]
    kind = content.get("kind")
    _check_keys(content, KEYS if kind in DRIVES else (*KEYS, *OWN_KEYS), "", bad)
    if kind not in KINDS:
        bad.append(f"kind = {kind!r}: one of {', '.join(KINDS)}")
    identity = _identity(content.get("identity"), bad)
    options = content.get("options", {})
    if not isinstance(options, dict):
        bad.append("options: must be a table")
    described = (_drive_changes if kind in DRIVES else _description)(content, identity, bad)
    quirks = []
    try:
        quirks = from_table(content.get("quirks", {}))
    except ValueError as error:
        bad += str(error).splitlines()
    if bad:
        raise DeviceError("\n".join(f"{path}: {line}" for line in bad))
    try:
        device = KINDS[str(kind)](described, identity, options)
        for quirk in quirks:
            device.add_quirk(quirk)
    except (TypeError, ValueError) as error:
        raise DeviceError(f"{path}: {error}") from error
    return device


def drive_text(plant: DrivePlant) -> str:
    """Return a device file of a drive with these numbers."""
    who = SIMULATED_IDENTITY
    options = [f"{f.name} = {json.dumps(getattr(plant, f.name))}" for f in fields(plant)]
    identity = [f"{key} = {getattr(who, key)}" for key in ("vendor", "product", "revision")]
    return "\n".join(['kind = "drive"', "[identity]", *identity, "[options]", *options, ""])


def _plant(options: Mapping[str, Any], *others: str) -> DrivePlant:
    known = {field.name for field in fields(DrivePlant)}
    if unknown := set(options) - known - set(others):
        raise ValueError(
            f"options: {', '.join(sorted(unknown))} unknown; "
            f"known are {', '.join(sorted(known | set(others)))}"
        )
    return DrivePlant(**{key: value for key, value in options.items() if key in known})


def _drive(
    changes: Mapping[str, Any], identity: Identity, options: Mapping[str, Any]
) -> DriveDevice:
    plant = _plant(options)
    return DriveDevice(plant, identity, _changed(drive_description(plant, identity), changes))


def _multi_axis_drive(
    changes: Mapping[str, Any], identity: Identity, options: Mapping[str, Any]
) -> MultiAxisDrive:
    plant, axes = _plant(options, "axes"), options.get("axes", 2)
    return MultiAxisDrive(
        plant, identity, axes, _changed(drive_description(plant, identity, axes), changes)
    )


def _changed(described: Description, changes: Mapping[str, Any]) -> Description:
    more = {item.index for item in changes["objects"]}
    kept = [item for item in described.objects if item.index not in more]
    objects = (*kept, *changes["objects"])
    pdos = {key: changes[key] for key in ("rx_pdos", "tx_pdos", "assign") if key in changes}
    return replace(described, objects=objects, **pdos)


def _plain(described: Description, _: Identity, options: Mapping[str, Any]) -> DescribedDevice:
    if options:
        raise ValueError("options: this kind has none")
    return DescribedDevice(described)


KINDS: dict[str, Callable[..., DescribedDevice]] = {
    "plain": _plain,
    "digital_io": lambda described, _, options: DigitalIo(described, **options),
    "analog_io": lambda described, _, options: AnalogIo(described, **options),
    "encoder_input": lambda described, _, options: EncoderInput(described, **options),
    "drive": _drive,
    "multi_axis_drive": _multi_axis_drive,
}


def _check_keys(table: Mapping[str, Any], known: tuple[str, ...], where: str, bad: list) -> None:
    for key in table:
        if key not in known:
            bad.append(f"{where}{key}: unknown; known are {', '.join(known)}")


def _whole(table: Mapping[str, Any], key: str, low: int, high: int, where: str, bad: list) -> int:
    value = table.get(key, 0 if low <= 0 else None)
    if type(value) is int and low <= value <= high:
        return value
    bad.append(f"{where}{key} = {value!r}: a whole number from {low:#x} to {high:#x}")
    return low


def _identity(table: Any, bad: list) -> Identity:
    if not isinstance(table, dict):
        bad.append("[identity]: vendor, product and revision are needed")
        return Identity(0, 0, 0)
    known = ("vendor", "product", "revision", "serial")
    _check_keys(table, known, "identity.", bad)
    return Identity(*(_whole(table, key, 0, 0xFFFFFFFF, "identity.", bad) for key in known))


def _description(content: Mapping[str, Any], identity: Identity, bad: list) -> Description:
    name = content.get("name")
    if not isinstance(name, str) or not name.isascii() or not 0 < len(name) <= 64:
        bad.append(f"name = {name!r}: 1 to 64 ASCII characters")
        name = "?"
    ports = content.get("ports", [])
    if (
        not isinstance(ports, list)
        or not 2 <= len(ports) <= 4
        or any(port not in ("mii", "ebus", "") for port in ports)
        or ports[0] == ""
    ):
        bad.append(
            f'ports = {ports!r}: two to four of "mii", "ebus", ""; the first one is the input'
        )
        ports = ["mii", "mii"]
    mailbox = _whole(content, "mailbox_bytes", 0, 256, "", bad)
    if 0 < mailbox < 48:
        bad.append(f"mailbox_bytes = {mailbox}: 0, or 48 to 256")
    objects = tuple(_objects(content.get("objects", []), bad))
    values = {(o.index, e.sub): e for o in objects for e in o.entries}
    return Description(
        name,
        identity,
        tuple(ports),
        mailbox,
        _whole(content, "device_type", 0, 0xFFFFFFFF, "", bad),
        objects,
        tuple(_pdos(content.get("rx_pdos", []), "rx_pdos", values, bad)),
        tuple(_pdos(content.get("tx_pdos", []), "tx_pdos", values, bad)),
        _whole(content, "assign", 0, MOST_PDOS, "", bad),
    )


def _drive_changes(content: Mapping[str, Any], identity: Identity, bad: list) -> dict[str, Any]:
    """Objects that a drive has beyond its own, and PDOs in place of its own."""
    options = content.get("options")
    axes = options.get("axes", 2) if isinstance(options, dict) and "axes" in options else 2
    if content.get("kind") == "drive":
        axes = 1
    elif type(axes) is not int or not 2 <= axes <= 4:
        bad.append(f"options.axes = {axes!r}: a whole number from 2 to 4")
        axes = 2
    objects = _objects(content.get("objects", []), bad)
    there = (*drive_description(DrivePlant(), identity, axes).objects, *objects)
    values = {(item.index, entry.sub): entry for item in there for entry in item.entries}
    changes: dict[str, Any] = {"objects": objects}
    for key in ("rx_pdos", "tx_pdos"):
        if key in content:
            changes[key] = tuple(_pdos(content[key], key, values, bad))
            changes["assign"] = 0
    if "assign" in content:
        changes["assign"] = _whole(content, "assign", 0, MOST_PDOS, "", bad)
    return changes


def _objects(tables: Any, bad: list) -> list[Object]:
    found = []
    for table in tables if isinstance(tables, list) else [tables]:
        if not isinstance(table, dict):
            bad.append("objects: an array of tables [[objects]]")
            continue
        _check_keys(
            table,
            ("index", "name", "entries", "repeat", "type", "label", "access", "pdo", "value"),
            "objects.",
            bad,
        )
        index = _whole(table, "index", 1, 0xFFFF, "objects.", bad)
        where = f"objects.{index:#06x}."
        rows = table.get("entries")
        if rows is None and "repeat" not in table and "type" in table:
            if entry := _entry(_alone(table), where, bad, 0):
                found.append(Object(index, entry.name, (entry,), VARIABLE))
            continue
        if rows is None:
            n = _whole(table, "repeat", 1, 254, where, bad)
            same = {key: table[key] for key in ("type", "access", "pdo") if key in table}
            label = table.get("label", "Value")
            rows = [{"sub": i, "name": f"{label} {i}", **same} for i in range(1, n + 1)]
        rows = rows if isinstance(rows, list) else [rows]
        entries = [entry for row in rows if (entry := _entry(row, where, bad))]
        if not entries:
            bad.append(f"{where}entries: at least one")
            continue
        count = Entry(0, "UINT8", "SubIndex 000", value=entries[-1].sub)
        found.append(Object(index, str(table.get("name", "")), (count, *entries)))
    return found


def _alone(table: Mapping[str, Any]) -> dict[str, Any]:
    """The one entry of an object without subindices."""
    keys = ("type", "name", "access", "pdo", "value")
    return {"sub": 0} | {key: table[key] for key in keys if key in table}


def _entry(row: Any, where: str, bad: list, first_sub: int = 1) -> Entry | None:
    if not isinstance(row, dict):
        bad.append(f"{where}entries: tables with sub, type, name")
        return None
    _check_keys(row, ("sub", "type", "name", "access", "pdo", "value"), where, bad)
    sub = _whole(row, "sub", first_sub, 254, where, bad)
    entry = Entry(
        sub,
        str(row.get("type")),
        str(row.get("name", "")),
        str(row.get("access", "ro")),
        str(row.get("pdo", "")),
        row.get("value", 0),
    )
    known = len(bad)
    if entry.type not in TYPES and not TEXT.fullmatch(entry.type):
        bad.append(f"{where}{sub}: type {entry.type!r}; known are {', '.join(TYPES)}, STRING(n)")
    if entry.access not in ACCESS:
        bad.append(f"{where}{sub}: access {entry.access!r}; known are {', '.join(ACCESS)}")
    if entry.pdo not in MAPPABLE:
        bad.append(f'{where}{sub}: pdo {entry.pdo!r}; "rx" or "tx"')
    if type(entry.value) not in (int, str):
        bad.append(f"{where}{sub}: value {entry.value!r}; a whole number or a text")
    elif len(bad) == known and not _fits(entry):
        bad.append(f"{where}{sub}: value {entry.value} does not fit {entry.type}")
    return entry if len(bad) == known else None


def _fits(entry: Entry) -> bool:
    if isinstance(entry.value, str):
        return True
    return -(1 << entry.bits - 1) <= entry.value < 1 << entry.bits


def _pdos(tables: Any, key: str, values: Mapping, bad: list) -> list[Pdo]:
    found = []
    for table in tables if isinstance(tables, list) else [tables]:
        if not isinstance(table, dict):
            bad.append(f"{key}: an array of tables [[{key}]]")
            continue
        _check_keys(table, ("index", "name", "entries", "room", "assigned"), f"{key}.", bad)
        first = 0x1600 if key == "rx_pdos" else 0x1A00
        index = _whole(table, "index", first, first + 0x1FF, f"{key}.", bad)
        rows = []
        texts = table.get("entries", [])
        for text in texts if isinstance(texts, list) else [texts]:
            match = MAPPED.fullmatch(text) if isinstance(text, str) else None
            if match is None:
                bad.append(f'{key}.{index:#06x}: {text!r}; "0x6000:1" or "pad:4"')
            elif match[3]:
                rows.append((0, 0, int(match[3])))
            else:
                where = int(match[1], 16), int(match[2])
                entry = values.get(where)
                if entry is None or key[:2] not in entry.pdo:
                    bad.append(f'{key}.{index:#06x}: {text} is no object with pdo = "{key[:2]}"')
                else:
                    rows.append((*where, entry.bits))
        room = _whole(table, "room", 0, 254, f"{key}.{index:#06x}.", bad)
        assigned = table.get("assigned", True)
        if not isinstance(assigned, bool):
            bad.append(f"{key}.{index:#06x}.assigned = {assigned!r}: true or false")
        found.append(
            Pdo(index, str(table.get("name", "")), tuple(rows), room, assigned is not False)
        )
    return found

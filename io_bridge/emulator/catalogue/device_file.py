"""Read a device file: a TOML description of an emulated device, and the device made from it."""

from __future__ import annotations

import importlib
import json
import pkgutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from io_bridge.emulator import terminals
from io_bridge.emulator.catalogue.device_schema import DeviceTable, PlainTable
from io_bridge.emulator.devices.described_device import DescribedDevice
from io_bridge.emulator.drive.device import DriveDevice
from io_bridge.emulator.drive.multi_axis import MultiAxisDrive
from io_bridge.emulator.drive.objects import drive_description
from io_bridge.emulator.quirks.catalogue import from_table
from io_bridge.slaves.device_description import Description, Object, Pdo
from io_bridge.slaves.drive_config import SIMULATED_IDENTITY, DrivePlant
from io_bridge.slaves.sii import Identity
from rig_configs.bounded import UnreadableError, parse_toml, read_text
from rig_configs.mistakes import from_validation
from rig_configs.numbers import strange_numbers
from rig_configs.plain import line

DRIVES = ("drive", "multi_axis_drive")
"""Kinds whose objects come by themselves; name and mailbox are among their options."""


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
        f"{path}: {line(key)} = {value!r:.40}: {problem}"
        for key, value, problem in strange_numbers(content)
    ]
    quirks = []
    try:
        quirks = from_table(content.get("quirks", {}))
    except ValueError as error:
        bad += [f"{path}: {words}" for words in str(error).splitlines()]
    kind, known = content.get("kind"), kinds()
    if kind not in tuple(known):
        bad.append(f"{path}: kind = {kind!r:.80}: one of {', '.join(known)}")
    model = DeviceTable if kind in DRIVES else PlainTable
    try:
        table = model.model_validate(content)
        if not bad:
            device = known[table.kind](table)
            for quirk in quirks:
                device.add_quirk(quirk)
            return device
    except ValidationError as error:
        bad += [line(str(m), 500) for m in from_validation(str(path), error, model, content)]
    except (TypeError, ValueError) as error:
        bad += [f"{path}: {words}" for words in str(error).splitlines()]
    raise DeviceError("\n".join(bad))


def drive_text(plant: DrivePlant) -> str:
    """Return a device file of a drive with these numbers."""
    who = SIMULATED_IDENTITY
    options = [f"{f.name} = {json.dumps(getattr(plant, f.name))}" for f in fields(plant)]
    identity = [f"{key} = {getattr(who, key)}" for key in ("vendor", "product", "revision")]
    return "\n".join(['kind = "drive"', "[identity]", *identity, "[options]", *options, ""])


def _plant(options: Mapping[str, Any]) -> DrivePlant:
    known = {field.name for field in fields(DrivePlant)}
    if unknown := set(options) - known:
        raise ValueError(
            f"options: {', '.join(sorted(unknown))} unknown; known are {', '.join(sorted(known))}"
        )
    return DrivePlant(**options)


def _drive(table: DeviceTable) -> DriveDevice:
    plant, identity = _plant(table.options), Identity(**table.identity.model_dump())
    return DriveDevice(plant, identity, _changed(drive_description(plant, identity), table))


def _multi_axis_drive(table: DeviceTable) -> MultiAxisDrive:
    axes = table.options.get("axes", 2)
    if type(axes) is not int or not 2 <= axes <= 4:
        raise ValueError(f"options.axes = {axes!r}: a whole number from 2 to 4")
    plant = _plant({key: value for key, value in table.options.items() if key != "axes"})
    identity = Identity(**table.identity.model_dump())
    described = _changed(drive_description(plant, identity, axes), table)
    return MultiAxisDrive(plant, identity, axes, described)


def _changed(described: Description, table: DeviceTable) -> Description:
    """Return a description with the objects that a drive has beyond its own, and with PDOs in place of its own."""
    more = [item.object() for item in table.objects]
    indices = {item.index for item in more}
    objects = (*(item for item in described.objects if item.index not in indices), *more)
    changes = _pdos(table, (*described.objects, *more))
    if changes or "assign" in table.model_fields_set:
        changes["assign"] = table.assign
    return replace(described, objects=objects, **changes)


def _described(table: DeviceTable) -> Description:
    assert isinstance(table, PlainTable)
    objects = tuple(item.object() for item in table.objects)
    return Description(
        table.name,
        Identity(**table.identity.model_dump()),
        tuple(table.ports),
        table.mailbox_bytes,
        table.device_type,
        objects,
        assign=table.assign,
        **_pdos(table, objects),
    )


def _plain(table: DeviceTable) -> DescribedDevice:
    if table.options:
        raise ValueError("options: this kind has none")
    return DescribedDevice(_described(table))


def _terminal(make: Callable[..., DescribedDevice], table: DeviceTable) -> DescribedDevice:
    return make(_described(table), **table.options)


def kinds() -> dict[str, Callable[[DeviceTable], DescribedDevice]]:
    """Return a maker for each kind: plain devices, drives, and a terminal for each module of their folder."""
    found: dict[str, Callable[[DeviceTable], DescribedDevice]] = {
        "plain": _plain,
        "drive": _drive,
        "multi_axis_drive": _multi_axis_drive,
    }
    for entry in pkgutil.iter_modules(terminals.__path__):
        module = importlib.import_module(f"{terminals.__name__}.{entry.name}")
        for item in vars(module).values():
            if (
                isinstance(item, type)
                and issubclass(item, DescribedDevice)
                and item.__module__ == module.__name__
            ):
                found[entry.name] = partial(_terminal, item)
    return found


def _pdos(table: DeviceTable, objects: Iterable[Object]) -> dict[str, Any]:
    """Return the PDOs of each direction that a table has.

    Raises
    ------
    ValueError
        With every entry that the objects do not have in this direction.
    """
    values = {(item.index, entry.sub): entry for item in objects for entry in item.entries}
    found, bad = {}, []
    for key in table.model_fields_set & {"rx_pdos", "tx_pdos"}:
        pdos = []
        for pdo in getattr(table, key):
            rows = []
            for text in pdo.entries:
                index, _, sub = text.partition(":")
                if index == "pad":
                    rows.append((0, 0, int(sub)))
                    continue
                entry = values.get((int(index, 16), int(sub)))
                if entry is None or key[:2] not in entry.pdo:
                    bad.append(
                        f'{key}.{pdo.index:#06x}: {text} is not an object with pdo = "{key[:2]}"'
                    )
                else:
                    rows.append((int(index, 16), int(sub), entry.bits))
            pdos.append(Pdo(pdo.index, pdo.name, tuple(rows), pdo.room, pdo.assigned))
        found[key] = tuple(pdos)
    if bad:
        raise ValueError("\n".join(bad))
    return found

"""An emulated device by its name among users: one that ships, a device file, or a device of an ESI file."""

from __future__ import annotations

from pathlib import Path

from io_bridge.emulator.catalogue.device_file import find_device, load_device
from io_bridge.emulator.devices.described_device import DescribedDevice
from io_bridge.emulator.quirks.catalogue import split


def make_device(name: str, notes: list[str] | None = None) -> DescribedDevice:
    """Make a device.

    Parameters
    ----------
    name : str
        One that ships, the path of a device file, or ``FILE.xml#PRODUCT:REVISION``; after it quirks, such as
        ``+late_reply:ms=200``.
    notes : list of str, optional
        A list to which features of the ESI are added that the device does not have.

    Raises
    ------
    ValueError
        There is no such device, or its file is wrong; one line for each mistake.
    """
    name, quirks = (name, []) if Path(name).is_file() else split(name)
    device = _plain_device(name, notes)
    for quirk in quirks:
        device.add_quirk(quirk)
    return device


def _plain_device(name: str, notes: list[str] | None) -> DescribedDevice:
    from io_bridge.esi.library import find_esi, is_esi

    if not is_esi(name):
        return load_device(find_device(name))
    from io_bridge.esi.describe import describe

    found = find_esi(name)
    if notes is not None:
        notes += found.notes
    try:
        return DescribedDevice(describe(found))
    except ValueError as error:
        lines = str(error).splitlines()
        raise ValueError("\n".join(f"{name}: {line}" for line in lines)) from error

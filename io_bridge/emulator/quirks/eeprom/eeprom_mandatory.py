"""An EEPROM with nothing in it but what must be there."""

from __future__ import annotations

from typing import ClassVar

from io_bridge.emulator.devices.described_device import DescribedDevice
from io_bridge.emulator.quirks.eeprom.eeprom import GENERAL, HEAD, MANAGERS, categories
from io_bridge.emulator.quirks.option import Option
from io_bridge.emulator.quirks.quirk import Quirk

FMMUS = 40


class EepromMandatory(Quirk):
    """The EEPROM has no strings and no PDOs; or it ends after its fixed head (identity, mailbox)."""

    OPTIONS: ClassVar[dict[str, Option]] = {
        "categories": Option(True, "general, FMMUs and sync managers are there")
    }

    def __init__(self, *, categories: bool) -> None:
        self.kept = (GENERAL, FMMUS, MANAGERS) if categories else ()

    def attach(self, device: DescribedDevice) -> None:
        image = bytearray(device.eeprom)
        changed = image[:HEAD]
        for kind, start, end in categories(device.eeprom):
            if kind == GENERAL:
                # numbers of strings that are not there
                image[start : start + 4] = bytes(4)
            if kind in self.kept:
                changed += image[start - 4 : end]
        device.eeprom = bytes(changed + b"\xff\xff")

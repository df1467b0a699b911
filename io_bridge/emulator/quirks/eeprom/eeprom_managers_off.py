"""An EEPROM whose sync managers are not enabled."""

from __future__ import annotations

from typing import ClassVar

from io_bridge.emulator.devices.described_device import DescribedDevice
from io_bridge.emulator.quirks.eeprom.eeprom import MANAGERS, categories
from io_bridge.emulator.quirks.option import Option
from io_bridge.emulator.quirks.quirk import Quirk

ROW, ENABLE = 8, 6


class EepromManagersOff(Quirk):
    """The enable byte of every sync manager in the EEPROM is 0, though the device needs them enabled."""

    OPTIONS: ClassVar[dict[str, Option]] = {}

    def attach(self, device: DescribedDevice) -> None:
        image = device.eeprom
        changed = bytearray(image)
        for kind, start, end in categories(image):
            if kind == MANAGERS:
                for at in range(start, end - ROW + 1, ROW):
                    changed[at + ENABLE] = 0
        device.eeprom = bytes(changed)

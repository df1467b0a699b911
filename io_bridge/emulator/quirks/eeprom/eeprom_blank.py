"""An EEPROM that was never written, or cannot be read."""

from __future__ import annotations

from typing import ClassVar

from io_bridge.emulator.devices.described_device import DescribedDevice
from io_bridge.emulator.quirks.option import Option
from io_bridge.emulator.quirks.quirk import Quirk


class EepromBlank(Quirk):
    """Every byte of the EEPROM reads 0xFF, or another value; the device knows its own mailbox nevertheless."""

    OPTIONS: ClassVar[dict[str, Option]] = {
        "byte": Option(0xFF, "what is read", 0, 0xFF),
        "bytes": Option(2048, "size of the EEPROM", 128, 2048),
    }

    def __init__(self, *, byte: int, bytes: int) -> None:
        self.content = bytearray([byte]) * bytes

    def attach(self, device: DescribedDevice) -> None:
        device.eeprom = bytes(self.content)

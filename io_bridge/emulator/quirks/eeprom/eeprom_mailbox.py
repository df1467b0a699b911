"""An EEPROM with an impossible mailbox."""

from __future__ import annotations

import struct
from typing import ClassVar

from io_bridge.emulator.devices.described_device import DescribedDevice
from io_bridge.emulator.quirks.option import Option
from io_bridge.emulator.quirks.quirk import Quirk

OUT, BACK = 2 * 0x18, 2 * 0x1A


class EepromMailbox(Quirk):
    """The EEPROM gives both mailboxes a size of its own, too small to say anything in or too large to be sent."""

    OPTIONS: ClassVar[dict[str, Option]] = {"bytes": Option(4, "size of both mailboxes", 0, 0xFFFF)}

    def __init__(self, *, bytes: int) -> None:
        self.size = bytes

    def attach(self, device: DescribedDevice) -> None:
        image = bytearray(device.eeprom)
        for at in (OUT, BACK):
            struct.pack_into("<H", image, at + 2, self.size)
        device.eeprom = bytes(image)

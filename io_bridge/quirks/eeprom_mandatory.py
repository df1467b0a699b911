"""An EEPROM with nothing in it but what must be there."""

from __future__ import annotations

from typing import ClassVar

from io_bridge.devices.described_device import DescribedDevice
from io_bridge.quirks.eeprom import HEAD
from io_bridge.quirks.option import Option
from io_bridge.quirks.quirk import Quirk


class EepromMandatory(Quirk):
    """The EEPROM ends after its fixed head (identity, mailbox): no strings, no sync managers, no PDOs."""

    OPTIONS: ClassVar[dict[str, Option]] = {}

    def attach(self, device: DescribedDevice) -> None:
        device.eeprom = device.eeprom[:HEAD] + b"\xff\xff"

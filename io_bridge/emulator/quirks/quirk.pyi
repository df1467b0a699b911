from typing import Any, ClassVar

from io_bridge.emulator.devices.described_device import DescribedDevice
from io_bridge.emulator.quirks.option import Option

class Quirk:
    OPTIONS: ClassVar[dict[str, Option]]
    def __init__(self, **options: Any) -> None: ...
    def attach(self, device: DescribedDevice) -> None: ...

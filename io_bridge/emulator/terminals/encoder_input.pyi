from io_bridge.emulator.devices.described_device import DescribedDevice
from io_bridge.slaves.device_description import Description

class EncoderInput(DescribedDevice):
    def __init__(
        self, description: Description, *, lines_per_rev: int = 1024, rate_rad_s: float = 0.0
    ) -> None: ...
    rate_rad_s: float
    def measure(self, drive: object) -> None: ...

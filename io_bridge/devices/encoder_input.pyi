from io_bridge.devices.described_device import DescribedDevice
from io_bridge.devices.description import Description

class EncoderInput(DescribedDevice):
    def __init__(
        self, description: Description, *, lines_per_rev: int = 1024, rate_rad_s: float = 0.0
    ) -> None: ...
    rate_rad_s: float
    def measure(self, drive: object) -> None: ...

from io_bridge.devices.described_device import DescribedDevice
from io_bridge.devices.description import Description

class DigitalIo(DescribedDevice):
    inputs: int
    def __init__(self, description: Description, *, loopback: bool = False) -> None: ...
    @property
    def outputs(self) -> int: ...

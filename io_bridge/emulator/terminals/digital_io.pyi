from io_bridge.emulator.devices.described_device import DescribedDevice
from io_bridge.slaves.device_description import Description

class DigitalIo(DescribedDevice):
    inputs: int
    def __init__(self, description: Description, *, loopback: bool = False) -> None: ...
    @property
    def outputs(self) -> int: ...

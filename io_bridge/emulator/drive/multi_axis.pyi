from io_bridge.emulator.devices.described_device import DescribedDevice
from io_bridge.slaves.device_description import Description
from io_bridge.slaves.drive_config import DrivePlant
from io_bridge.slaves.sii import Identity

class MultiAxisDrive(DescribedDevice):
    def __init__(
        self,
        parameters: DrivePlant | None = None,
        identity: Identity = ...,
        axes: int = 2,
        description: Description | None = None,
    ) -> None: ...
    @property
    def parameters(self) -> DrivePlant: ...
    @property
    def axes(self) -> tuple[DriveAxis, ...]: ...

class DriveAxis:
    def trip(self, error_code: int) -> None: ...
    @property
    def angle_rad(self) -> float: ...
    @property
    def motor_torque_nm(self) -> float: ...
    @property
    def wanted_torque_nm(self) -> float: ...
    @property
    def statusword(self) -> int: ...

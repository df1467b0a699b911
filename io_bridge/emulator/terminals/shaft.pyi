from io_bridge.emulator.drive.device import DriveDevice
from io_bridge.emulator.terminals.analog_io import AnalogIo

class Shaft:
    def __init__(
        self,
        first: DriveDevice,
        second: DriveDevice,
        *,
        stiffness_nm_rad: float = 4000.0,
        damping_nms: float = 0.2,
        sensor_hz: float = 1000.0,
    ) -> None: ...
    @property
    def first(self) -> DriveDevice: ...
    @property
    def second(self) -> DriveDevice: ...
    @property
    def twist_torque_nm(self) -> float: ...
    @property
    def sensor_torque_nm(self) -> float: ...
    def connect(self, terminal: AnalogIo, channel: int = 0, volts_per_nm: float = 0.5) -> None: ...

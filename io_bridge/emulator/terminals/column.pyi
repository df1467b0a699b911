from io_bridge.emulator.drive.device import DriveDevice
from io_bridge.emulator.terminals.analog_io import AnalogIo

class Column:
    def __init__(
        self,
        drive: DriveDevice,
        *,
        wheel_kg_m2: float,
        shaft_kg_m2: float,
        stiffness_nm_rad: float,
        damping_nms: float,
        bending_hz: float,
        bending_ratio: float,
        wheel_kg: float,
        side_n: float,
        twist_per_nm: float,
        bow_per_m: float,
    ) -> None: ...
    @property
    def drive(self) -> DriveDevice: ...
    @property
    def strains(self) -> dict[str, float]: ...
    @property
    def wheel_rad(self) -> float: ...
    @property
    def bent_m(self) -> tuple[float, float]: ...
    def connect(
        self, gauge: str, terminal: AnalogIo, channel: int, volts_per_strain: float
    ) -> None: ...

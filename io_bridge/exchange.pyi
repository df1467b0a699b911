from collections.abc import Mapping, Sequence
from typing import Any

from io_bridge.drive_config import DriveConfig
from io_bridge.link import Link
from io_bridge.pdo_layout import SlaveLayout

FAULTS: dict[int, str]
DRIVE_READS: tuple[str, ...]
DRIVE_WRITES: tuple[str, ...]
BUS_WRITES: tuple[str, ...]

def ports(drives: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]: ...

class Exchange:
    name: str
    drives: tuple[DriveConfig, ...]
    reads: dict[str, str]
    writes: dict[str, str]
    safe: bool
    in_service: bool
    def __init__(
        self,
        drives: Sequence[DriveConfig],
        *,
        name: str = "bus",
        paths: Mapping[str, str] | None = None,
        budget_us: float = 300.0,
        bad_limit: int = 3,
    ) -> None: ...
    def bind(self, reads: Sequence[int], writes: Sequence[int]) -> None: ...
    def capsule(self) -> Any: ...
    def safe_capsule(self) -> Any: ...
    def configure(
        self,
        link: Link,
        layouts: Sequence[SlaveLayout],
        *,
        n_slaves: int,
        clock_station: int = 0,
    ) -> None: ...
    def step(self, t_ns: int) -> int: ...
    def keep(self, period_us: float) -> None: ...
    def stop_keeping(self, stop: bool = True) -> None: ...
    def disconnect(self) -> None: ...
    @property
    def counters(self) -> dict[str, int]: ...
    def drive_status(self, i: int) -> tuple[int, int, int, int]: ...

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from io_bridge.clock_config import ClockConfig
from io_bridge.drive_config import DriveConfig
from io_bridge.link import Link
from io_bridge.pdo_layout import SlaveLayout
from io_bridge.terminal_config import TerminalConfig

T = TypeVar("T")

FAULTS: dict[int, str]
BUS_LOST: frozenset[int]

class Exchange:
    name: str
    slaves: tuple[DriveConfig | TerminalConfig, ...]
    drives: tuple[DriveConfig, ...]
    clock: ClockConfig | None
    reads: dict[str, str]
    writes: dict[str, str]
    safe: bool
    in_service: bool
    def __init__(
        self,
        slaves: Sequence[DriveConfig | TerminalConfig],
        *,
        name: str = "bus",
        paths: Mapping[str, str] | None = None,
        budget_us: float = 300.0,
        bad_limit: int = 3,
        leak_cycles: int = 10,
        clock: ClockConfig | None = None,
    ) -> None: ...
    def bind(self, reads: Sequence[int], writes: Sequence[int]) -> None: ...
    def capsule(self) -> Any: ...
    def safe_capsule(self) -> Any: ...
    @property
    def steer(self) -> str | None: ...
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
    def begin_phase(self) -> None: ...
    def lend(self, use: Callable[[], T], longest_s: float = 0.01) -> T: ...
    def disconnect(self) -> None: ...
    @property
    def counters(self) -> dict[str, int]: ...
    @property
    def n_frames(self) -> int: ...
    @property
    def culprit(self) -> int | None: ...
    @property
    def gap(self) -> int | None: ...
    @property
    def lock_state(self) -> tuple[bool, float, float]: ...
    @property
    def differences_ns(self) -> list[float]: ...
    def slave_status(self, i: int) -> tuple[int, int, int, int, bool]: ...
    def drive_status(self, i: int) -> tuple[int, int, int, int]: ...

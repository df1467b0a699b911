from collections.abc import Mapping
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rt_core.cycle_block import CycleBlock

READ_PORTS: Final[tuple[str, ...]]
OPTIONAL_PORTS: Final[tuple[str, ...]]
WRITE_PORTS: Final[tuple[str, ...]]

class EncoderFilter(CycleBlock):
    gain: NDArray[np.float64]
    gate_rad: float
    def __init__(
        self,
        name: str,
        reads: Mapping[str, str],
        writes: Mapping[str, str],
        *,
        counts_per_rev: float,
        period_s: float,
        bandwidth_rad_s: float,
        sample_period_s: float | None = None,
        counter_span: float = 0.0,
        zero_count: float = 0.0,
        sign: int = 1,
        max_acceleration_rad_s2: float = 1000.0,
        jump_samples: int = 5,
        bleed_rad_s: float = 2.0,
        lost_after_s: float | None = None,
        model: str = "constant_acceleration",
        gains: str = "time_varying",
        noise_rad: float | None = None,
        gate_nis: float = 0.0,
    ) -> None: ...
    @property
    def covariance(self) -> NDArray[np.float64]: ...
    def run(
        self,
        position_count: NDArray[np.float64],
        valid: NDArray[np.float64],
        elapsed: NDArray[np.float64],
        sample_age_s: NDArray[np.float64] | None = None,
    ) -> NDArray[np.float64]: ...

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from estimators.ported_block import PortedBlock

class ObservedModel(Protocol):
    def model_capsule(self) -> Any: ...

class KinematicObserver(PortedBlock):
    n_dof: int
    def __init__(
        self,
        name: str,
        reads: Mapping[str, str],
        writes: Mapping[str, str],
        *,
        model: ObservedModel,
        period_s: float,
        position_noise: float | Sequence[float],
        acceleration_noise: float | Sequence[float],
        least_sensitivity: float = 1e-3,
        held_noise: float = 1.0,
        gate_sigma: float = 0.0,
        gate_patience: int = 20,
    ) -> None: ...
    @property
    def covariance(self) -> NDArray[np.float64]: ...
    def run(
        self, position: NDArray[np.float64], acceleration: NDArray[np.float64]
    ) -> NDArray[np.float64]: ...

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from estimators.ported_block import PortedBlock
from estimators.two_stage.kinematic_observer import ObservedModel

class ForceObserver(PortedBlock):
    n_dof: int
    def __init__(
        self,
        name: str,
        reads: Mapping[str, str],
        writes: Mapping[str, str],
        *,
        model: ObservedModel,
        form: str,
        known_noise: float | Sequence[float],
        balance_noise: float | Sequence[float],
        walk_noise: float | Sequence[float],
        least_pivot: float = 1e-6,
        gate_sigma: float = 0.0,
        gate_patience: int = 20,
    ) -> None: ...
    @property
    def covariance(self) -> NDArray[np.float64]: ...
    def run(
        self, motion: NDArray[np.float64], known: NDArray[np.float64]
    ) -> NDArray[np.float64]: ...

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from estimators.kinematic_observer import ObservedModel
from estimators.ported_block import PortedBlock

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
        known_noise: float,
        balance_noise: float,
        walk_noise: float,
        least_pivot: float = 1e-6,
    ) -> None: ...
    @property
    def covariance(self) -> NDArray[np.float64]: ...
    def run(
        self, motion: NDArray[np.float64], known: NDArray[np.float64]
    ) -> NDArray[np.float64]: ...

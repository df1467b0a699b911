from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from estimators.ported_block import PortedBlock
from estimators.two_stage.kinematic_observer import ObservedModel

class AugmentedEkf(PortedBlock):
    n_dof: int
    def __init__(
        self,
        name: str,
        reads: Mapping[str, str],
        writes: Mapping[str, str],
        *,
        model: ObservedModel,
        period_s: float,
        position_noise: float,
        acceleration_noise: float,
        disturbance: float,
        walk_noise: float,
    ) -> None: ...
    @property
    def covariance(self) -> NDArray[np.float64]: ...
    def run(
        self,
        position: NDArray[np.float64],
        acceleration: NDArray[np.float64],
        known: NDArray[np.float64],
    ) -> NDArray[np.float64]: ...

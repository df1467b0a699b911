from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from estimators.ported_block import PortedBlock

class UnscentedModel(Protocol):
    def unscented_capsule(self) -> Any: ...

class AugmentedUkf(PortedBlock):
    def __init__(
        self,
        name: str,
        reads: Mapping[str, str],
        writes: Mapping[str, str],
        *,
        model: UnscentedModel,
        period_s: float,
        start: Sequence[float],
        start_noise: Sequence[float],
        process_noise: Sequence[float],
        sample_noise: Sequence[float],
    ) -> None: ...
    @property
    def covariance(self) -> NDArray[np.float64]: ...
    def run(self, u: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]: ...

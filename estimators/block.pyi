from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from rt_core.cycle_block import CycleBlock

Array = NDArray[np.float64]

class EstimatorBlock(CycleBlock):
    read_ports: tuple[str, ...]
    write_ports: tuple[str, ...]
    parts: Mapping[str, int]
    @property
    def covariance(self) -> Array: ...
    def run(self, *given: Array) -> Array: ...

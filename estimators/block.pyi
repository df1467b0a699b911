from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Names = Iterable[str]

def wrong_ports(ports: tuple[Names, Names, Names, Names], needed: Names = ()) -> list[str]: ...

class EstimatorBlock:
    name: str
    reads: dict[str, str]
    writes: dict[str, str]
    read_ports: tuple[str, ...]
    write_ports: tuple[str, ...]
    parts: Mapping[str, int]
    @property
    def covariance(self) -> Array: ...
    def bind(self, reads: Sequence[int], writes: Sequence[int]) -> None: ...
    def capsule(self) -> Any: ...
    def run(self, *given: Array) -> Array: ...

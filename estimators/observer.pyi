from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from estimators.observer_settings import ObserverSettings

Array = NDArray[np.float64]

class Observer:
    name: str
    reads: dict[str, str]
    writes: dict[str, str]
    read_ports: tuple[str, ...]
    write_ports: tuple[str, ...]
    start: list[float]
    model: Any
    def __init__(
        self,
        name: str,
        model: Any,
        settings: ObserverSettings,
        *,
        reads: Mapping[str, str] | None = None,
        writes: Mapping[str, str] | None = None,
    ) -> None: ...
    @property
    def x(self) -> Array: ...
    @property
    def cov(self) -> Array: ...
    @property
    def proc_cov(self) -> Array: ...
    def reset(self, x: Sequence[float] | None = None) -> None: ...
    def bind(self, reads: Sequence[int], writes: Sequence[int]) -> None: ...
    def capsule(self) -> Any: ...
    def run(self, samples: Array, inputs: Array | None = None) -> Array: ...

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from estimators.closed_loop.settings import ObserverSettings
from estimators.ported_block import WiredBlock

Array = NDArray[np.float64]

class Observer(WiredBlock):
    published: ClassVar[str]
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
    def run(self, samples: Array, inputs: Array | None = None) -> Array: ...

class DependentObserver(Observer): ...

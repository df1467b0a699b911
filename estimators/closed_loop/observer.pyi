from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from estimators.block import EstimatorBlock
from estimators.closed_loop.settings import ObserverSettings

Array = NDArray[np.float64]

class Observer(EstimatorBlock):
    published: ClassVar[str]
    dependent: ClassVar[bool]
    discretises: ClassVar[bool]
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
    def proc_cov(self) -> Array: ...
    def reset(self, x: Sequence[float] | None = None) -> None: ...

class DependentObserver(Observer): ...

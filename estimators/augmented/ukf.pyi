from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from estimators.block import EstimatorBlock

class UnscentedModel(Protocol):
    def unscented_capsule(self) -> Any: ...

class AugmentedUkf(EstimatorBlock):
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

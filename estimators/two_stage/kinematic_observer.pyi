from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from estimators.block import EstimatorBlock

class ObservedModel(Protocol):
    def model_capsule(self) -> Any: ...

class KinematicObserver(EstimatorBlock):
    def __init__(
        self,
        name: str,
        reads: Mapping[str, str],
        writes: Mapping[str, str],
        *,
        model: ObservedModel,
        period_s: float,
        position_noise: float | Sequence[float],
        acceleration_noise: float | Sequence[float],
        least_sensitivity: float = 1e-3,
        held_noise: float = 1.0,
        gate_sigma: float = 0.0,
        gate_patience: int = 20,
    ) -> None: ...

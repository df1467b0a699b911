from collections.abc import Mapping, Sequence

from estimators.block import EstimatorBlock
from estimators.two_stage.kinematic_observer import ObservedModel

class ForceObserver(EstimatorBlock):
    def __init__(
        self,
        name: str,
        reads: Mapping[str, str],
        writes: Mapping[str, str],
        *,
        model: ObservedModel,
        form: str,
        known_noise: float | Sequence[float],
        balance_noise: float | Sequence[float],
        walk_noise: float | Sequence[float],
        least_pivot: float = 1e-6,
        gate_sigma: float = 0.0,
        gate_patience: int = 20,
    ) -> None: ...

from collections.abc import Mapping

from estimators.block import EstimatorBlock
from estimators.two_stage.kinematic_observer import ObservedModel

class AugmentedEkf(EstimatorBlock):
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

from collections.abc import Mapping

from estimators.augmented.settings import AugmentedSettings
from estimators.block import EstimatorBlock
from estimators.two_stage.kinematic_observer import ObservedModel

class AugmentedEkf(EstimatorBlock):
    def __init__(
        self,
        name: str,
        model: ObservedModel,
        settings: AugmentedSettings,
        *,
        reads: Mapping[str, str] | None = None,
        writes: Mapping[str, str] | None = None,
    ) -> None: ...

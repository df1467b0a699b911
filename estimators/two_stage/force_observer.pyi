from collections.abc import Mapping

from estimators.block import EstimatorBlock
from estimators.two_stage.kinematic_observer import ObservedModel
from estimators.two_stage.stages import ForceSettings

class ForceObserver(EstimatorBlock):
    def __init__(
        self,
        name: str,
        model: ObservedModel,
        settings: ForceSettings,
        *,
        reads: Mapping[str, str] | None = None,
        writes: Mapping[str, str] | None = None,
    ) -> None: ...

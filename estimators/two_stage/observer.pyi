from collections.abc import Mapping
from typing import Any

from estimators.block import EstimatorBlock
from estimators.two_stage.closed_loop_model import ClosedLoopModel
from estimators.two_stage.force_observer import ForceObserver
from estimators.two_stage.kinematic_observer import KinematicObserver
from estimators.two_stage.settings import TwoStageSettings

class TwoStageObserver(EstimatorBlock):
    model: ClosedLoopModel
    kinematic: KinematicObserver | None
    force: ForceObserver | None
    def __init__(
        self,
        name: str,
        model: Any,
        settings: TwoStageSettings,
        *,
        reads: Mapping[str, str] | None = None,
        writes: Mapping[str, str] | None = None,
    ) -> None: ...

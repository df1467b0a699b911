from collections.abc import Mapping
from typing import Any, Protocol

from estimators.block import EstimatorBlock
from estimators.two_stage.stages import KinematicSettings

class ObservedModel(Protocol):
    def model_capsule(self) -> Any: ...

class KinematicObserver(EstimatorBlock):
    def __init__(
        self,
        name: str,
        model: ObservedModel,
        settings: KinematicSettings,
        *,
        reads: Mapping[str, str] | None = None,
        writes: Mapping[str, str] | None = None,
    ) -> None: ...

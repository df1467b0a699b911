from collections.abc import Mapping
from typing import Any, Protocol

from estimators.augmented.settings import UnscentedSettings
from estimators.block import EstimatorBlock

class UnscentedModel(Protocol):
    def unscented_capsule(self) -> Any: ...

class AugmentedUkf(EstimatorBlock):
    def __init__(
        self,
        name: str,
        model: UnscentedModel,
        settings: UnscentedSettings,
        *,
        reads: Mapping[str, str] | None = None,
        writes: Mapping[str, str] | None = None,
    ) -> None: ...

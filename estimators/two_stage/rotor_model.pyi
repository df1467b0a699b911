from typing import Any

class RotorModel:
    def __init__(
        self,
        inertia_kg_m2: float,
        viscous_nms: float = 0.0,
        coulomb_nm: float = 0.0,
        coulomb_rate_rad_s: float = 0.05,
        offset_nm: float = 0.0,
    ) -> None: ...
    def model_capsule(self) -> Any: ...

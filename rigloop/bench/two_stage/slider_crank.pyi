from typing import Any

class SliderCrank:
    def __init__(
        self,
        crank_m: float,
        rod_m: float,
        crank_kg: float,
        rod_kg: float,
        slider_kg: float,
        gravity: float = 9.81,
    ) -> None: ...
    def model_capsule(self) -> Any: ...
    def place(self, angle_rad: float) -> tuple[float, float, float, float, float]: ...

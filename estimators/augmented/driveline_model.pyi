from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

class DrivelineModel:
    def __init__(
        self,
        *,
        stator_ohm: float,
        rotor_ohm: float,
        stator_h: float,
        rotor_h: float,
        mutual_h: float,
        pole_pairs: int,
        supply_hz: float,
        motor_kg_m2: float,
        load_kg_m2: float,
        stiffness_nm_rad: float,
        damping_nms: float,
        bend_rad: float,
    ) -> None: ...
    def unscented_capsule(self) -> Any: ...
    def derivative(self, x: Array, u: Array) -> Array: ...
    def move(self, x: Array, u: Array, dt_s: float, steps: int = 1) -> Array: ...
    def measure(self, x: Array, u: Array) -> Array: ...
    def ratio(self, theta_rad: float) -> float: ...
    def shaft_angle(self, theta_rad: float) -> float: ...

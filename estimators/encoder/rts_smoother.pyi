import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

def filter_pass(
    t_s: Array,
    angle_rad: Array,
    bandwidth_rad_s: float,
    sample_period_s: float,
    n_states: int = 3,
) -> tuple[Array, Array]: ...
def smooth(
    t_s: Array,
    angle_rad: Array,
    bandwidth_rad_s: float,
    sample_period_s: float,
    noise_rad: float,
    n_states: int = 3,
) -> tuple[Array, Array]: ...

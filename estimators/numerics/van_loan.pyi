import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

def discretised(slopes: ArrayLike, density: ArrayLike, step_s: float) -> tuple[Array, Array, Array]:
    """Transition, flow and noise of a step: of x' = A x + b + w, w white with a density for each state."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

def propagated(
    cov: ArrayLike, transition: ArrayLike, proc_cov: ArrayLike
) -> NDArray[np.float64]: ...
def corrected(
    cov: ArrayLike, slope: ArrayLike, variance: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
def is_positive_definite(cov: ArrayLike) -> bool: ...

import numpy as np
from numpy.typing import NDArray

def add_rows(images: NDArray[np.float64], first: int, figures: NDArray[np.float64]) -> None:
    """Add the rows of some neighbouring columns to their figures.

    Parameters
    ----------
    images : ndarray of float64, shape (n, m)
    first : int
        The first of these columns.
    figures : ndarray of float64, shape (5, k)
        Of each column its sum, sum of squares, least and largest value, and how many values were no numbers.

    Raises
    ------
    ValueError
        There are fewer columns.
    """

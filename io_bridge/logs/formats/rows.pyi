import numpy as np
from numpy.typing import NDArray

def read_rows(
    text: bytes,
    at: int,
    out: NDArray[np.float64],
    first: int,
    most: int,
    delimiter: str,
    decimal: str,
) -> tuple[int, int]:
    """Read lines of numbers until one that is not made of them alone.

    Each number is the double nearest to its digits. An empty cell and the word nan are NaN. A line that this does not
    read may still be a good one: words, hexadecimal numbers and marks of other kinds are left to the caller.

    Parameters
    ----------
    text : bytes
        Lines that end by a line feed; one at the end that does not is not read.
    at : int
        Place of the first line in it.
    out : ndarray of float64, shape (n_columns, n)
        Gets the rows, from column `first` on.
    most : int
        Lines that are read at most.
    delimiter : str
        One sign of ASCII that is in no number; a blank stands for any number of blanks and tabulators.
    decimal : str
        `,`: a comma parts decimals, as a point always does.

    Returns
    -------
    n : int
        Lines that were read.
    at : int
        Place of the first one that was not.

    Raises
    ------
    ValueError
        A place outside of the text, or too few rows.
    """

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
    kinds: NDArray[np.uint8] | None = None,
    words: NDArray[np.int64] | None = None,
) -> tuple[int, int]:
    """Read lines of numbers, and of words where these are expected, until one that is not made of them alone.

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
    kinds : ndarray of uint8, shape (n_columns,), optional
        0: a column of numbers, 1: of words, 2: of numbers of which some are hexadecimal, with 0x. Without it all are
        numbers. A column of words is NaN, and a line without any number is not read.
    words : ndarray of int64, shape (n_kept, n, 2), optional
        Of each column that is not of kind 0, and of each row from `first` on: where in `text` its word begins and ends.
        Blanks may stand at its end.

    Returns
    -------
    n : int
        Lines that were read.
    at : int
        Place of the first one that was not.

    Raises
    ------
    ValueError
        A place outside of the text, or too little room for rows or words.
    """

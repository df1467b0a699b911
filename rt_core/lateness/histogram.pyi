from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

HISTOGRAM_WORDS: int

class Histogram:
    """Counts of durations over bins of equal relative width (3.2 % at most; exact below 64 ns).

    Attributes
    ----------
    counts : ndarray of int64, shape (n_bins,)
    edges_ns : ndarray of int64, shape (n_bins + 1,)
        Left edges of the bins, and the right edge of the last (68 s; longer durations count there).
    sum_ns, max_ns : int
        Exact.

    Real time
    ---------
    The loop records through histogram.pxd: three words, no branch but the maximum's. This class is
    not for the cycle.

    Source
    ------
    The layout of HdrHistogram (Gil Tene), with 32 bins an octave.
    """

    edges_ns: ClassVar[NDArray[np.int64]]
    counts: NDArray[np.int64]
    sum_ns: int
    max_ns: int

    def __init__(
        self, counts: NDArray[np.int64] | None = None, sum_ns: int = 0, max_ns: int = 0
    ) -> None: ...
    @classmethod
    def of(cls, durations_ns: ArrayLike) -> Histogram:
        """Count an array of durations."""
    @classmethod
    def from_words(cls, words: NDArray[np.int64]) -> Histogram:
        """Copy the words of a histogram out of a table file."""
    @property
    def n(self) -> int:
        """Number of durations."""
    @property
    def mean_ns(self) -> float:
        """Mean, NaN when empty."""
    def percentile(self, p: float) -> float:
        """Duration in ns that `p` percent do not exceed: the upper edge of its bin, NaN when
        empty."""
    def percentiles(self, ps: Sequence[float]) -> NDArray[np.float64]:
        """As `percentile`, for several at once."""
    def merge(self, other: Histogram) -> Histogram:
        """Return the histogram of both."""
    def __sub__(self, earlier: Histogram) -> Histogram:
        """Return the counts since `earlier`, a snapshot of the same; the maximum stays that
        of all."""

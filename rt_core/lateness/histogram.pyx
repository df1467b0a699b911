"""Log-linear histograms of durations in ns: bins, percentiles, merging."""
import numpy as np

# words of one histogram in a table file: sum, maximum, then the counts
HISTOGRAM_WORDS = COUNTS + BINS
MOST_COUNTED = 1 << 40  # in one bin: years of the fastest task


def _edges():
    k = np.arange(BINS + 1)
    octave = np.maximum((k >> SUB_BITS) - 1, 0)
    return (k - (octave << SUB_BITS)) << octave


class Histogram:
    """Counts of durations over bins of equal relative width. See histogram.pyi."""

    # left edges of the bins in ns, and the right edge of the last
    edges_ns = _edges()

    def __init__(self, counts=None, sum_ns=0, max_ns=0):
        self.counts = np.zeros(BINS, np.int64) if counts is None else np.asarray(counts, np.int64)
        if self.counts.shape != (BINS,):
            raise ValueError(f"counts has shape {self.counts.shape}, a histogram has ({BINS},)")
        self.sum_ns = int(sum_ns)
        self.max_ns = int(max_ns)

    @classmethod
    def of(cls, durations_ns):
        cdef const int64_t[::1] durations = np.ascontiguousarray(durations_ns, np.int64)
        cdef int64_t[::1] words = np.zeros(HISTOGRAM_WORDS, np.int64)
        cdef Py_ssize_t i
        for i in range(durations.shape[0]):
            record(&words[0], durations[i])
        return cls.from_words(np.asarray(words))

    @classmethod
    def from_words(cls, words):
        # a table that something wrote over has any number there
        counts = np.clip(words[COUNTS:COUNTS + BINS], 0, MOST_COUNTED)
        return cls(counts, words[SUM], max(0, words[MAX]))

    @property
    def n(self):
        return int(self.counts.sum())

    @property
    def mean_ns(self):
        return self.sum_ns / self.n if self.n else float("nan")

    def percentile(self, p):
        return self.percentiles((p,))[0]

    def percentiles(self, ps):
        ps = np.asarray(ps, float)
        if np.any((ps < 0) | (ps > 100)):
            raise ValueError(f"percentiles are within 0 and 100, got {ps}")
        if not self.n:
            return np.full(ps.shape, np.nan)
        rank = np.clip(np.ceil(ps / 100 * self.n), 1, self.n)
        k = np.searchsorted(np.cumsum(self.counts), rank)
        upper = self.edges_ns[k + 1] - 1
        return np.minimum(upper, self.max_ns).astype(float)

    def merge(self, other):
        return Histogram(
            self.counts + other.counts, self.sum_ns + other.sum_ns, max(self.max_ns, other.max_ns)
        )

    def __sub__(self, earlier):
        return Histogram(self.counts - earlier.counts, self.sum_ns - earlier.sum_ns, self.max_ns)

"""Histograms: bins of bounded relative width, exact counts, percentiles that do not flatter."""

import numpy as np
import pytest

from rigloop.run_folder.manifest import HistogramBins
from rt_core.lateness.histogram import HISTOGRAM_WORDS, Histogram


def test_bins_cover_everything_without_gaps_and_are_narrow():
    edges = Histogram.edges_ns
    width = np.diff(edges)
    assert edges[0] == 0
    assert np.all(width >= 1)
    assert np.all(width[edges[:-1] >= 64] <= edges[:-1][edges[:-1] >= 64] / 32)
    assert edges[-1] > 60e9


def test_each_duration_falls_into_the_bin_that_holds_it():
    rng = np.random.default_rng(1)
    edges = Histogram.edges_ns
    for ns in [
        0,
        1,
        31,
        32,
        63,
        64,
        65,
        1023,
        1024,
        *(10 ** rng.uniform(0, 10.5, 300)).astype(int),
    ]:
        k = int(np.flatnonzero(Histogram.of([ns]).counts)[0])
        assert edges[k] <= ns < edges[k + 1]


def test_percentiles_are_within_a_bin_above_the_exact_ones():
    durations = (np.random.default_rng(2).lognormal(9, 2, 20_000)).astype(np.int64)
    histogram = Histogram.of(durations)
    for p in (0, 1, 50, 99, 99.9, 100):
        exact = np.percentile(durations, p, method="inverted_cdf")
        assert exact <= histogram.percentile(p) <= exact * 33 / 32
    assert histogram.max_ns == durations.max()
    assert histogram.mean_ns == pytest.approx(durations.mean(), rel=1e-12)


def test_out_of_range_durations_are_counted_at_the_ends():
    histogram = Histogram.of([-5, 1 << 50])
    assert histogram.counts[0] == 1
    assert histogram.counts[-1] == 1


def test_merging_is_counting_both():
    a, b = [5, 700, 90_000], [5, 5, 1_000_000]
    merged = Histogram.of(a).merge(Histogram.of(b))
    both = Histogram.of(a + b)
    assert np.array_equal(merged.counts, both.counts)
    assert (merged.sum_ns, merged.max_ns) == (both.sum_ns, both.max_ns)
    assert np.array_equal((both - Histogram.of(a)).counts, Histogram.of(b).counts)


def test_an_empty_histogram_has_no_percentile():
    assert np.isnan(Histogram().percentile(50))
    with pytest.raises(ValueError, match="within 0 and 100"):
        Histogram.of([1]).percentile(101)


@pytest.mark.parametrize("seed", range(20))
def test_words_that_something_wrote_over_are_a_histogram_too(seed):
    words = np.random.default_rng(seed).integers(-(2**63), 2**63 - 1, HISTOGRAM_WORDS)
    found = Histogram.from_words(words)
    assert found.n > 0
    assert np.all(np.diff(found.percentiles([1, 50, 99, 99.9])) >= 0)
    bins = HistogramBins.of(found.edges_ns, found.counts, found.max_ns).percentiles()
    assert bins.p50 <= bins.p99 <= bins.p99_9

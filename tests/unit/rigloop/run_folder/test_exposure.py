"""The rate of untold holes with its interval, and whether it explains the overruns."""

import pytest
from scipy import stats

from rigloop.run_folder.exposure import Exposure, exposure, rate
from rt_core.lateness.histogram import Histogram


def histogram(*values_ns):
    return Histogram.of(values_ns)


@pytest.mark.parametrize("n", [0, 1, 4, 30, 1000])
def test_the_interval_is_the_exact_one(n):
    middle, low, high = rate(n, 10.0)
    assert middle == n / 10
    assert low == pytest.approx(stats.chi2.ppf(0.025, 2 * n) / 20 if n else 0.0, rel=1e-3)
    assert high == pytest.approx(stats.chi2.ppf(0.975, 2 * n + 2) / 20, rel=1e-3)


def test_nothing_is_said_without_a_look():
    assert rate(3, 0.0) == (0.0, 0.0, float("inf"))
    seen = Exposure(holes=0, looked_s=0.0, suspected=3, worked_s=5.0, large=0, overruns=3)
    assert seen.p is None
    assert seen.good is None
    assert "too few" in seen.words()
    assert seen.brief() == ("not known: 0.0 s of spin, 1 needed", "3 own or untold overruns")


@pytest.mark.parametrize(
    ("large", "overruns", "good"), [(12, 4, True), (12, 0, True), (0, 4, False), (2, 20, False)]
)
def test_overruns_are_compared_with_what_holes_make(large, overruns, good):
    # 50 s looked at, 15 s of work
    seen = Exposure(
        holes=80, looked_s=50.0, suspected=20, worked_s=15.0, large=large, overruns=overruns
    )
    assert seen.good is good
    assert f"{overruns} were own work or untold" in seen.words()
    rate_words, against = seen.brief()
    assert rate_words.startswith("1.6 a second (1.27 to 1.99")
    assert against.startswith(f"{overruns} own or untold overruns, {15 * large / 50:.2g} expected")
    assert ("more than holes explain" in against) == (not good)


def test_the_figures_come_from_the_histograms_of_a_task():
    found = exposure(
        {
            "spin": histogram(*[200_000] * 1000),
            "hole": histogram(50_000, 400_000, 980_000, 2_000_000),
            "untold": histogram(60_000),
            "step": histogram(*[50_000] * 1000),
            "total": histogram(*[52_000] * 1000),
        },
        1_000_000,
        1,
    )
    assert found.looked_s == pytest.approx(0.2)
    assert found.worked_s == pytest.approx(0.05)
    # 980 µs and 2 ms would not fit beside 52 µs of work
    assert (found.holes, found.suspected, found.large, found.overruns) == (4, 1, 2, 1)


def test_histograms_that_are_lost_leave_the_rate_unknown():
    found = exposure({"late": histogram(1000)}, 1_000_000, overruns=2)
    assert (found.looked_s, found.good, found.overruns) == (0.0, None, 2)
    assert "too few" in found.words()

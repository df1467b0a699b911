import pytest
from scipy.stats import chi2

from estimators.numerics.chi_square import cumulative, mean_bounds, quantile


@pytest.mark.parametrize("degrees", [1, 2, 3, 6, 40, 300])
@pytest.mark.parametrize("probability", [1e-4, 0.025, 0.5, 0.975, 0.9999])
def test_quantiles_are_those_of_scipy(degrees, probability):
    assert quantile(probability, degrees) == pytest.approx(chi2.ppf(probability, degrees), rel=1e-9)


@pytest.mark.parametrize("degrees", [301, 5000])
@pytest.mark.parametrize("probability", [0.001, 0.5, 0.999])
def test_many_degrees_are_good_to_a_part_in_a_thousand(degrees, probability):
    assert quantile(probability, degrees) == pytest.approx(chi2.ppf(probability, degrees), rel=1e-3)


def test_probability_below_zero_is_zero():
    assert cumulative(-1.0, 3) == 0.0


def test_a_mean_has_narrower_bounds_than_one_error():
    low, high = mean_bounds(0.95, 2, 100)
    assert 1.5 < low < 2.0 < high < 2.5


def test_no_probability_is_refused():
    with pytest.raises(ValueError, match="probability = 1"):
        quantile(1.0, 2)

import math

import pytest

from rigloop.display.numbers import fact, figure, microseconds, milliseconds


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (0.123456, "0.123"),
        (12.345, "12.3"),
        (123.45, "123"),
        (12345.6, "12,346"),
        (1e16, "1e+16"),
        (math.nan, "not finite"),
        ("inf", "not finite"),
    ],
)
def test_a_figure_has_as_many_digits_as_it_needs(value, text):
    assert figure(value) == text


def test_times_are_without_their_unit():
    assert microseconds(1234.0) == "1.23"
    assert milliseconds(1_234_567) == "1.235"


@pytest.mark.parametrize(
    ("value", "text"), [(None, "–"), ("", "–"), (True, "yes"), ((0.5, 1.25), "0.5, 1.25"), (3, "3")]
)
def test_a_fact_of_a_host_is_in_words(value, text):
    assert fact(value) == text

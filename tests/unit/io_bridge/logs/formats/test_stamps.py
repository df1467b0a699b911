"""Moments as words: orders of dates, halves of a day, zones, and words that are none."""

import math

import pytest

from io_bridge.logs.formats.stamps import seconds_of

NOON = 1_738_324_800.25  # 2025-01-31T12:00:00.25Z


@pytest.mark.parametrize(
    "word",
    [
        "2025-01-31T12:00:00.25Z", "2025-01-31 12:00:00,25", "2025/01/31 12:00:00.25", "31.01.2025 12:00:00,25",
        "01/31/2025 12:00:00.25 PM", "31/01/2025 12:00:00.25", "2025-01-31T13:00:00.25+01:00",
        "2025-01-31T06:30:00.25-0530", "1/31/2025, 12:00:00.25", "2025-01-31 12:00:00.25 UTC",
    ],
)  # fmt: skip
def test_a_moment_in_any_of_the_usual_forms(word):
    assert seconds_of(word) == NOON


@pytest.mark.parametrize(
    ("word", "seconds"),
    [("00:00:01", 1.0), ("12:00:00 AM", 0.0), ("11:59:59.5 pm", 86_399.5), ("7:08:09,5", 25_689.5)],
)
def test_a_time_of_day(word, seconds):
    assert seconds_of(word) == seconds


@pytest.mark.parametrize(
    "word", ["", "12:00", "2025-02-30 12:00:00", "1:2:3", "noon", "32.01.2025 12:00:00"]
)
def test_other_words_are_no_moment(word):
    assert math.isnan(seconds_of(word))

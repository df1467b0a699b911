"""Moments as words: orders of dates, halves of a day, zones, and words that are none."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from io_bridge.logs.formats.stamps import seconds_of, seconds_of_all

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


WORDS = st.builds(
    "{}{:02}:{:02}:{}{}".format,
    st.sampled_from(["", "2025-01-31T", "31.01.2025 ", "2025-02-30 ", "1/31/2025 ", "x"]),
    st.integers(0, 30),
    st.integers(0, 70),
    st.sampled_from(["00", "07.25", "59,5", "1", "61.125", ""]),
    st.sampled_from(["", "Z", "+01:00", "+05:30", " PM", " UTC", "-0530", ":00"]),
)


@given(st.lists(WORDS, max_size=8))
def test_all_at_once_are_what_each_is(words):
    one_by_one = np.array([seconds_of(word) for word in words], dtype=float)
    assert seconds_of_all(words).tobytes() == one_by_one.tobytes()

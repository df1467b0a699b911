"""Two recordings of one sync signal: offset and drift are found, and what cannot be told is refused."""

import numpy as np
import pytest

import rigloop
from rigloop.api.align import AlignError

RNG = np.random.default_rng(4)
EDGES_S = np.cumsum(RNG.uniform(0.03, 0.3, 400))  # a telegraph that never repeats itself


def telegraph(t_s):
    return (np.searchsorted(EDGES_S, t_s) % 2).astype(float)


@pytest.mark.parametrize("offset_s", [-7.25, 0.0, 3.1234])
@pytest.mark.parametrize("drift", [0.0, 5e-4])
def test_offset_and_drift_are_found_across_rates_scales_and_noise(offset_s, drift):
    first_s = np.arange(0.0, 40.0, 0.0005)
    second_s = np.arange(0.0, 30.0, 0.0021)
    on_first_s = second_s * (1.0 + drift) + offset_s
    values = 5.0 - 3.0 * telegraph(on_first_s + 10.0) + RNG.normal(0.0, 0.1, len(second_s))
    found = rigloop.align((first_s, -telegraph(first_s + 10.0)), (second_s, values))
    # an edge falls anywhere between two samples of the slower recording
    assert np.max(np.abs(found.to_first(second_s) - on_first_s)) < 0.0021
    assert found.drift == pytest.approx(drift, abs=1e-4)
    assert found.likeness > 0.8
    assert found.error_s < 0.0021


def test_a_signal_that_repeats_itself_is_refused():
    t_s = np.arange(0.0, 20.0, 0.001)
    with pytest.raises(AlignError, match="repeats itself"):
        rigloop.align((t_s, np.sin(2 * np.pi * t_s)), (t_s[:5000], np.sin(2 * np.pi * t_s[:5000])))


@pytest.mark.parametrize(
    ("t_s", "values", "words"),
    [
        (np.arange(100.0)[::-1], RNG.normal(size=100), "do not rise"),
        (np.arange(100.0), np.full(100, 2.0), "constant"),
        (np.arange(100.0), np.full(100, np.nan), "not finite"),
        (np.arange(3.0), np.arange(3.0), "at least 16"),
        (np.arange(0.0, 20.0, 0.01), RNG.normal(size=2000), "do not match anywhere"),
    ],
)
def test_recordings_that_cannot_be_aligned_are_refused(t_s, values, words):
    good_s = np.arange(0.0, 20.0, 0.01)
    with pytest.raises(AlignError, match=words):
        rigloop.align((good_s, telegraph(good_s)), (t_s, values))


@pytest.mark.parametrize("recorded", [None, "ab", (1, 2, 3), (np.arange(20.0), ["x"] * 20)])
def test_a_recording_that_is_not_two_rows_of_numbers_is_refused(recorded):
    good_s = np.arange(0.0, 20.0, 0.01)
    with pytest.raises(AlignError, match="two rows of numbers"):
        rigloop.align((good_s, telegraph(good_s)), recorded)


@pytest.mark.parametrize("step_s", ["x", 0, -1.0, np.nan, np.inf])
def test_a_step_that_is_no_time_is_refused(step_s):
    good_s = np.arange(0.0, 20.0, 0.01)
    with pytest.raises(AlignError, match="step_s = "):
        rigloop.align((good_s, telegraph(good_s)), (good_s, telegraph(good_s)), step_s=step_s)


def test_a_step_longer_than_the_recordings_is_refused():
    good_s = np.arange(0.0, 20.0, 0.01)
    with pytest.raises(AlignError, match="give a shorter one"):
        rigloop.align((good_s, telegraph(good_s)), (good_s, telegraph(good_s)), step_s=50.0)

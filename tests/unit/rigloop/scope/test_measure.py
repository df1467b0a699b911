"""Measurements of known signals: sines of any size, place and phase, with noise and gaps."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rigloop.scope.measure import delay_s, measure, spectrum

MS = 1_000_000
T_S = np.arange(2000) * 1e-3
T_NS = np.arange(2000) * MS
SIZES, MEANS = st.floats(0.1, 100.0), st.floats(-50.0, 50.0)
HZ, PHASES = st.floats(2.0, 50.0), st.floats(-3.0, 3.0)


@given(SIZES, MEANS, HZ, PHASES)
def test_a_sine_has_its_size_its_mean_and_its_frequency(size, mean, hz, phase):
    whole = slice(0, int(np.floor(2.0 * hz) / hz * 1e3))  # whole periods
    found = measure(T_S[whole], mean + size * np.sin(2 * np.pi * hz * T_S[whole] + phase))
    # the highest sample is at most half a step from the peak
    short = size * (1.0 - np.cos(np.pi * hz * 1e-3)) + 1e-9 * (size + abs(mean))
    assert found.maximum == pytest.approx(mean + size, abs=short)
    assert found.minimum == pytest.approx(mean - size, abs=short)
    # the last period ends between two samples
    assert found.mean == pytest.approx(mean, abs=2.0 * np.pi * hz * 1e-3 * size)
    assert found.rms == pytest.approx(np.hypot(mean, size / 2**0.5), rel=2.0 * np.pi * hz * 1e-3)
    if 2.0 * hz >= 4.0:
        # the middle of the samples is up to half of `short` off, in opposite directions never
        assert found.frequency_hz == pytest.approx(hz, rel=1e-3)


@given(SIZES, MEANS, HZ, PHASES, PHASES)
def test_the_delay_of_two_sines_is_that_of_their_phases(size, mean, hz, phase, later):
    first = np.sin(2 * np.pi * hz * T_S + phase)
    second = mean + size * np.sin(2 * np.pi * hz * T_S + phase - later)
    found = delay_s((T_S, first), (T_S, second))
    # on straight lines between samples, around a middle that samples give
    assert found == pytest.approx(later / (2 * np.pi * hz), abs=0.25e-3)


@given(st.integers(4, 400), SIZES, MEANS, PHASES)
def test_a_line_of_a_spectrum_has_the_amplitude_of_its_sine(cycles, size, mean, phase):
    hz = cycles / 2.0
    found = spectrum(T_NS, mean + size * np.sin(2 * np.pi * hz * T_S + phase), MS)
    line_hz, amplitude = found.peak
    assert line_hz == pytest.approx(hz)
    assert amplitude == pytest.approx(size, rel=1e-9)
    assert found.amplitude[0] == pytest.approx(abs(mean), abs=1e-9 * (1.0 + size))


def test_noise_around_the_middle_is_no_crossing():
    noise = np.random.default_rng(3).normal(0.0, 0.03, len(T_S))
    found = measure(T_S, np.sin(2 * np.pi * 5.0 * T_S) + noise)
    assert found.frequency_hz == pytest.approx(5.0, rel=0.01)


def test_a_spectrum_is_of_the_longest_stretch_without_a_gap():
    kept = np.ones(len(T_NS), bool)
    kept[[300, 500]] = False
    values = np.sin(2 * np.pi * 20.0 * T_S)
    found = spectrum(T_NS[kept], values[kept], MS)
    assert found.n == 1499
    values[600] = np.nan
    assert spectrum(T_NS, values, MS).n == 1399


def test_where_there_is_nothing_to_measure_nothing_is():
    nothing = measure(np.empty(0), np.empty(0))
    assert nothing.n == 0
    assert np.isnan(nothing.rms)
    constant = measure(T_S, np.full(len(T_S), 2.0))
    assert (constant.minimum, constant.maximum, constant.rms) == (2.0, 2.0, 2.0)
    assert np.isnan(constant.frequency_hz)
    assert np.isnan(delay_s((T_S, T_S), (T_S, np.full(len(T_S), 2.0))))
    assert spectrum(T_NS[:3], T_S[:3], MS).n == 0
    with_nan = measure(T_S[:3], np.array([1.0, np.nan, 3.0]))
    assert (with_nan.n, with_nan.mean) == (2, 2.0)

"""The driveline benchmark: its sweep, its measure of a response, and a filter that tracks the load."""

import math

import numpy as np
import pytest

from rigloop.bench.driveline.driveline import (
    FIRST_HZ,
    LAST_HZ,
    MOTOR,
    NOMINAL_NM,
    PERIOD_S,
    SECONDS,
    SWEEP_FROM_S,
    TRACKED_HZ,
    Motion,
    bands,
    estimate,
    frequency_hz,
    load,
    run_filters,
    tracks,
)
from rigloop.bench.driveline.flexible_plant import (
    DENSITY_KG_M3,
    LENGTH_M,
    OUTER_M,
    SHEAR_PA,
    WALL_M,
    YOUNGS_PA,
    driveline,
)


@pytest.fixture(scope="module")
def swept():
    """The load over time without a plant."""
    t_s = PERIOD_S * np.arange(round(SECONDS / PERIOD_S))
    torque, phase = np.array([load(t) for t in t_s]).T
    return Motion(t_s, torque, phase, np.empty((len(t_s), 0)))


def test_the_load_rests_and_then_sweeps_as_published(swept):
    before = swept.t_s < SWEEP_FROM_S
    assert np.all(swept.load_nm[before] == NOMINAL_NM)
    hz = frequency_hz(swept.t_s)
    assert hz[before].max() == 0.0
    assert hz[~before][0] == pytest.approx(FIRST_HZ, abs=0.02)
    assert hz[-1] == pytest.approx(LAST_HZ, abs=0.02)
    # the phase is the integral of the frequency
    turns = np.diff(swept.phase_rad[~before]) / (2 * np.pi * PERIOD_S)
    np.testing.assert_allclose(turns, 0.5 * (hz[~before][1:] + hz[~before][:-1]), rtol=1e-6)
    # 10 % of the nominal torque, falling by 0.0395 % a hertz
    share = np.abs(swept.load_nm / NOMINAL_NM - 1.0)
    assert share[~before][:200].max() == pytest.approx(0.10, abs=1e-3)
    assert share[-200:].max() == pytest.approx(0.025, abs=1e-3)


@pytest.mark.parametrize(("gain", "delay_s"), [(1.0, 0.0), (0.8, 0.0), (1.0, 1e-3), (1.1, 5e-4)])
def test_gain_and_delay_of_an_estimate_are_found(swept, gain, delay_s):
    late = np.array([load(t - delay_s)[0] for t in swept.t_s])
    found = bands(swept, NOMINAL_NM + gain * (late - NOMINAL_NM))
    for band in found:
        middle = 0.5 * (band.first_hz + band.last_hz)
        assert band.gain_db == pytest.approx(20 * np.log10(gain), abs=0.2)
        # of a delay: over the band the phase turns, and its mean is that of the middle
        assert band.phase_deg == pytest.approx(-360 * middle * delay_s, abs=3.0)


def test_an_estimate_that_stands_still_tracks_nothing(swept):
    assert not any(tracks(band) for band in bands(swept, np.full(len(swept.t_s), NOMINAL_NM)))


@pytest.fixture(scope="module")
def ran():
    """Rows of one run of each filter, and the motion of the plant."""
    return run_filters(1)


@pytest.mark.slow
def test_the_filter_tracks_the_load_of_a_flexible_shaft_through_the_resonance(ran):
    rows, _ = ran
    for row in rows:
        assert row.good
        assert row.start_rms_nm < 0.05 * NOMINAL_NM
        assert all(tracks(band) for band in row.bands if band.last_hz <= TRACKED_HZ)
        # published: a false component at twice the shaft's rate, whose shaft has no inertia in the filter
        assert 0.01 * NOMINAL_NM < row.false_nm < 0.1 * NOMINAL_NM


@pytest.mark.slow
def test_the_plant_turns_on_the_nominal_torque_and_its_shaft_has_the_published_modes(ran):
    _, motion = ran
    steady = (motion.t_s > 1.5) & (motion.t_s < SWEEP_FROM_S)
    _, _, angle, rate, acceleration, _ = motion.samples[steady].T
    # its slip: below 25 turns a second of the field
    assert 0.9 * 50.0 * np.pi < np.mean(rate) < 50.0 * np.pi
    assert np.gradient(angle, PERIOD_S)[5:-5] == pytest.approx(rate[5:-5], abs=0.05)
    assert abs(np.mean(acceleration)) < 1.0
    tube = driveline(MOTOR).build().system.flexible["tube"].modes
    assert tube.count == 11
    # between fixed ends 1167 to 1200 Hz and 2925 to 3208 Hz of bending were published, 3291 Hz of torsion: a slender
    # beam has 22.373 and 61.673, and half a wave of shear
    inner = OUTER_M - 2.0 * WALL_M
    gyration, sound = math.hypot(OUTER_M, inner) / 4.0, math.sqrt(YOUNGS_PA / DENSITY_KG_M3)
    bent = [k * gyration * sound / LENGTH_M**2 / (2.0 * math.pi) for k in (22.373, 61.673)]
    assert bent == pytest.approx([1185.0, 3068.0], rel=0.08)
    assert math.sqrt(SHEAR_PA / DENSITY_KG_M3) / (2.0 * LENGTH_M) == pytest.approx(3291.0, rel=0.01)


@pytest.mark.slow
def test_a_filter_with_a_wrong_load_is_not_called_good(ran):
    _, motion = ran
    found = bands(motion, estimate(motion, {"load_kg_m2": 3.0, "stiffness_nm_rad": 0.3}, 0))
    assert not all(tracks(band) for band in found if band.last_hz <= TRACKED_HZ)

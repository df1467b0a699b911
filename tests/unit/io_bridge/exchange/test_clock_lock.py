import numpy as np
import pytest

from io_bridge.exchange.clock_lock import STEER_LIMIT, PhaseLock
from io_bridge.slaves.clock_config import ClockConfig

PERIOD_NS = 1_000_000


def run(lock, drift_ppm, seconds, jitter_ns=0.0, offset_ns=400_000.0, lost=()):
    """Steer a cycle against a reference clock that runs `drift_ppm` fast; return the true phase errors."""
    noise = np.random.default_rng(7)
    cycle_ns = offset_ns  # master time of the frame, as the deadlines were moved
    errors, steers = [], []
    for k in range(int(seconds * 1e9) // PERIOD_NS):
        reference = cycle_ns * (1 + 1e-6 * drift_ppm)
        error = (reference - lock_shift(lock) + PERIOD_NS / 2) % PERIOD_NS - PERIOD_NS / 2
        errors.append(error)
        if k in lost:
            steer = lock.coast()
        else:
            steer = lock.update(int(reference + jitter_ns * noise.standard_normal()))
        steers.append(steer)
        cycle_ns += PERIOD_NS + steer
    return np.array(errors), np.array(steers)


def lock_shift(lock):
    return lock.shift_ns


def make(**changes):
    config = ClockConfig(PERIOD_NS, **changes)
    lock = PhaseLock(config)
    return Shifted(lock, config.shift_ns)


class Shifted:
    """A lock with the phase that it was asked for, for the simulated clocks."""

    def __init__(self, lock, shift_ns):
        self.lock, self.shift_ns = lock, shift_ns
        self.update, self.coast = lock.update, lock.coast


@pytest.mark.parametrize("drift_ppm", [-100.0, -20.0, 0.0, 20.0, 100.0])
@pytest.mark.parametrize("shift_ns", [0, 250_000])
def test_the_phase_settles_and_the_drift_is_learnt(drift_ppm, shift_ns):
    lock = make(shift_ns=shift_ns)
    errors, _ = run(lock, drift_ppm, 4.0)
    settled = errors[2000:]
    # the system time is read in whole nanoseconds, and a correction acts in the cycle after
    assert np.sqrt(np.mean(settled**2)) < 50.0
    assert lock.lock.locked
    assert lock.lock.drift_ppm == pytest.approx(drift_ppm, abs=0.05)


def test_no_correction_exceeds_its_share_of_the_period():
    lock = make(bandwidth_hz=5.0)
    _, steers = run(lock, 20.0, 2.0)
    assert np.abs(steers).max() <= STEER_LIMIT * PERIOD_NS
    # it starts 0.4 ms off, so the limit was needed
    assert lock.lock.locked
    assert np.abs(steers).max() == STEER_LIMIT * PERIOD_NS


@pytest.mark.parametrize("offset_ns", [450_000.0, 550_000.0])
def test_no_drift_is_learnt_on_the_way_to_the_phase(offset_ns):
    # the correction is at its limit for most of the way, and the clocks have the same rate all the time; half a
    # period and more is gone the other way round
    lock = make(bandwidth_hz=5.0)
    errors, steers = run(lock, 0.0, 1.0, offset_ns=offset_ns)
    limited = np.abs(steers) >= 0.999 * np.abs(steers).max()
    assert limited.sum() > 20
    overshoot = -np.sign(errors[0]) * errors
    assert overshoot.max() < 0.2 * abs(errors[0])


def test_jitter_is_averaged_and_not_followed():
    lock = make()
    errors, _ = run(lock, 20.0, 4.0, jitter_ns=10_000.0)
    # of white noise at 1 kHz a second-order loop of 2 Hz passes about an eighth
    assert np.sqrt(np.mean(errors[2000:] ** 2)) < 2_000.0
    assert lock.lock.locked


def test_lost_cycles_keep_the_rate():
    lock = make()
    errors, _ = run(lock, 100.0, 4.0, lost=range(3000, 3500))
    # half a second unguided at 100 ppm would be 50 us
    assert np.abs(errors[3000:3500]).max() < 1_000.0


def test_it_is_not_locked_before_it_has_stayed_within_the_tolerance():
    lock = make(settle_s=0.5)
    errors, _ = run(lock, 0.0, 0.4, offset_ns=0.0)
    assert np.abs(errors).max() < 1.0
    assert not lock.lock.locked
    run(lock, 0.0, 0.2, offset_ns=0.0)
    assert lock.lock.locked


def test_a_lock_is_lost_when_the_reference_jumps():
    lock = make()
    run(lock, 0.0, 1.0, offset_ns=0.0)
    assert lock.lock.locked
    run(lock, 0.0, 0.05, offset_ns=300_000.0)
    assert not lock.lock.locked


def test_every_mistake_of_a_clock_is_named():
    with pytest.raises(ValueError, match=r"bandwidth_hz = 0.*settle_s = -1"):
        ClockConfig(PERIOD_NS, bandwidth_hz=0.0, settle_s=-1.0)
    with pytest.raises(ValueError, match="a tenth of the cycle's rate"):
        ClockConfig(PERIOD_NS, bandwidth_hz=200.0)
    with pytest.raises(ValueError, match="a quarter of the period"):
        ClockConfig(PERIOD_NS, tolerance_ns=400_000.0)

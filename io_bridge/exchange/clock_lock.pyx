"""Steer the cycle so that its frame passes the reference clock at the same phase of every period.

A proportional-integral controller: the integral learns the drift between the two clocks, so that a cycle
without a reply keeps its rate.
"""
import math

from libc.math cimport fabs
from libc.stdint cimport int64_t, uint64_t

STEER_LIMIT = 0.01
"""Largest correction of a deadline, in periods."""

cdef enum:
    SMOOTH_CYCLES = 16


cdef void lock_reset(ClockLock *c) noexcept nogil:
    """Forget the phase, keep the drift: it belongs to the clocks."""
    c.error_ns = 0.0
    c.smooth_ns = 0.0
    c.steer_ns = 0.0
    c.good_cycles = 0
    c.waited = 0
    c.locked = 0
    c.was_locked = 0


cdef void lock_update(ClockLock *c, uint64_t reference_ns) noexcept nogil:
    """Take the system time at which the frame passed the reference clock."""
    cdef int64_t phase = <int64_t> ((reference_ns - <uint64_t> c.shift_ns) % <uint64_t> c.period_ns)
    cdef double wanted
    if phase > c.period_ns // 2:
        phase -= c.period_ns
    c.error_ns = <double> phase
    wanted = c.gain_p * c.error_ns + c.drift_ns
    # the integral waits while the correction is at its limit: it would learn the way there
    if fabs(wanted) < c.limit_ns:
        c.drift_ns += c.gain_i * c.error_ns
    else:
        wanted = c.limit_ns if wanted > 0 else -c.limit_ns
    c.steer_ns = -wanted
    c.total_ns += c.steer_ns
    c.smooth_ns += (c.error_ns - c.smooth_ns) / SMOOTH_CYCLES
    c.waited += 1
    if fabs(c.smooth_ns) <= c.tolerance_ns:
        c.good_cycles += 1
        if c.good_cycles >= c.settle_cycles:
            c.waited = 0
            c.locked = 1
            c.was_locked = 1
    else:
        c.good_cycles = 0
        if fabs(c.smooth_ns) > 2.0 * c.tolerance_ns:
            c.locked = 0


cdef void lock_coast(ClockLock *c) noexcept nogil:
    """No reply in this cycle: continue at the rate that was learnt."""
    c.steer_ns = -c.drift_ns
    c.total_ns += c.steer_ns
    c.waited += 1


cdef class PhaseLock:
    """The lock by itself, for design and tests.

    Parameters
    ----------
    config : ClockConfig
    """

    def __init__(self, config) -> None:
        self.state = design(config)

    def update(self, reference_ns: int) -> float:
        """Take a system time; return the correction of the next deadline in ns."""
        lock_update(&self.state, reference_ns)
        return self.state.steer_ns

    def coast(self) -> float:
        """A cycle without a reply; return the correction of the next deadline in ns."""
        lock_coast(&self.state)
        return self.state.steer_ns

    @property
    def error_ns(self) -> float:
        """Lateness of the last frame at the reference clock."""
        return self.state.error_ns

    @property
    def drift_ppm(self) -> float:
        """Rate at which the reference clock gains on the master's clock."""
        return 1e6 * self.state.drift_ns / self.state.period_ns

    @property
    def locked(self) -> bool:
        return bool(self.state.locked)


cdef ClockLock design(config) except *:
    """Gains of a critically damped loop: z^2 + (gain_p - 2) z + 1 - gain_p + gain_i has a double real pole
    at exp(-omega T)."""
    cdef ClockLock c
    period_s = 1e-9 * config.period_ns
    pole = math.exp(-2.0 * math.pi * config.bandwidth_hz * period_s)
    lock_reset(&c)
    c.on = 1
    c.period_ns = config.period_ns
    c.shift_ns = config.shift_ns % config.period_ns
    c.gain_p = 2.0 * (1.0 - pole)
    c.gain_i = (1.0 - pole) ** 2
    c.limit_ns = STEER_LIMIT * config.period_ns
    c.tolerance_ns = config.tolerance_ns
    c.settle_cycles = max(1, round(config.settle_s / period_s))
    c.patience_cycles = max(1, round(config.timeout_s / period_s))
    c.drift_ns = 0.0
    c.total_ns = 0.0
    return c

"""Encoder Kalman filter: raw counts to angle, rate and acceleration, with steady-state gains.

One prediction each cycle, one correction for each valid sample; the model is in `encoder_gains`.

A sample whose innovation no possible acceleration explains is rejected. When several in a row
agree, the encoder has been re-referenced (an index pulse, a lost count): the estimate takes the new
angle, and the *output* keeps its value and creeps to it (critically damped), so that the model and
the driver's hands feel no kick.
"""
from cpython.pycapsule cimport PyCapsule_New
from libc.math cimport exp, fabs, floor, isfinite
from libc.stdint cimport int64_t, uintptr_t

import math

import numpy as np

from estimators.encoder_gains import innovation_peak, steady_gains
from rt_core.block import BLOCK_ABI

# index into `value`, in the order of WRITE_PORTS
cdef enum:
    ANGLE
    RATE
    ACCELERATION
    INNOVATION
    UNWRAPPED
    OFFSET
    MISSED
    REJECTED
    JUMPS
    READY
    TRUSTED

READ_PORTS = ("position_count", "valid", "elapsed")
WRITE_PORTS = (
    "angle_rad", "rate_rad_s", "acceleration_rad_s2", "innovation_rad", "unwrapped_count",
    "offset_rad", "missed", "rejected", "jumps", "ready", "trusted",
)

cdef double MAX_COUNT = 9007199254740992.0    # 2^53: beyond, counts are not exact


cdef inline double _shortest(double difference, double span) noexcept nogil:
    # difference modulo span, in [-span/2, span/2); exact for integers below 2^53
    return difference if span == 0.0 else difference - span * floor(difference / span + 0.5)


cdef inline void _predict(EncoderState *s, double dt_s) noexcept nogil:
    # x <- F(dt) x, and the exact decay of the offset over dt: d'' = -2 w d' - w^2 d
    cdef double w = s.bleed_rad_s, decay, k
    s.angle_rad += dt_s * (s.rate_rad_s + 0.5 * dt_s * s.acceleration_rad_s2)
    s.rate_rad_s += dt_s * s.acceleration_rad_s2
    if s.offset_rad != 0.0:
        decay = s.bleed_decay if dt_s == s.period_s else exp(-w * dt_s)
        k = s.offset_rate_rad_s + w * s.offset_rad
        s.offset_rad = decay * (s.offset_rad + k * dt_s)
        s.offset_rate_rad_s = decay * (s.offset_rate_rad_s - w * k * dt_s)
        if fabs(s.offset_rad) < 1e-12 and fabs(s.offset_rate_rad_s) < 1e-12:
            s.offset_rad = s.offset_rate_rad_s = 0.0


cdef inline void _accept(EncoderState *s, double position_count, double unwrapped) noexcept nogil:
    s.raw_count = position_count
    s.unwrapped_count = unwrapped
    s.accepted_age_s = 0.0
    s.n_agreeing = 0
    s.n_missed = 0
    s.n_accepted += 1


cdef inline void _start(EncoderState *s, double position_count) noexcept nogil:
    # the first turn is the one nearest to zero; after a loss the turns are kept
    cdef double unwrapped
    if s.unwrapped_count == s.unwrapped_count:
        unwrapped = s.unwrapped_count + _shortest(position_count - s.raw_count, s.counter_span)
    else:
        unwrapped = s.zero_count + _shortest(position_count - s.zero_count, s.counter_span)
    s.angle_rad = s.rad_per_count * (unwrapped - s.zero_count)
    s.rate_rad_s = s.acceleration_rad_s2 = 0.0
    s.offset_rad = s.offset_rate_rad_s = 0.0
    s.tracking = True
    s.n_accepted = 0
    _accept(s, position_count, unwrapped)


cdef inline double _correct(EncoderState *s, double position_count) noexcept nogil:
    # x <- x + K innovation, or reject, or believe a jump; returns the innovation. Until `ready` all
    # is accepted
    cdef double unwrapped = s.unwrapped_count + _shortest(
        position_count - s.raw_count, s.counter_span)
    cdef double innovation = s.rad_per_count * (unwrapped - s.zero_count) - s.angle_rad
    cdef double late_s = s.sample_age_s - s.sample_period_s
    cdef double gate = s.gate_rad
    if late_s > 0.0:
        gate += 0.5 * s.max_acceleration_rad_s2 * late_s * late_s
    cdef bint settling = s.n_accepted <= s.settle_samples
    if settling and fabs(innovation) > gate:
        # a wheel that already turned at the first sample: nothing to protect yet, but settling
        # begins again
        s.n_accepted = 0
    if settling or fabs(innovation) <= gate:
        s.angle_rad += s.gain[0] * innovation
        s.rate_rad_s += s.gain[1] * innovation
        s.acceleration_rad_s2 += s.gain[2] * innovation
        _accept(s, position_count, unwrapped)
        return innovation
    s.n_rejected += 1
    if fabs(innovation - s.rejected_rad) > gate:
        s.n_agreeing = 0
    s.n_agreeing += 1
    s.rejected_rad = innovation
    if s.n_agreeing >= s.jump_samples:
        s.angle_rad += innovation
        s.offset_rad -= innovation
        s.n_jumps += 1
        _accept(s, position_count, unwrapped)
    return innovation


cdef void advance(
    EncoderState *s, double position_count, double valid, double elapsed
) noexcept nogil:
    """One cycle: predict over `elapsed` periods, then take the sample if any; fills `value`."""
    cdef double dt_s = s.period_s, innovation = 0.0, w = s.bleed_rad_s
    cdef bint has_sample = valid == 1.0 and fabs(position_count) <= MAX_COUNT
    if elapsed > 1.0 and isfinite(elapsed):
        dt_s = elapsed * s.period_s
    s.accepted_age_s += dt_s
    s.sample_age_s += dt_s
    s.n_missed += 1
    if s.tracking and s.accepted_age_s > s.lost_after_s:
        s.tracking = False
        s.angle_rad += s.offset_rad
        s.offset_rad = s.offset_rate_rad_s = 0.0
        s.rate_rad_s = s.acceleration_rad_s2 = 0.0
        s.n_accepted = 0
    if s.tracking:
        _predict(s, dt_s)
        if has_sample:
            innovation = _correct(s, position_count)
    elif has_sample:
        _start(s, position_count)
    if has_sample:
        s.sample_age_s = 0.0
    s.value[ANGLE] = s.angle_rad + s.offset_rad
    s.value[RATE] = s.rate_rad_s + s.offset_rate_rad_s
    s.value[ACCELERATION] = (
        s.acceleration_rad_s2 - w * (2.0 * s.offset_rate_rad_s + w * s.offset_rad))
    s.value[INNOVATION] = innovation
    s.value[UNWRAPPED] = s.unwrapped_count if s.unwrapped_count == s.unwrapped_count else 0.0
    s.value[OFFSET] = s.offset_rad
    s.value[MISSED] = <double>s.n_missed
    s.value[REJECTED] = <double>s.n_rejected
    s.value[JUMPS] = <double>s.n_jumps
    s.value[READY] = 1.0 if s.tracking and s.n_accepted > s.settle_samples else 0.0
    # what a guard wants to know: the estimate has settled, and a sample of this cycle went into it
    s.value[TRUSTED] = 1.0 if s.value[READY] == 1.0 and s.n_missed == 0 else 0.0


cdef int _step(void *self, int64_t t_ns) noexcept nogil:
    cdef EncoderState *s = <EncoderState *>self
    cdef int i
    advance(s, s.read[0][0], s.read[1][0], s.read[2][0])
    for i in range(N_WRITES):
        s.write[i][0] = s.value[i]
    return 0


cdef class EncoderFilter:
    """Kalman filter from encoder counts to angle, rate and acceleration; a block.

    Parameters
    ----------
    name : str
        Name of the block.
    reads : mapping of str to str
        Port to signal path. `position_count`: raw count; `valid`: 1 for a new sample, anything else
        for none (optional, else always 1); `elapsed`: periods since the last executed cycle
        (optional, else 1).
    writes : mapping of str to str
        Port to signal path, any of `WRITE_PORTS`. `angle_rad`, `rate_rad_s`, `acceleration_rad_s2`:
        the estimate; `innovation_rad`: of this cycle's sample, 0 without one; `unwrapped_count`: of
        the last accepted sample; `offset_rad`: how far the angle still is from the encoder's
        after a jump; `missed`: cycles in a row without an accepted sample; `rejected`, `jumps`:
        samples refused and jumps believed since the start; `ready`: 1 when the estimate has
        settled; `trusted`: 1 when it is ready and a sample of this cycle went into it.
        Torque belongs to `ready` = 1 only.
    counts_per_rev : float
        Counts per turn of the wheel, > 0.
    period_s : float
        Period of the task, s.
    sample_period_s : float, optional
        Time between two samples; the gains belong to it. Default `period_s`.
    bandwidth_rad_s : float
        `w0` of the filter; the acceleration lags by about `2 / w0`.
    counter_span : float, optional
        Whole number of counts after which the counter repeats (2^32, or counts_per_rev); 0: it
        never does.
    zero_count : float, optional
        Count at angle zero. The first sample is taken within half a span of it.
    sign : int, optional
        +1 or -1: the mounting.
    max_acceleration_rad_s2 : float, optional
        What the wheel can do. The innovation gate is twice what a step of it causes, plus two
        counts.
    jump_samples : int, optional
        Rejected samples that must agree before they are believed.
    bleed_rad_s : float, optional
        Rate at which the output creeps to the encoder's angle after a jump; 0: never.
    lost_after_s : float, optional
        Without an accepted sample for so long the estimate is given up: angle held, rates zero,
        `ready` 0, and the next sample starts it anew. Default: 20 sample periods, at least 20 ms.

    Raises
    ------
    ValueError
        A value out of range, an unknown or missing port: all mistakes in one message.

    Notes
    -----
    Non-finite inputs, or counts beyond 2^53, count as no sample. Between two samples the wheel may
    not turn by half a span.

    Real time
    ---------
    `step` is safe: no allocation, no Python, no loop over data; `exp` only in a cycle that follows
    a skip.

    Source
    ------
    Bar-Shalom, Li, Kirubarajan, Estimation with Applications to Tracking and Navigation, 2001,
    section 6.3 (white jerk model).
    """

    def __init__(
        self, str name, reads, writes, *, double counts_per_rev, double period_s,
        double bandwidth_rad_s, sample_period_s=None, double counter_span=0.0,
        double zero_count=0.0, int sign=1, double max_acceleration_rad_s2=1000.0,
        int64_t jump_samples=5, double bleed_rad_s=2.0, lost_after_s=None,
    ):
        cdef EncoderState *s = &self.state
        cdef double sample_s = period_s if sample_period_s is None else sample_period_s
        cdef double lost_s = max(20.0 * sample_s, 0.02) if lost_after_s is None else lost_after_s
        cdef int i
        mistakes = _port_mistakes(reads, writes)
        for key, value in (
            ("counts_per_rev", counts_per_rev),
            ("period_s", period_s),
            ("sample_period_s", sample_s),
            ("bandwidth_rad_s", bandwidth_rad_s),
            ("max_acceleration_rad_s2", max_acceleration_rad_s2),
            ("lost_after_s", lost_s),
        ):
            if not (math.isfinite(value) and value > 0.0):
                mistakes.append(f"{key} = {value}: must be a positive number")
        if not (0.0 <= counter_span <= MAX_COUNT and counter_span == floor(counter_span)):
            mistakes.append(f"counter_span = {counter_span}: must be a whole number, or 0")
        if not fabs(zero_count) <= MAX_COUNT:
            mistakes.append(f"zero_count = {zero_count}: must be a count")
        if sign not in (1, -1):
            mistakes.append(f"sign = {sign}: must be 1 or -1")
        if jump_samples < 1:
            mistakes.append(f"jump_samples = {jump_samples}: must be at least 1")
        if not (math.isfinite(bleed_rad_s) and bleed_rad_s >= 0.0):
            mistakes.append(f"bleed_rad_s = {bleed_rad_s}: must be a number >= 0")
        if not mistakes:
            if sample_s < period_s:
                mistakes.append(
                    f"sample_period_s = {sample_s}: must not be shorter than period_s = {period_s}")
            if lost_s < 2.0 * sample_s:
                mistakes.append(f"lost_after_s = {lost_s}: must be at least two sample periods")
            try:
                self.gain = steady_gains(sample_s, bandwidth_rad_s)
            except ValueError as error:
                mistakes.append(str(error))
        if mistakes:
            raise ValueError(f"encoder filter {name}: " + "; ".join(mistakes))

        self.name, self.reads, self.writes = name, dict(reads), dict(writes)
        s.rad_per_count = sign * 2.0 * math.pi / counts_per_rev
        s.counter_span, s.zero_count = counter_span, zero_count
        s.period_s, s.sample_period_s = period_s, sample_s
        for i in range(3):
            s.gain[i] = self.gain[i]
        s.max_acceleration_rad_s2 = max_acceleration_rad_s2
        s.gate_rad = self.gate_rad = 2.0 * (
            max_acceleration_rad_s2 * innovation_peak(self.gain, sample_s) + fabs(s.rad_per_count))
        s.lost_after_s = lost_s
        s.bleed_rad_s = bleed_rad_s
        s.bleed_decay = exp(-bleed_rad_s * period_s)
        s.jump_samples = jump_samples
        # a wrong rate dies out as exp(-w0 t / 2) or faster: six time constants
        s.settle_samples = <int64_t>math.ceil(12.0 / (bandwidth_rad_s * sample_s)) + 1
        s.unwrapped_count = math.nan
        s.idle[0] = math.nan
        s.idle[1] = s.idle[2] = 1.0
        for i in range(N_READS):
            s.read[i] = &s.idle[i]
        for i in range(N_WRITES):
            s.write[i] = &s.value[i]
        self.view.abi = BLOCK_ABI
        self.view.step = _step
        self.view.self = s

    def bind(self, reads, writes):
        """Take the address of one float64 cell per port, in port order."""
        cdef EncoderState *s = &self.state
        if len(reads) != len(self.reads) or len(writes) != len(self.writes):
            raise ValueError(
                f"encoder filter {self.name}: {len(reads)} and {len(writes)} addresses for "
                f"{len(self.reads)} read and {len(self.writes)} written ports")
        if not (all(reads) and all(writes)):
            raise ValueError(f"encoder filter {self.name}: address 0")
        for port, address in zip(self.reads, reads):
            s.read[READ_PORTS.index(port)] = <const double *><uintptr_t>address
        for port, address in zip(self.writes, writes):
            s.write[WRITE_PORTS.index(port)] = <double *><uintptr_t>address

    def capsule(self):
        """Capsule with the `BlockView`; the block must outlive it."""
        return PyCapsule_New(&self.view, b"rigloop.block", NULL)

    def run(
        self, const double[::1] position_count, const double[::1] valid,
        const double[::1] elapsed,
    ):
        """Advance over whole arrays, one cycle per element, as `step` would; ports are left alone.

        Parameters
        ----------
        position_count, valid, elapsed : ndarray of float64, shape (n,)
            The inputs of each cycle.

        Returns
        -------
        ndarray of float64, shape (n, 10)
            The outputs of each cycle, in the order of `WRITE_PORTS`.

        Raises
        ------
        ValueError
            The lengths differ.

        Real time
        ---------
        Not safe: allocates the result. The loop itself holds no GIL.
        """
        cdef Py_ssize_t n = position_count.shape[0], i
        cdef int j
        if valid.shape[0] != n or elapsed.shape[0] != n:
            raise ValueError(
                f"lengths differ: position_count {n}, valid {valid.shape[0]}, "
                f"elapsed {elapsed.shape[0]}")
        cdef double[:, ::1] out = np.empty((n, N_WRITES))
        with nogil:
            for i in range(n):
                advance(&self.state, position_count[i], valid[i], elapsed[i])
                for j in range(N_WRITES):
                    out[i, j] = self.state.value[j]
        return np.asarray(out)


def _port_mistakes(reads, writes):
    mistakes = []
    for kind, given, known in (("read", reads, READ_PORTS), ("written", writes, WRITE_PORTS)):
        unknown = [port for port in given if port not in known]
        if unknown:
            mistakes.append(
                f"no such {kind} port {', '.join(unknown)}: there are {', '.join(known)}")
    if "position_count" not in reads:
        mistakes.append("port position_count is not connected")
    return mistakes

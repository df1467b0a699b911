"""One cycle of the encoder filter: move, take the sample or refuse it, fill the outputs."""
from libc.math cimport fabs, isfinite
from libc.stdint cimport int64_t

from estimators.encoder_counter cimport shortest
from estimators.encoder_covariance cimport predict, restart, update
from estimators.encoder_motion cimport Motion, assign, correct, move
from estimators.encoder_offset cimport acceleration, give_back

# index into `value`, in the order of encoder_filter.WRITE_PORTS
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
    JERK
    NIS
    RESETS


cdef inline void _accept(
    EncoderState *s, double position_count, double unwrapped, double age_s
) noexcept nogil:
    s.raw_count = position_count
    s.unwrapped_count = unwrapped
    s.estimate_age_s = age_s
    s.accepted_age_s = 0.0
    s.n_agreeing = 0
    s.n_missed = 0
    s.n_accepted += 1


cdef inline void _rest(EncoderState *s) noexcept nogil:
    s.estimate.rate_rad_s = s.estimate.acceleration_rad_s2 = s.estimate.jerk_rad_s3 = 0.0
    s.offset.value_rad = s.offset.rate_rad_s = 0.0
    s.n_accepted = 0


cdef inline void _start(EncoderState *s, double position_count, double age_s) noexcept nogil:
    # the first turn is the one nearest to zero; after a loss the turns are kept
    cdef double unwrapped
    if s.unwrapped_count == s.unwrapped_count:
        unwrapped = s.unwrapped_count + shortest(position_count - s.raw_count, s.counter_span)
    else:
        unwrapped = s.zero_count + shortest(position_count - s.zero_count, s.counter_span)
    _rest(s)
    s.estimate.angle_rad = s.rad_per_count * (unwrapped - s.zero_count)
    s.tracking = True
    restart(&s.covariance)
    _accept(s, position_count, unwrapped, age_s)


cdef inline void _settle(
    EncoderState *s, const Motion *then, double age_s, Motion *now
) noexcept nogil:
    # the corrected estimate, and where it is now
    assign(&s.estimate, then)
    if age_s > 0.0:
        move(then, age_s, now)
    else:
        assign(now, then)


cdef inline double _take(
    EncoderState *s, double position_count, double age_s, Motion *now
) noexcept nogil:
    # x <- x + K innovation, or reject, or believe a jump; returns the innovation. Until `ready` all
    # is accepted
    cdef double unwrapped = s.unwrapped_count + shortest(
        position_count - s.raw_count, s.counter_span)
    cdef double late_s = s.since_sample_s - s.sample_period_s
    cdef double gate = s.gate_rad, innovation, nis_per_rad2 = s.steady_nis_per_rad2
    cdef const double *gain = s.steady_gain
    cdef bint settling = s.n_accepted <= s.settle_samples
    cdef Motion then          # at the time of the sample
    if age_s > 0.0:
        move(&s.estimate, s.estimate_age_s - age_s, &then)
    else:
        assign(&then, now)
    innovation = s.rad_per_count * (unwrapped - s.zero_count) - then.angle_rad
    if late_s > 0.0:
        gate += 0.5 * s.max_acceleration_rad_s2 * late_s * late_s
    if s.is_time_varying:
        predict(&s.covariance, s.estimate_age_s - age_s)
        gain = s.covariance.gain
        nis_per_rad2 = 1.0 / (s.sample_variance_rad2 * s.covariance.innovation_variance)
    s.nis = innovation * innovation * nis_per_rad2
    cdef bint inside = fabs(innovation) <= gate and (s.gate_nis == 0.0 or s.nis <= s.gate_nis)
    cdef bint astray = not inside or fabs(innovation) > s.gate_rad
    if astray and (settling or inside):
        # a wheel that already turned at the first sample, or went its own way in a gap: steady gains
        # take some samples to follow it, so settling begins again
        s.n_accepted = 0
    if settling or inside:
        correct(&then, gain, innovation)
        if s.is_time_varying:
            update(&s.covariance)
        _accept(s, position_count, unwrapped, age_s)
        _settle(s, &then, age_s, now)
        return innovation
    s.n_rejected += 1
    if fabs(innovation - s.rejected_rad) > gate:
        s.n_agreeing = 0
    s.n_agreeing += 1
    s.rejected_rad = innovation
    if s.n_agreeing >= s.jump_samples:
        then.angle_rad += innovation
        s.offset.value_rad -= innovation
        s.n_jumps += 1
        if s.is_time_varying:
            update(&s.covariance)
        _accept(s, position_count, unwrapped, age_s)
        _settle(s, &then, age_s, now)
    return innovation


cdef void advance(
    EncoderState *s, double position_count, double valid, double elapsed, double sample_age_s,
    double *value,
) noexcept nogil:
    """One cycle: move over `elapsed` periods, then take the sample if any; fills `value`."""
    cdef double dt_s = s.period_s, innovation = 0.0, age_s = 0.0
    cdef Motion now
    cdef bint has_sample = valid == 1.0 and fabs(position_count) <= max_count()
    if elapsed > 1.0 and isfinite(elapsed):
        dt_s = elapsed * s.period_s
    if sample_age_s > 0.0 and isfinite(sample_age_s):
        age_s = sample_age_s
    s.accepted_age_s += dt_s
    s.since_sample_s += dt_s
    s.estimate_age_s += dt_s
    s.n_missed += 1
    s.nis = 0.0
    if s.tracking and s.accepted_age_s > s.lost_after_s:
        s.tracking = False
        move(&s.estimate, s.estimate_age_s - dt_s, &now)
        s.estimate.angle_rad = now.angle_rad + s.offset.value_rad
        _rest(s)
    if s.tracking:
        move(&s.estimate, s.estimate_age_s, &now)
        give_back(&s.offset, dt_s)
        # a sample that is no newer than the last accepted one says nothing
        has_sample = has_sample and age_s < s.estimate_age_s
        if has_sample:
            innovation = _take(s, position_count, age_s, &now)
    else:
        if has_sample:
            _start(s, position_count, age_s)
        assign(&now, &s.estimate)
    if has_sample:
        s.since_sample_s = age_s
    value[ANGLE] = now.angle_rad + s.offset.value_rad
    value[RATE] = now.rate_rad_s + s.offset.rate_rad_s
    value[ACCELERATION] = now.acceleration_rad_s2 + acceleration(&s.offset)
    value[INNOVATION] = innovation
    value[UNWRAPPED] = s.unwrapped_count if s.unwrapped_count == s.unwrapped_count else 0.0
    value[OFFSET] = s.offset.value_rad
    value[MISSED] = <double>s.n_missed
    value[REJECTED] = <double>s.n_rejected
    value[JUMPS] = <double>s.n_jumps
    value[READY] = 1.0 if s.tracking and s.n_accepted > s.settle_samples else 0.0
    # what a guard wants to know: the estimate has settled, and a sample of this cycle went into it
    value[TRUSTED] = 1.0 if value[READY] == 1.0 and s.n_missed == 0 else 0.0
    value[JERK] = now.jerk_rad_s3
    value[NIS] = s.nis
    value[RESETS] = <double>s.covariance.n_resets


cdef int step(void *self, int64_t t_ns) noexcept nogil:
    cdef EncoderState *s = <EncoderState *>self
    cdef int i
    advance(s, s.read[0][0], s.read[1][0], s.read[2][0], s.read[3][0], s.value)
    s.n_done += 1 + (s.n_missed == 0)
    for i in range(N_WRITES):
        s.write[i][0] = s.value[i]
    return 0

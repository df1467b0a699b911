"""One cycle of the encoder filter: move, take the sample or refuse it, fill the outputs."""
from libc.math cimport INFINITY, fabs, isfinite
from libc.stdint cimport int64_t

from estimators.encoder.counter cimport shortest
from estimators.encoder.covariance cimport predict, restart, update
from estimators.encoder.motion cimport Motion, assign, correct, move
from estimators.encoder.offset cimport acceleration, give_back


cdef inline void _accept(
    EncoderState *s, double position_count, double unwrapped, double age_s
) noexcept nogil:
    # a wrong rate dies out with time: a sample after a long interval counts for more than one, though
    # for less than the periods that it took, because gains over longer intervals make a slower filter
    cdef double periods = (s.estimate_age_s - age_s) * s.samples_per_s
    s.n_settled += 1
    if periods > 3.5:
        s.n_settled += min(<int64_t>(0.5 * min(periods, 1e9)) - 1, s.settle_most)
    s.raw_count = position_count
    s.unwrapped_count = unwrapped
    s.estimate_age_s = age_s
    s.accepted_age_s = 0.0
    # what was wrong after a gap shows in the next samples too, until it has died out
    if s.n_settled > s.settle_samples:
        s.astray_s = 0.5 * s.astray_s if s.sample_period_s < s.astray_s < INFINITY else 0.0
    if s.unseen_s > s.astray_s:
        s.astray_s = s.unseen_s
    s.unseen_s = 0.0
    s.n_agreeing = 0
    s.n_missed = 0


cdef inline void _start(EncoderState *s, double position_count, double age_s) noexcept nogil:
    # the first turn is the one nearest to zero; after a loss the turns are kept
    cdef double unwrapped
    if s.unwrapped_count == s.unwrapped_count:
        unwrapped = s.unwrapped_count + shortest(position_count - s.raw_count, s.counter_span)
    else:
        unwrapped = s.zero_count + shortest(position_count - s.zero_count, s.counter_span)
    s.estimate.rate_rad_s = s.estimate.acceleration_rad_s2 = s.estimate.jerk_rad_s3 = 0.0
    s.estimate.angle_rad = s.rad_per_count * (unwrapped - s.zero_count)
    s.tracking = s.remembers = True
    s.n_settled = 0
    # the wheel may turn at any rate: nothing is refused until the estimate has settled
    s.astray_s = INFINITY
    s.unseen_s = 0.0
    s.estimate_age_s = age_s
    restart(&s.covariance)
    _accept(s, position_count, unwrapped, age_s)


cdef inline void _lose(EncoderState *s) noexcept nogil:
    # the output stays where it is; the estimate is kept for a sample that may still come
    cdef Motion now
    move(&s.estimate, s.estimate_age_s, &now)
    s.held_rad = now.angle_rad + s.offset.value_rad
    s.offset.value_rad = s.offset.rate_rad_s = 0.0
    s.tracking = False
    s.n_settled = 0


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
    # x <- x + K innovation, or reject, or believe a jump; returns the innovation
    cdef double unwrapped = s.unwrapped_count + shortest(
        position_count - s.raw_count, s.counter_span)
    cdef double late_s = s.since_sample_s - age_s - s.sample_period_s
    cdef double innovation, excess, free_s, possible = 0.0
    cdef Motion then          # at the time of the sample
    if age_s > 0.0:
        move(&s.estimate, s.estimate_age_s - age_s, &then)
    else:
        assign(&then, now)
    innovation = s.rad_per_count * (unwrapped - s.zero_count) - then.angle_rad
    # of the time since the last accepted sample, all that no sample was seen in
    if late_s > 0.0:
        s.unseen_s += late_s
    free_s = s.unseen_s + s.astray_s
    if free_s > 0.0:
        possible = 0.5 * s.max_acceleration_rad_s2 * free_s * free_s
    predict(&s.covariance, s.estimate_age_s - age_s)
    s.nis = innovation * innovation * s.nis_per_rad2 * s.covariance.nis_per_square
    cdef bint inside = fabs(innovation) <= s.gate_rad + possible
    if inside and s.gate_nis != 0.0 and s.nis > s.gate_nis:
        # what the wheel may have done unseen is no noise
        excess = fabs(innovation) - possible
        inside = excess <= 0.0 or (
            excess * excess * s.nis_per_rad2 * s.covariance.nis_per_square <= s.gate_nis)
    if not s.tracking and not inside:
        # the encoder has gone elsewhere meanwhile
        _start(s, position_count, age_s)
        assign(now, &s.estimate)
        return 0.0
    s.tracking = True
    if inside:
        if fabs(innovation) > s.gate_rad:
            # a wheel that already turned at the first sample, or went its own way in a gap
            s.n_settled = 0
        correct(&then, s.covariance.gain, innovation)
        update(&s.covariance)
        _accept(s, position_count, unwrapped, age_s)
        _settle(s, &then, age_s, now)
        return innovation
    s.n_rejected += 1
    if fabs(innovation - s.rejected_rad) > s.gate_rad + possible:
        s.n_agreeing = 0
    s.n_agreeing += 1
    s.rejected_rad = innovation
    if s.n_agreeing >= s.jump_samples:
        then.angle_rad += innovation
        s.offset.value_rad -= innovation
        s.n_jumps += 1
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
    has_sample = has_sample and age_s <= s.forget_after_s
    s.accepted_age_s += dt_s
    if s.tracking and s.accepted_age_s > s.lost_after_s:
        _lose(s)
    s.since_sample_s += dt_s
    s.estimate_age_s += dt_s
    s.n_missed += 1
    s.nis = 0.0
    s.remembers = s.remembers and s.estimate_age_s <= s.forget_after_s
    if s.remembers:
        # a sample that is no newer than the last accepted one says nothing
        has_sample = has_sample and age_s < s.estimate_age_s
    if s.tracking or (has_sample and s.remembers):
        move(&s.estimate, s.estimate_age_s, &now)
        give_back(&s.offset, dt_s)
        if has_sample:
            innovation = _take(s, position_count, age_s, &now)
    elif has_sample:
        _start(s, position_count, age_s)
        assign(&now, &s.estimate)
    else:
        now.angle_rad = s.held_rad
        now.rate_rad_s = now.acceleration_rad_s2 = now.jerk_rad_s3 = 0.0
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
    value[READY] = 1.0 if s.tracking and s.n_settled > s.settle_samples else 0.0
    # what a guard wants to know: the estimate has settled, and a sample of this cycle went into it
    value[TRUSTED] = 1.0 if value[READY] == 1.0 and s.n_missed == 0 else 0.0
    value[JERK] = now.jerk_rad_s3
    value[NIS] = s.nis
    value[RESETS] = <double>s.covariance.n_resets


cdef int step(void *self, int64_t t_ns) noexcept nogil:
    cdef EncoderState *s = <EncoderState *>self
    cdef int i
    advance(
        s, s.read[COUNT][0], s.read[VALID][0], s.read[ELAPSED][0], s.read[SAMPLE_AGE][0], s.value)
    s.n_done += 1 + (s.n_missed == 0)
    for i in range(N_WRITES):
        s.write[i][0] = s.value[i]
    return 0

"""State of the encoder filter and one cycle of it."""
from libc.stdint cimport int64_t

from estimators.encoder.covariance cimport EncoderCovariance
from estimators.encoder.motion cimport Motion
from estimators.encoder.offset cimport Offset

cdef enum:            # places of `read`; `filter.pyx` says which port each one is
    COUNT
    VALID
    ELAPSED
    SAMPLE_AGE
    N_READS

cdef enum:            # places of `value` and `write`
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
    N_WRITES

cdef inline double max_count() noexcept nogil:
    return 9007199254740992.0       # 2^53: beyond, counts are not exact

cdef struct EncoderState:
    # constants of the encoder and the gains, set at construction
    double rad_per_count        # 2 pi / counts_per_rev, with the sign of the mounting
    double counter_span         # counts after which the raw counter repeats; 0: never
    double zero_count           # count at angle zero
    double period_s             # of the task
    double sample_period_s      # nominal
    double samples_per_s        # of a sample period
    double nis_per_rad2         # 1 / variance of a sample
    double gate_rad             # innovation of a sample on time above which it is rejected
    double gate_nis             # the same for the normalised innovation squared; 0: no such gate
    double max_acceleration_rad_s2   # widens the gates for a sample that comes late
    double lost_after_s         # without an accepted sample for so long, the output is held
    double forget_after_s       # and the estimate is worth nothing any more
    int64_t jump_samples        # rejected samples that agree until they are believed
    int64_t settle_samples      # accepted samples within the gate until `ready`
    int64_t settle_most         # what a sample after a long interval may count for beside itself
    # estimate, of the angle as the encoder states it
    Motion estimate             # at the time of the last accepted sample
    double estimate_age_s       # how long ago that is
    EncoderCovariance covariance
    Offset offset               # what the output is apart from that angle after a jump
    # last accepted sample
    double raw_count
    double unwrapped_count
    # bookkeeping
    double accepted_age_s       # cycles' time since the last accepted sample
    double since_sample_s       # since the last sample, accepted or not
    double unseen_s             # what samples came late by since the last accepted one
    double astray_s             # the same of gaps whose errors may not have died out yet
    double held_rad             # output while there is no estimate
    double rejected_rad         # innovation of the last rejected sample
    double nis                  # of this cycle's sample
    int64_t n_agreeing          # rejected samples in a row that agree
    int64_t n_settled           # accepted samples since the start, a loss, or a large innovation
    int64_t n_missed            # cycles in a row without an accepted sample
    int64_t n_rejected          # in all
    int64_t n_jumps             # in all
    int64_t n_done              # cycles and corrections: what the steps did
    bint tracking               # there is an estimate, and the output follows it
    bint remembers              # there is one, used or not
    # ports: addresses given by `bind`, else a cell of `idle`
    const double *read[N_READS]
    double *write[N_WRITES]
    double value[N_WRITES]      # of this cycle
    double idle[N_READS]

cdef void advance(
    EncoderState *s, double position_count, double valid, double elapsed, double sample_age_s,
    double *value,
) noexcept nogil

cdef int step(void *self, int64_t t_ns) noexcept nogil    # of block.pxd; self: an EncoderState

"""State of the encoder filter, as the cycle sees it."""
from libc.stdint cimport int64_t

from rt_core.block cimport BlockView

cdef enum:
    N_READS = 3       # position_count, valid, elapsed
    N_WRITES = 11

cdef struct EncoderState:
    # constants of the encoder and the gains, set at construction
    double rad_per_count        # 2 pi / counts_per_rev, with the sign of the mounting
    double counter_span         # counts after which the raw counter repeats; 0: never
    double zero_count           # count at angle zero
    double period_s             # of the task
    double sample_period_s      # of the gains
    double gain[3]              # on the innovation: 1, 1/s, 1/s^2
    double gate_rad             # innovation of a sample on time above which it is rejected
    double max_acceleration_rad_s2   # widens the gate for a sample that comes late
    double lost_after_s         # without an accepted sample for so long, the filter gives up
    double bleed_rad_s          # rate at which an absorbed jump is given back; 0: kept
    double bleed_decay          # exp(-bleed_rad_s period_s)
    int64_t jump_samples        # rejected samples that agree until they are believed
    int64_t settle_samples      # accepted samples within the gate until `ready`
    # estimate, of the angle as the encoder states it
    double angle_rad
    double rate_rad_s
    double acceleration_rad_s2
    # what the output is apart from that angle after a jump, and its rate
    double offset_rad
    double offset_rate_rad_s
    # last accepted sample
    double raw_count
    double unwrapped_count
    # bookkeeping
    double accepted_age_s       # since the last accepted sample
    double sample_age_s         # since the last sample, accepted or not
    double rejected_rad         # innovation of the last rejected sample
    int64_t n_agreeing          # rejected samples in a row that agree
    int64_t n_accepted          # since the start, a loss, or a large innovation while settling
    int64_t n_missed            # cycles in a row without an accepted sample
    int64_t n_rejected          # in all
    int64_t n_jumps             # in all
    bint tracking               # there is an estimate
    # ports: addresses given by `bind`, else a cell of `idle`
    const double *read[N_READS]
    double *write[N_WRITES]
    double value[N_WRITES]      # of this cycle
    double idle[N_READS]

cdef void advance(
    EncoderState *s, double position_count, double valid, double elapsed
) noexcept nogil

cdef class EncoderFilter:
    cdef EncoderState state
    cdef BlockView view
    cdef readonly str name
    cdef readonly dict reads
    cdef readonly dict writes
    cdef readonly object gain
    cdef readonly double gate_rad

"""Gains of the encoder filter; the equations are beside the code."""

cdef enum:
    MOST_STATES = 4

cdef struct EncoderCovariance:
    int n                           # states: 2, 3 or 4
    double bandwidth_rad_s          # w0
    double noise_u[MOST_STATES * MOST_STATES]   # Q = U D U' for e = 1, with w0 T in D
    double noise_d[MOST_STATES]
    double initial[MOST_STATES]     # diagonal at the first sample
    double u[MOST_STATES * MOST_STATES]         # of the corrected estimate, row by row
    double d[MOST_STATES]
    double u_before[MOST_STATES * MOST_STATES]  # predicted to the newest sample
    double d_before[MOST_STATES]
    double gain[MOST_STATES]        # in physical units
    double innovation_variance      # P00 + 1: in variances of a sample
    double nis_per_square           # 1 / innovation_variance
    long n_resets                   # not positive definite: started again
    double dt_s                     # interval of the newest prediction
    double resting_dt_s             # the interval at which nothing changes any more; 0: none

cdef void restart(EncoderCovariance *c) noexcept nogil

# P- over dt; fills `gain` and `innovation_variance` for a sample then
cdef void predict_anyhow(EncoderCovariance *c, double dt_s) noexcept nogil

# P+ after that sample; started again and counted where it has lost positive definiteness
cdef void update_anyhow(EncoderCovariance *c) noexcept nogil


cdef inline void predict(EncoderCovariance *c, double dt_s) noexcept nogil:
    # at rest everything is filled already
    if dt_s != c.resting_dt_s:
        predict_anyhow(c, dt_s)


cdef inline void update(EncoderCovariance *c) noexcept nogil:
    if c.resting_dt_s == 0.0:
        update_anyhow(c)

"""A jump that the output does not follow at once: given back critically damped.

    d'' = -2 w d' - w^2 d
"""
from libc.math cimport exp, fabs

cdef struct Offset:
    double bleed_rad_s      # w; 0: the offset is kept
    double period_s         # of the task
    double period_decay     # exp(-w period_s)
    double value_rad
    double rate_rad_s


cdef inline void give_back(Offset *d, double dt_s) noexcept nogil:
    # exact over dt
    cdef double w = d.bleed_rad_s, decay, k
    if d.value_rad == 0.0:
        return
    decay = d.period_decay if dt_s == d.period_s else exp(-w * dt_s)
    k = d.rate_rad_s + w * d.value_rad
    d.value_rad = decay * (d.value_rad + k * dt_s)
    d.rate_rad_s = decay * (d.rate_rad_s - w * k * dt_s)
    if fabs(d.value_rad) < 1e-12 and fabs(d.rate_rad_s) < 1e-12:
        d.value_rad = d.rate_rad_s = 0.0


cdef inline double acceleration(const Offset *d) noexcept nogil:
    return -d.bleed_rad_s * (2.0 * d.rate_rad_s + d.bleed_rad_s * d.value_rad)

"""Motion between two samples: constant velocity, acceleration or jerk.

One form for all three: a state that a model does not have is zero, and stays zero because its gain is.
"""

cdef struct Motion:
    double angle_rad
    double rate_rad_s
    double acceleration_rad_s2    # 0 of constant velocity
    double jerk_rad_s3            # 0 but of constant jerk


cdef inline void move(const Motion *x, double dt_s, Motion *out) noexcept nogil:
    # out = F(dt) x, exact; as sums, whose parts a processor works out side by side
    cdef double half = 0.5 * dt_s * dt_s
    out.jerk_rad_s3 = x.jerk_rad_s3
    out.acceleration_rad_s2 = x.acceleration_rad_s2 + dt_s * x.jerk_rad_s3
    out.rate_rad_s = (x.rate_rad_s + dt_s * x.acceleration_rad_s2) + half * x.jerk_rad_s3
    out.angle_rad = (x.angle_rad + dt_s * x.rate_rad_s) + (
        half * x.acceleration_rad_s2 + (half * dt_s * (1.0 / 3.0)) * x.jerk_rad_s3)


cdef inline void assign(Motion *to, const Motion *x) noexcept nogil:
    # number by number: a copy in one would wait for the numbers that were written just before
    to.angle_rad = x.angle_rad
    to.rate_rad_s = x.rate_rad_s
    to.acceleration_rad_s2 = x.acceleration_rad_s2
    to.jerk_rad_s3 = x.jerk_rad_s3


cdef inline void correct(Motion *x, const double *gain, double innovation_rad) noexcept nogil:
    # x <- x + K innovation
    x.angle_rad += gain[0] * innovation_rad
    x.rate_rad_s += gain[1] * innovation_rad
    x.acceleration_rad_s2 += gain[2] * innovation_rad
    x.jerk_rad_s3 += gain[3] * innovation_rad

"""Motor, steering wheel and the driver's hands.

    J w' = T_motor + T_hands - b w - T_c w / sqrt(w^2 + w_s^2)
    tau T_motor' = T_wanted - T_motor
    T_hands = k (theta_h - theta) + c (theta_h' - w)            hands as a spring

Linearly implicit midpoint rule in steps of at most 50 us (second order, stable for any k, c, b),
the current loop exactly. Prescribed hands are a kinematic guidance: the wheel follows theta_h, and
T_hands is its reaction.
"""
from libc.math cimport M_PI, cos, exp, sin, sqrt
from libc.stdint cimport int64_t

cdef enum:
    SUBSTEP_NS = 50000
    LONGEST_NS = 1000000000     # a gap beyond this is not integrated: the plant stood still

cdef double NOTHING = 1e-100


cdef struct Phase:
    # sine and cosine of 2 pi f t, and of half a step
    double s
    double c
    double half_s
    double half_c


cdef inline void turn(Phase *f) noexcept nogil:
    """Half a step on, by the angle sum: no sine is taken within an advance."""
    cdef double s = f.s * f.half_c + f.c * f.half_s
    f.c = f.c * f.half_c - f.s * f.half_s
    f.s = s


cdef void hands_target(const Plant *p, double t, const Phase *f, double *angle, double *rate,
                       double *acceleration) noexcept nogil:
    """offset + A r(t) sin(2 pi f t), r a quintic from 0 to 1 over start_s (twice differentiable at
    both ends)."""
    cdef double w = 2.0 * M_PI * p.frequency_hz
    cdef double r = 1.0
    cdef double rd = 0.0
    cdef double rdd = 0.0
    cdef double x
    if t < p.start_s:
        x = t / p.start_s
        r = x * x * x * (10.0 + x * (-15.0 + 6.0 * x))
        rd = 30.0 * x * x * (1.0 - x) * (1.0 - x) / p.start_s
        rdd = 60.0 * x * (1.0 - x) * (1.0 - 2.0 * x) / (p.start_s * p.start_s)
    angle[0] = p.offset_rad + p.amplitude_rad * r * f.s
    rate[0] = p.amplitude_rad * (rd * f.s + r * w * f.c)
    acceleration[0] = p.amplitude_rad * (rdd * f.s + 2.0 * rd * w * f.c - r * w * w * f.s)


cdef double friction(const Plant *p, double rate, double *slope) noexcept nogil:
    """Viscous and smoothed dry friction torque, and its derivative by the rate."""
    cdef double corner2 = p.coulomb_rad_s * p.coulomb_rad_s
    cdef double inverse = 1.0 / sqrt(rate * rate + corner2)
    slope[0] = p.viscous_nms + p.coulomb_nm * corner2 * inverse * inverse * inverse
    return p.viscous_nms * rate + p.coulomb_nm * rate * inverse


cdef double motor_step(Plant *p, double decay) noexcept nogil:
    """One step of the current loop towards the wanted torque. Return the mean torque of the step."""
    cdef double wanted = p.wanted_nm
    cdef double before = p.motor_nm
    if wanted > p.peak_nm:
        wanted = p.peak_nm
    elif wanted < -p.peak_nm:
        wanted = -p.peak_nm
    p.motor_nm = wanted + (before - wanted) * decay
    # what only decays ends at nothing, before numbers become so small that they are slow
    if -NOTHING < p.motor_nm < NOTHING:
        p.motor_nm = 0.0
    return 0.5 * (before + p.motor_nm)


cdef void plant_reset(Plant *p) noexcept nogil:
    """Time zero, on the trajectory's start; at rest unless the hands start without a ramp."""
    p.now_ns = 0
    p.angle_rad = p.offset_rad
    p.rate_rad_s = 0.0
    p.motor_nm = 0.0
    p.sensor_nm = 0.0
    p.wanted_nm = 0.0
    if p.hands == PRESCRIBED and p.start_s <= 0.0:
        p.rate_rad_s = p.amplitude_rad * 2.0 * M_PI * p.frequency_hz


cdef void substep(Plant *p, double t, double h, Phase *f) noexcept nogil:
    cdef double motor, drag, slope, k, c, force, change
    cdef double target = 0.0
    cdef double target_rate = 0.0
    cdef double acceleration = 0.0
    motor = motor_step(p, p.decay)
    if p.hands == PRESCRIBED:
        turn(f)
        turn(f)
        hands_target(p, t + h, f, &p.angle_rad, &p.rate_rad_s, &acceleration)
        drag = friction(p, p.rate_rad_s, &slope)
        p.sensor_nm = p.inertia_kg_m2 * acceleration + drag - p.motor_nm
        return
    drag = friction(p, p.rate_rad_s, &slope)
    k = 0.0
    c = 0.0
    if p.hands == SPRING:
        k = p.hands_stiffness
        c = p.hands_damping
        turn(f)
        hands_target(p, t + 0.5 * h, f, &target, &target_rate, &acceleration)
        turn(f)
    force = motor - drag + c * (target_rate - p.rate_rad_s)
    force += k * (target - p.angle_rad - 0.5 * h * p.rate_rad_s)
    change = h * force / (p.inertia_kg_m2 + 0.5 * h * (c + slope) + 0.25 * h * h * k)
    p.angle_rad += h * (p.rate_rad_s + 0.5 * change)
    p.rate_rad_s += change
    if -NOTHING < p.rate_rad_s < NOTHING:
        p.rate_rad_s = 0.0


cdef void take_step_length(Plant *p, double h) noexcept nogil:
    """What depends on the step length alone, which seldom changes."""
    cdef double half = M_PI * p.frequency_hz * h
    p.step_s = h
    p.decay = exp(-h / p.torque_lag_s) if p.torque_lag_s > 0.0 else 0.0
    p.half_sin = sin(half)
    p.half_cos = cos(half)


cdef void plant_advance(Plant *p, int64_t t_ns) noexcept nogil:
    """Integrate to t_ns in equal substeps; at most 20000 of them."""
    cdef int64_t gap = t_ns - p.now_ns
    cdef int i, n
    cdef double h, t, target, target_rate, acceleration
    cdef Phase f
    if gap <= 0:
        return
    if gap > LONGEST_NS:
        p.now_ns = t_ns - LONGEST_NS
        gap = LONGEST_NS
    n = <int> ((gap + SUBSTEP_NS - 1) // SUBSTEP_NS)
    h = 1e-9 * <double> gap / n
    t = 1e-9 * <double> p.now_ns
    if h != p.step_s:
        take_step_length(p, h)
    f.half_s = p.half_sin
    f.half_c = p.half_cos
    if p.hands != FREE:
        f.s = sin(2.0 * M_PI * p.frequency_hz * t)
        f.c = cos(2.0 * M_PI * p.frequency_hz * t)
    for i in range(n):
        substep(p, t + i * h, h, &f)
    if p.hands == SPRING:
        hands_target(p, t + n * h, &f, &target, &target_rate, &acceleration)
        p.sensor_nm = (p.hands_stiffness * (target - p.angle_rad)
                       + p.hands_damping * (target_rate - p.rate_rad_s))
    elif p.hands == FREE:
        p.sensor_nm = 0.0
    p.now_ns = t_ns

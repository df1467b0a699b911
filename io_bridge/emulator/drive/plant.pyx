"""Motor, steering wheel and the driver's hands.

    J w' = T_motor + T_hands - b w - T_c w / sqrt(w^2 + w_s^2)
    tau T_motor' = T_wanted - T_motor
    T_hands = k (theta_h - theta) + c (theta_h' - w)            hands as a spring

The motor's torque and its first two integrals are exact, and taken out of the equations, which leaves
nothing fast in them:

    w = u + P / J,   theta = x + Q / J,   P' = T_motor,   Q' = P

u and x take one step of a linearly implicit Runge-Kutta method of order 4 (Rosenbrock; three evaluations
of the friction, stable for any k, c, b). Its length is a tenth of the shortest time constant of wheel, hands,
their path and friction, and where the wheel may turn round, so little that the speed changes by half of w_s
at most; but never below 50 us. A wheel with the default parameters then follows the exact solution to 1e-7
rad, whatever the torque.

Prescribed hands are a kinematic guidance: the wheel follows theta_h, and T_hands is its reaction.

Source: L. F. Shampine, "Implementation of Rosenbrock methods", ACM Trans. Math. Software 8 (1982) 93-113,
for the coefficients.
"""
from libc.math cimport M_PI, cos, exp, fabs, sin, sqrt
from libc.stdint cimport int64_t

cdef enum:
    LONGEST_NS = 1000000000     # a gap beyond this is not integrated: the plant stood still
    TURNS = 256                 # of the hands' path by the angle sum: 1e-13 of rounding

cdef double NOTHING = 1e-100
cdef double SHORTEST_S = 50e-6
cdef double RESOLVED = 0.1      # of the shortest time constant
cdef double CORNER = 0.5        # of w_s
cdef double NEAR_CORNERS = 3.0  # speeds, in w_s, at which dry friction is curved

# Shampine's coefficients for a step from 0 to 1: the stages lie at 0, 1 and 3/5, gamma is 1/2
cdef double A21 = 2.0
cdef double A31 = 48.0 / 25.0
cdef double A32 = 6.0 / 25.0
cdef double C21 = -8.0
cdef double C31 = 372.0 / 25.0
cdef double C32 = 12.0 / 5.0
cdef double C41 = -112.0 / 125.0
cdef double C42 = -54.0 / 125.0
cdef double C43 = -2.0 / 5.0
cdef double B1 = 19.0 / 9.0
cdef double B2 = 1.0 / 2.0
cdef double B3 = 25.0 / 108.0
cdef double B4 = 125.0 / 108.0
cdef double D1 = 1.0 / 2.0
cdef double D2 = -3.0 / 2.0
cdef double D3 = 121.0 / 50.0
cdef double D4 = 29.0 / 250.0


cdef inline void hands_path(const Plant *p, double t, double s, double c, HandsPath *out) noexcept nogil:
    """offset + A r(t) sin(2 pi f t), r a quintic from 0 to 1 over start_s (twice differentiable at
    both ends); s and c are sine and cosine of 2 pi f t."""
    cdef double a = p.amplitude_rad
    cdef double w = p.omega_rad_s
    cdef double x, r, rd, rdd
    if t >= p.start_s:
        out.angle_rad = p.offset_rad + a * s
        out.rate_rad_s = a * w * c
        out.acceleration_rad_s2 = -a * w * w * s
        return
    x = t / p.start_s
    r = x * x * x * (10.0 + x * (-15.0 + 6.0 * x))
    rd = 30.0 * x * x * (1.0 - x) * (1.0 - x) / p.start_s
    rdd = 60.0 * x * (1.0 - x) * (1.0 - 2.0 * x) / (p.start_s * p.start_s)
    out.angle_rad = p.offset_rad + a * r * s
    out.rate_rad_s = a * (rd * s + r * w * c)
    out.acceleration_rad_s2 = a * (rdd * s + 2.0 * rd * w * c - r * w * w * s)


cdef void find_path(Plant *p, double t) noexcept nogil:
    """The hands' path at t, from the sine itself."""
    p.phase_s = sin(p.omega_rad_s * t)
    p.phase_c = cos(p.omega_rad_s * t)
    p.turns_left = TURNS
    hands_path(p, t, p.phase_s, p.phase_c, &p.path)


cdef inline void path_within(const Plant *p, double t, HandsPath *out) noexcept nogil:
    """The path at t, which is 0.6 of a step on."""
    cdef double s = p.phase_s * p.step.turn06_c + p.phase_c * p.step.turn06_s
    cdef double c = p.phase_c * p.step.turn06_c - p.phase_s * p.step.turn06_s
    hands_path(p, t, s, c, out)


cdef inline void follow_path(Plant *p, double t) noexcept nogil:
    """The path at t, which is one step on, by the angle sum."""
    cdef double s = p.phase_s * p.step.turn_c + p.phase_c * p.step.turn_s
    if p.turns_left == 0:
        find_path(p, t)
        return
    p.turns_left -= 1
    p.phase_c = p.phase_c * p.step.turn_c - p.phase_s * p.step.turn_s
    p.phase_s = s
    hands_path(p, t, p.phase_s, p.phase_c, &p.path)


cdef inline double dry(const Plant *p, double rate) noexcept nogil:
    """Viscous and smoothed dry friction torque."""
    return p.viscous_nms * rate + p.coulomb_nm * rate / sqrt(
        rate * rate + p.coulomb_rad_s * p.coulomb_rad_s)


cdef double friction(const Plant *p, double rate, double *slope) noexcept nogil:
    """Viscous and smoothed dry friction torque, and its derivative by the rate."""
    cdef double corner2 = p.coulomb_rad_s * p.coulomb_rad_s
    cdef double inverse = 1.0 / sqrt(rate * rate + corner2)
    slope[0] = p.viscous_nms + p.coulomb_nm * corner2 * inverse * inverse * inverse
    return p.viscous_nms * rate + p.coulomb_nm * rate * inverse


cdef inline double wanted_torque(const Plant *p) noexcept nogil:
    return max(-p.peak_nm, min(p.peak_nm, p.wanted_nm))


cdef inline double without_nothing(double x) noexcept nogil:
    # a decaying value ends at zero, before it becomes denormal and slow
    return 0.0 if -NOTHING < x < NOTHING else x


cdef double motor_step(Plant *p, double decay) noexcept nogil:
    """One step of the current loop towards the wanted torque. Return the mean torque of the step."""
    cdef double wanted = wanted_torque(p)
    cdef double before = p.motor_nm
    p.motor_nm = without_nothing(wanted + (before - wanted) * decay)
    return 0.5 * (before + p.motor_nm)


cdef double motor_decay(const Plant *p, double h) noexcept nogil:
    """Share of a deviation of the torque that is left after h."""
    return exp(-h / p.torque_lag_s) if p.torque_lag_s > 0.0 else 0.0


cdef inline double hands_torque(const Plant *p, const HandsPath *path, double angle,
                                double rate) noexcept nogil:
    return (p.hands_stiffness * (path.angle_rad - angle)
            + p.hands_damping * (path.rate_rad_s - rate))


cdef void plant_reset(Plant *p) noexcept nogil:
    """Time zero, on the trajectory's start; at rest unless the hands start without a ramp."""
    if p.hands != SPRING:
        p.hands_stiffness = 0.0
        p.hands_damping = 0.0
    p.inverse_inertia = 1.0 / p.inertia_kg_m2
    p.omega_rad_s = 2.0 * M_PI * p.frequency_hz if p.hands != FREE else 0.0
    find_longest(p)
    p.step.h_s = 0.0
    p.now_ns = 0
    p.motor_nm = 0.0
    p.sensor_nm = 0.0
    p.wanted_nm = 0.0
    find_path(p, 0.0)
    p.angle_rad = p.offset_rad
    p.rate_rad_s = p.path.rate_rad_s if p.hands == PRESCRIBED else 0.0


cdef void plant_hold(Plant *p, double angle_rad, double stiffness, double damping) noexcept nogil:
    """From now on the hands hold the wheel at an angle; without stiffness and damping they let go."""
    p.hands = SPRING if stiffness > 0.0 or damping > 0.0 else FREE
    p.hands_stiffness = stiffness
    p.hands_damping = damping
    p.amplitude_rad = 0.0
    p.omega_rad_s = 0.0
    p.offset_rad = angle_rad
    p.start_s = 0.0
    find_longest(p)
    p.step.h_s = 0.0
    find_path(p, 1e-9 * <double> p.now_ns)


cdef void find_longest(Plant *p) noexcept nogil:
    """The step that resolves hands, wheel and friction."""
    cdef double fastest
    fastest = (p.hands_damping + p.viscous_nms + p.coulomb_nm / p.coulomb_rad_s) * p.inverse_inertia
    fastest = max(fastest, sqrt(p.hands_stiffness * p.inverse_inertia))
    fastest = max(fastest, p.omega_rad_s)
    if p.hands == SPRING and p.start_s > 0.0:
        fastest = max(fastest, 2.0 / p.start_s)
    p.longest_s = max(SHORTEST_S, RESOLVED / fastest) if fastest > 0.0 else 1e-9 * LONGEST_NS


cdef double motor_within(const Plant *p, double h, double *rate_wanted, double *rate_over,
                         double *angle_wanted, double *angle_over) noexcept nogil:
    """P / J and Q / J after h of a constant torque of 1 Nm, and of one that decays from it. Return what is
    left of the latter."""
    cdef double lag = p.torque_lag_s
    cdef double left = exp(-h / lag) if lag > 0.0 else 0.0
    rate_wanted[0] = p.inverse_inertia * h
    rate_over[0] = p.inverse_inertia * lag * (1.0 - left)
    angle_wanted[0] = p.inverse_inertia * 0.5 * h * h
    angle_over[0] = p.inverse_inertia * lag * (h - lag * (1.0 - left))
    return left


cdef void take_step_length(Plant *p, double h) noexcept nogil:
    """Compute the values that depend on the step length alone; it seldom changes."""
    cdef StepLength *step = &p.step
    step.h_s = h
    step.motor = motor_within(p, h, &step.rate_wanted, &step.rate_over, &step.angle_wanted,
                              &step.angle_over)
    motor_within(p, 0.6 * h, &step.rate06_wanted, &step.rate06_over, &step.angle06_wanted,
                 &step.angle06_over)
    step.turn_s = sin(p.omega_rad_s * h)
    step.turn_c = cos(p.omega_rad_s * h)
    step.turn06_s = sin(0.6 * p.omega_rad_s * h)
    step.turn06_c = cos(0.6 * p.omega_rad_s * h)
    step.half_s = 0.5 * h
    step.inverse_s = 1.0 / h
    step.pull = 0.5 * h * p.hands_stiffness
    step.inertia_h = p.inertia_kg_m2 / h
    step.matrix = 2.0 * step.inertia_h + p.hands_damping + step.pull


cdef int steps_within(const Plant *p, double gap, double wanted) noexcept nogil:
    """Equal steps that a gap needs; at most 20001."""
    cdef double h = p.longest_s
    cdef double push = max(fabs(wanted), fabs(p.motor_nm)) + p.coulomb_nm + fabs(
        hands_torque(p, &p.path, p.angle_rad, p.rate_rad_s))
    cdef double acceleration = push * p.inverse_inertia
    if p.coulomb_nm > 0.0 and fabs(p.rate_rad_s) < (
            acceleration * gap + NEAR_CORNERS * p.coulomb_rad_s):
        h = max(SHORTEST_S, min(h, CORNER * p.coulomb_rad_s / acceleration))
    return 1 if gap <= h else <int> (gap / h) + 1


cdef void take_step(Plant *p, double t, double wanted) noexcept nogil:
    """One step, which ends at t; g1 to g4 are the increments of the stages, of x and of u."""
    cdef const StepLength *step = &p.step
    cdef double x0 = p.angle_rad
    cdef double u0 = p.rate_rad_s
    cdef double h = step.h_s
    cdef double k = step.pull
    cdef double mass = step.inertia_h
    cdef double over = p.motor_nm - wanted
    # P / J and Q / J, at the end and at 0.6
    cdef double rate1 = wanted * step.rate_wanted + over * step.rate_over
    cdef double angle1 = wanted * step.angle_wanted + over * step.angle_over
    cdef double rate06 = wanted * step.rate06_wanted + over * step.rate06_over
    cdef double angle06 = wanted * step.angle06_wanted + over * step.angle06_over
    cdef HandsPath path = p.path
    cdef double slope, drag, torque, drift, inverse, r
    cdef double x, u, g1x, g1u, g2x, g2u, g3x, g3u, g4x, g4u
    drag = friction(p, u0, &slope)
    inverse = 1.0 / (step.matrix + slope)
    # h times the derivative of the torque by time alone
    drift = h * (p.hands_stiffness * path.rate_rad_s + p.hands_damping * path.acceleration_rad_s2
                 - (p.hands_damping + slope) * p.motor_nm * p.inverse_inertia)
    torque = hands_torque(p, &path, x0, u0) - drag
    g1u = (torque + D1 * drift - k * u0) * inverse
    g1x = step.half_s * (u0 + g1u)

    x = x0 + A21 * g1x
    u = u0 + A21 * g1u
    path_within(p, t - 0.4 * h, &path)
    follow_path(p, t)
    torque = hands_torque(p, &p.path, x + angle1, u + rate1) - dry(p, u + rate1)
    r = u + C21 * g1x * step.inverse_s
    g2u = (torque + C21 * mass * g1u + D2 * drift - k * r) * inverse
    g2x = step.half_s * (r + g2u)

    x = x0 + A31 * g1x + A32 * g2x
    u = u0 + A31 * g1u + A32 * g2u
    torque = hands_torque(p, &path, x + angle06, u + rate06) - dry(p, u + rate06)
    r = u + (C31 * g1x + C32 * g2x) * step.inverse_s
    g3u = (torque + mass * (C31 * g1u + C32 * g2u) + D3 * drift - k * r) * inverse
    g3x = step.half_s * (r + g3u)

    r = u + (C41 * g1x + C42 * g2x + C43 * g3x) * step.inverse_s
    g4u = (torque + mass * (C41 * g1u + C42 * g2u + C43 * g3u) + D4 * drift - k * r) * inverse
    g4x = step.half_s * (r + g4u)

    p.angle_rad = x0 + angle1 + B1 * g1x + B2 * g2x + B3 * g3x + B4 * g4x
    p.rate_rad_s = without_nothing(u0 + rate1 + B1 * g1u + B2 * g2u + B3 * g3u + B4 * g4u)
    p.motor_nm = without_nothing(wanted + over * step.motor)


cdef void be_guided(Plant *p, double t, double wanted) noexcept nogil:
    """One step of prescribed hands, which ends at t."""
    cdef double slope
    follow_path(p, t)
    p.motor_nm = without_nothing(wanted + (p.motor_nm - wanted) * p.step.motor)
    p.angle_rad = p.path.angle_rad
    p.rate_rad_s = p.path.rate_rad_s
    p.sensor_nm = (p.inertia_kg_m2 * p.path.acceleration_rad_s2
                   + friction(p, p.rate_rad_s, &slope) - p.motor_nm)


cdef void plant_advance(Plant *p, int64_t t_ns) noexcept nogil:
    """Move to t_ns in equal steps; at most 20001 of them."""
    cdef int64_t gap = t_ns - p.now_ns
    cdef double wanted = wanted_torque(p)
    cdef double h, t
    cdef int n = 1
    cdef int i
    if gap <= 0:
        return
    if gap > LONGEST_NS:
        p.now_ns = t_ns - LONGEST_NS
        gap = LONGEST_NS
        find_path(p, 1e-9 * <double> p.now_ns)
    h = 1e-9 * <double> gap
    t = 1e-9 * <double> p.now_ns
    if p.hands != PRESCRIBED:
        n = steps_within(p, h, wanted)
        h /= n
    if h != p.step.h_s:
        take_step_length(p, h)
    if p.hands == PRESCRIBED:
        be_guided(p, t + h, wanted)
    else:
        for i in range(n):
            take_step(p, t + (i + 1) * h, wanted)
        p.sensor_nm = hands_torque(p, &p.path, p.angle_rad, p.rate_rad_s)
    p.now_ns = t_ns

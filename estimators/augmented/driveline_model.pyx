"""Induction motor, double cardan shaft and load, for an A-UKF that finds the load's torque.

State [i_qs i_ds i_qr i_dr theta_m w_m theta_l w_l T_load], inputs [u_qs, u_ds] in the synchronous
frame; measured are [i_qs, i_ds, theta_m, w_m, dw_m/dt, dw_l/dt]. With sig = L_s L_r - L_M^2 and
w_r = p w_m:

    sig di/dt = A i + B u,    T_em = p L_M (i_qs i_dr - i_ds i_qr)
    J_m dw_m/dt = T_em - T_cm,    J_l dw_l/dt = T_cl - T_load,    dT_load/dt = 0
    T_is = c (w_is,m - w_is,l) + k (th_is,m - th_is,l),    T_c = T_is ratio(theta)
    th_is = atan(cos(beta) tan(theta)),    ratio = cos(beta) / (cos^2 theta + cos^2 beta sin^2 theta)

The shaft is without mass. One step is Runge's second-order one (midpoint).
"""
from cpython.pycapsule cimport PyCapsule_New
from libc.math cimport atan2, cos, floor, sin

from estimators.augmented.ukf cimport UNSCENTED_ABI, UnscentedModel

import math

import numpy as np

cdef enum:
    N_X = 9
    N_U = 2
    N_Y = 6

cdef struct Driveline:
    double stator_ohm
    double rotor_ohm
    double stator_h
    double rotor_h
    double mutual_h
    double pole_pairs
    double synchronous_rad_s
    double motor_kg_m2
    double load_kg_m2
    double stiffness_nm_rad
    double damping_nms
    double cos_beta


cdef inline double _ratio(double theta, double cos_beta) noexcept nogil:
    cdef double c = cos(theta), s = cos_beta * sin(theta)
    return cos_beta / (c * c + s * s)


cdef inline double _shaft_angle(double theta, double cos_beta) noexcept nogil:
    # atan(cos(beta) tan(theta)) on the branch of theta
    cdef double turn = 6.283185307179586 * floor(theta / 6.283185307179586 + 0.5)
    return turn + atan2(cos_beta * sin(theta), cos(theta))


cdef void _derivative(
    const Driveline *d, const double *x, const double *u, double *xd
) noexcept nogil:
    cdef double ls = d.stator_h, lr = d.rotor_h, lm = d.mutual_h, rs = d.stator_ohm
    cdef double rr = d.rotor_ohm, w = d.synchronous_rad_s, wr = d.pole_pairs * x[5]
    cdef double sig = ls * lr - lm * lm
    cdef double ratio_m = _ratio(x[4], d.cos_beta), ratio_l = _ratio(x[6], d.cos_beta)
    cdef double torque = d.pole_pairs * lm * (x[0] * x[3] - x[1] * x[2])
    cdef double shaft = (
        d.damping_nms * (ratio_m * x[5] - ratio_l * x[7])
        + d.stiffness_nm_rad * (
            _shaft_angle(x[4], d.cos_beta) - _shaft_angle(x[6], d.cos_beta)))
    cdef double a = lm * lm * (w - wr) - lr * ls * w
    cdef double b = lm * lm * w - lr * ls * (w - wr)
    xd[0] = (-lr * rs * x[0] + a * x[1] + lm * rr * x[2] - lm * lr * wr * x[3] + lr * u[0]) / sig
    xd[1] = (-a * x[0] - lr * rs * x[1] + lm * lr * wr * x[2] + lm * rr * x[3] + lr * u[1]) / sig
    xd[2] = (lm * rs * x[0] + lm * ls * wr * x[1] - ls * rr * x[2] + b * x[3] - lm * u[0]) / sig
    xd[3] = (-lm * ls * wr * x[0] + lm * rs * x[1] - b * x[2] - ls * rr * x[3] - lm * u[1]) / sig
    xd[4] = x[5]
    xd[5] = (torque - shaft * ratio_m) / d.motor_kg_m2
    xd[6] = x[7]
    xd[7] = (shaft * ratio_l - x[8]) / d.load_kg_m2
    xd[8] = 0.0


cdef void _transition(
    const void *model, const double *x, const double *u, double dt_s, double *out
) noexcept nogil:
    cdef const Driveline *d = <const Driveline *>model
    cdef double xd[N_X]
    cdef double middle[N_X]
    cdef int i
    _derivative(d, x, u, xd)
    for i in range(N_X):
        middle[i] = x[i] + 0.5 * dt_s * xd[i]
    _derivative(d, middle, u, xd)
    for i in range(N_X):
        out[i] = x[i] + dt_s * xd[i]


cdef void _measure(
    const void *model, const double *x, const double *u, double *out
) noexcept nogil:
    cdef double xd[N_X]
    _derivative(<const Driveline *>model, x, u, xd)
    out[0], out[1], out[2], out[3], out[4], out[5] = x[0], x[1], x[4], x[5], xd[5], xd[7]


cdef class DrivelineModel:
    """Induction motor, double cardan shaft in Z arrangement, load.

    Parameters
    ----------
    stator_ohm, rotor_ohm, stator_h, rotor_h, mutual_h : float
        Of the motor; mutual below both others.
    pole_pairs : int
    supply_hz : float
        Of the stator's voltage.
    motor_kg_m2, load_kg_m2 : float
    stiffness_nm_rad, damping_nms : float
        Of the intermediate shaft.
    bend_rad : float
        Angle of each cardan joint, below pi / 2.

    Raises
    ------
    ValueError
        A value that cannot be.

    Real time
    ---------
    Its functions are safe: straight code.

    Source
    ------
    Krause, Wasynczuk, Sudhoff, Analysis of Electric Machinery, 2002, chapter 4.
    """

    cdef Driveline driveline
    cdef UnscentedModel model

    def __init__(
        self, *, double stator_ohm, double rotor_ohm, double stator_h, double rotor_h,
        double mutual_h, int pole_pairs, double supply_hz, double motor_kg_m2, double load_kg_m2,
        double stiffness_nm_rad, double damping_nms, double bend_rad,
    ):
        cdef Driveline *d = &self.driveline
        if not 0.0 < mutual_h < min(stator_h, rotor_h):
            raise ValueError(f"mutual_h = {mutual_h}: must be below {stator_h} and {rotor_h}")
        if not min(stator_ohm, rotor_ohm, motor_kg_m2, load_kg_m2, stiffness_nm_rad) > 0.0:
            raise ValueError("resistances, inertias and stiffness must be positive")
        if not 0.0 <= bend_rad < math.pi / 2 or pole_pairs < 1 or not damping_nms >= 0.0:
            raise ValueError(
                f"bend_rad = {bend_rad}, pole_pairs = {pole_pairs}, damping_nms = {damping_nms}: "
                "out of range")
        d.stator_ohm, d.rotor_ohm = stator_ohm, rotor_ohm
        d.stator_h, d.rotor_h, d.mutual_h = stator_h, rotor_h, mutual_h
        d.pole_pairs, d.synchronous_rad_s = pole_pairs, 2.0 * math.pi * supply_hz
        d.motor_kg_m2, d.load_kg_m2 = motor_kg_m2, load_kg_m2
        d.stiffness_nm_rad, d.damping_nms = stiffness_nm_rad, damping_nms
        d.cos_beta = math.cos(bend_rad)
        self.model.abi, self.model.n_x, self.model.n_u = UNSCENTED_ABI, N_X, N_U
        self.model.n_y = N_Y
        self.model.transition, self.model.measure = _transition, _measure
        self.model.model = d

    def unscented_capsule(self):
        """Capsule with the `UnscentedModel`; this object must outlive it."""
        return PyCapsule_New(&self.model, b"rigloop.unscented_model", NULL)

    def derivative(self, const double[::1] x, const double[::1] u):
        """Time derivative of the state, shape (9,)."""
        cdef double[::1] out = np.empty(N_X)
        _check(x, u)
        _derivative(&self.driveline, &x[0], &u[0], &out[0])
        return np.asarray(out)

    def move(self, const double[::1] x, const double[::1] u, double dt_s, int steps=1):
        """State after `steps` midpoint steps over `dt_s` in all, shape (9,)."""
        cdef double[::1] now = np.array(x)
        cdef double[::1] then = np.empty(N_X)
        cdef int _
        _check(x, u)
        for _ in range(steps):
            _transition(&self.driveline, &now[0], &u[0], dt_s / steps, &then[0])
            now, then = then, now
        return np.array(now)

    def measure(self, const double[::1] x, const double[::1] u):
        """Return the measured outputs at a state, shape (6,)."""
        cdef double[::1] out = np.empty(N_Y)
        _check(x, u)
        _measure(&self.driveline, &x[0], &u[0], &out[0])
        return np.asarray(out)

    def ratio(self, double theta_rad):
        """Rate of the intermediate shaft over that of the outer one."""
        return _ratio(theta_rad, self.driveline.cos_beta)

    def shaft_angle(self, double theta_rad):
        """Angle of the intermediate shaft."""
        return _shaft_angle(theta_rad, self.driveline.cos_beta)


cdef _check(const double[::1] x, const double[::1] u):
    if x.shape[0] != N_X or u.shape[0] != N_U:
        raise ValueError(f"{x.shape[0]} states and {u.shape[0]} inputs for {N_X} and {N_U}")

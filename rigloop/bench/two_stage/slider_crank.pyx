"""Planar slider-crank for observers: crank torque known, force on the slider not.

    mass = J(th),   bias = J'(th) thd^2 / 2 + G(th),   known = 1,   unknown = S(th)

with uniform bars, the slider on a horizontal line through the crank's pivot, gravity downwards, and
an accelerometer on the slider: S = dx_s/dth, bias S'(th) thd^2.
"""
from cpython.pycapsule cimport PyCapsule_New
from libc.math cimport cos, sin, sqrt

from estimators.numerics.observed_model cimport MODEL_ABI, ObservedModel

import math

cdef struct Crank:
    double crank_m
    double rod_m
    double crank_kg
    double rod_kg
    double slider_kg
    double gravity


cdef struct Place:            # of a crank angle; a dash is d/dth
    double s                  # S
    double sd                 # S'
    double sdd                # S''
    double j                  # J
    double jd                 # J'
    double jdd                # J''
    double g                  # G
    double gd                 # G'


cdef Place _at(const Crank *c, double th) noexcept nogil:
    cdef double st = sin(th), ct = cos(th), k = c.crank_m / c.rod_m, half = 0.5 * c.rod_m
    # rod angle phi: sin(phi) = -k sin(th), and its derivatives
    cdef double sp = -k * st, cp = sqrt(1.0 - sp * sp)
    cdef double pd = -k * ct / cp, pdd = k * st * (1.0 - pd * pd) / cp
    cdef double pddd = 3.0 * sp * pd * pdd / cp - pd * (1.0 - pd * pd)
    # centre of the rod, per unit of crank rate
    cdef double vx = -c.crank_m * st - half * sp * pd, vy = 0.5 * c.crank_m * ct
    cdef double vxd = -c.crank_m * ct - half * (cp * pd * pd + sp * pdd)
    cdef double vyd = -0.5 * c.crank_m * st, vydd = -0.5 * c.crank_m * ct
    # (cp pd^2 + sp pdd)'
    cdef double bend = 3.0 * cp * pd * pdd - sp * pd * pd * pd + sp * pddd
    cdef double vxdd = c.crank_m * st - half * bend
    cdef double rod_inertia = c.rod_kg * c.rod_m * c.rod_m / 12.0
    cdef Place p
    p.s = -c.crank_m * st - c.rod_m * sp * pd
    p.sd = -c.crank_m * ct - c.rod_m * (cp * pd * pd + sp * pdd)
    p.sdd = c.crank_m * st - c.rod_m * bend
    p.j = (
        c.crank_kg * c.crank_m * c.crank_m / 3.0 + c.rod_kg * (vx * vx + vy * vy)
        + rod_inertia * pd * pd + c.slider_kg * p.s * p.s)
    p.jd = 2.0 * (
        c.rod_kg * (vx * vxd + vy * vyd) + rod_inertia * pd * pdd + c.slider_kg * p.s * p.sd)
    p.jdd = 2.0 * (
        c.rod_kg * (vxd * vxd + vx * vxdd + vyd * vyd + vy * vydd)
        + rod_inertia * (pdd * pdd + pd * pddd) + c.slider_kg * (p.sd * p.sd + p.s * p.sdd))
    p.g = 0.5 * (c.crank_kg + c.rod_kg) * c.gravity * c.crank_m * ct
    p.gd = -0.5 * (c.crank_kg + c.rod_kg) * c.gravity * c.crank_m * st
    return p


cdef void _sensors(
    const void *model, const double *z, const double *zd, double *sens, double *bias
) noexcept nogil:
    cdef Place p = _at(<const Crank *>model, z[0])
    sens[0], bias[0] = p.s, p.sd * zd[0] * zd[0]


cdef void _dynamics(
    const void *model, const double *z, const double *zd, double *mass, double *bias,
    double *known, double *unknown,
) noexcept nogil:
    cdef Place p = _at(<const Crank *>model, z[0])
    mass[0], bias[0] = p.j, 0.5 * p.jd * zd[0] * zd[0] + p.g
    known[0], unknown[0] = 1.0, p.s


cdef void _sensor_slopes(
    const void *model, const double *z, const double *zd, const double *zdd, double *slope
) noexcept nogil:
    cdef Place p = _at(<const Crank *>model, z[0])
    slope[0] = p.sd * zdd[0] + p.sdd * zd[0] * zd[0]
    slope[1] = 2.0 * p.sd * zd[0]


cdef void _dynamics_slopes(
    const void *model, const double *z, const double *zd, const double *force, double *slope
) noexcept nogil:
    cdef Place p = _at(<const Crank *>model, z[0])
    cdef double square = 0.5 * zd[0] * zd[0]
    cdef double zdd = (force[0] + p.s * force[1] - p.jd * square - p.g) / p.j
    slope[0] = (p.sd * force[1] - p.jdd * square - p.gd - p.jd * zdd) / p.j
    slope[1] = -p.jd * zd[0] / p.j


cdef class SliderCrank:
    """Slider-crank of two uniform bars.

    Parameters
    ----------
    crank_m, rod_m : float
        Lengths, rod longer than crank.
    crank_kg, rod_kg, slider_kg : float
        Masses, > 0.
    gravity : float, optional
        m/s^2.

    Raises
    ------
    ValueError
        A length or mass that cannot be.
    """

    cdef Crank crank
    cdef ObservedModel model

    def __init__(
        self, double crank_m, double rod_m, double crank_kg, double rod_kg, double slider_kg,
        double gravity=9.81,
    ):
        if not 0.0 < crank_m < rod_m < math.inf:
            raise ValueError(f"crank_m = {crank_m}, rod_m = {rod_m}: the rod must be the longer")
        if not min(crank_kg, rod_kg, slider_kg) > 0.0:
            raise ValueError(f"masses {crank_kg}, {rod_kg}, {slider_kg}: must be positive")
        self.crank.crank_m, self.crank.rod_m = crank_m, rod_m
        self.crank.crank_kg, self.crank.rod_kg = crank_kg, rod_kg
        self.crank.slider_kg, self.crank.gravity = slider_kg, gravity
        self.model.abi, self.model.n_dof, self.model.n_sensors = MODEL_ABI, 1, 1
        self.model.sensors, self.model.dynamics = _sensors, _dynamics
        self.model.sensor_slopes, self.model.dynamics_slopes = _sensor_slopes, _dynamics_slopes
        self.model.model = &self.crank

    def model_capsule(self):
        """Capsule with the `ObservedModel`; this object must outlive it."""
        return PyCapsule_New(&self.model, b"rigloop.observed_model", NULL)

    def place(self, double angle_rad):
        """Return S, S', J, J', G at a crank angle."""
        cdef Place p = _at(&self.crank, angle_rad)
        return p.s, p.sd, p.j, p.jd, p.g

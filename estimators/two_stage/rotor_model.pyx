"""A rotor for observers: one inertia with friction, driven by a known and an unknown torque.

    J zdd + d zd + c tanh(zd / w_c) + offset = known + unknown

measured by an angular accelerometer, S = 1, where there is one.
"""
from cpython.pycapsule cimport PyCapsule_New
from libc.math cimport tanh

from estimators.numerics.observed_model cimport MODEL_ABI, ObservedModel

import math

cdef struct Rotor:
    double inertia_kg_m2
    double viscous_nms
    double coulomb_nm
    double coulomb_rate_rad_s
    double offset_nm


cdef void _sensors(
    const void *model, const double *z, const double *zd, double *sens, double *bias
) noexcept nogil:
    sens[0], bias[0] = 1.0, 0.0


cdef void _dynamics(
    const void *model, const double *z, const double *zd, double *mass, double *bias,
    double *known, double *unknown,
) noexcept nogil:
    cdef const Rotor *r = <const Rotor *>model
    mass[0] = r.inertia_kg_m2
    bias[0] = (
        r.viscous_nms * zd[0] + r.coulomb_nm * tanh(zd[0] / r.coulomb_rate_rad_s) + r.offset_nm)
    known[0] = unknown[0] = 1.0


cdef void _sensor_slopes(
    const void *model, const double *z, const double *zd, const double *zdd, double *slope
) noexcept nogil:
    slope[0] = slope[1] = 0.0


cdef void _dynamics_slopes(
    const void *model, const double *z, const double *zd, const double *force, double *slope
) noexcept nogil:
    cdef const Rotor *r = <const Rotor *>model
    cdef double share = tanh(zd[0] / r.coulomb_rate_rad_s)
    slope[0] = 0.0
    slope[1] = -(
        r.viscous_nms + r.coulomb_nm * (1.0 - share * share) / r.coulomb_rate_rad_s
    ) / r.inertia_kg_m2


cdef class RotorModel:
    """One inertia with friction, as `rigloop identify` finds it.

    Parameters
    ----------
    inertia_kg_m2 : float
        > 0.
    viscous_nms, coulomb_nm : float, optional
        Friction.
    coulomb_rate_rad_s : float, optional
        Rate over which the Coulomb friction turns its sign, > 0.
    offset_nm : float, optional
        Torque at rest.

    Raises
    ------
    ValueError
        A value out of range.

    Real time
    ---------
    Its functions are safe: straight code.

    Source
    ------
    Armstrong-Helouvry, Dupont, Canudas de Wit 1994, doi:10.1016/0005-1098(94)90209-7.
    """

    cdef Rotor rotor
    cdef ObservedModel model

    def __init__(
        self, double inertia_kg_m2, double viscous_nms=0.0, double coulomb_nm=0.0,
        double coulomb_rate_rad_s=0.05, double offset_nm=0.0,
    ):
        if not (math.isfinite(inertia_kg_m2) and inertia_kg_m2 > 0.0):
            raise ValueError(f"inertia_kg_m2 = {inertia_kg_m2}: must be a positive number")
        if not (math.isfinite(coulomb_rate_rad_s) and coulomb_rate_rad_s > 0.0):
            raise ValueError(f"coulomb_rate_rad_s = {coulomb_rate_rad_s}: must be positive")
        self.rotor.inertia_kg_m2, self.rotor.viscous_nms = inertia_kg_m2, viscous_nms
        self.rotor.coulomb_nm, self.rotor.coulomb_rate_rad_s = coulomb_nm, coulomb_rate_rad_s
        self.rotor.offset_nm = offset_nm
        self.model.abi, self.model.n_dof, self.model.n_sensors = MODEL_ABI, 1, 1
        self.model.sensors, self.model.dynamics = _sensors, _dynamics
        self.model.sensor_slopes, self.model.dynamics_slopes = _sensor_slopes, _dynamics_slopes
        self.model.model = &self.rotor

    def model_capsule(self):
        """Capsule with the `ObservedModel`; this object must outlive it."""
        return PyCapsule_New(&self.model, b"rigloop.observed_model", NULL)

"""The model of a mechanism in an observer: two functions of (z, zd), handed over as a capsule.

z are the n independent coordinates. Hand-written models fill this in, and so can generated ones.
"""
from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.stdint cimport int64_t

cdef enum:
    MODEL_ABI = 1
    MOST_DOF = 4
    MOST_SENSORS = 4

# velocities of the measured points: sens (m, n) zd; their accelerations: sens zdd + bias (m)
ctypedef void (*sensors_fn)(
    const void *model, const double *z, const double *zd, double *sens, double *bias
) noexcept nogil

# mass (n, n) zdd + bias (n) = known (n, n) F1 + unknown (n, n) F2
ctypedef void (*dynamics_fn)(
    const void *model, const double *z, const double *zd, double *mass, double *bias,
    double *known, double *unknown
) noexcept nogil

cdef struct ObservedModel:
    int64_t abi           # MODEL_ABI of the side that made it
    int n_dof
    int n_sensors         # accelerometers, at least n_dof for a kinematic observer
    sensors_fn sensors
    dynamics_fn dynamics
    const void *model


cdef inline ObservedModel *observed_model(str name, model) except NULL:
    # the content of `model.model_capsule()`; a ValueError for a model of another build
    cdef ObservedModel *found = <ObservedModel *>PyCapsule_GetPointer(
        model.model_capsule(), b"rigloop.observed_model")
    if found.abi != MODEL_ABI:
        raise ValueError(f"{name}: model of version {found.abi}, needs {MODEL_ABI}: build it anew")
    return found

"""The model of a mechanism in an observer: two functions of (z, zd) with their slopes, handed over as a capsule.

z are the n independent coordinates. Hand-written models fill this in, and so can generated ones.
"""
from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.stdint cimport int64_t

cdef enum:
    MODEL_ABI = 2
    MOST_DOF = 4
    MOST_SENSORS = 4

# velocities of the measured points: sens (m, n) zd; their accelerations: sens zdd + bias (m)
ctypedef void (*sensors_fn)(
    const void *model, const double *z, const double *zd, double *sens, double *bias
) noexcept nogil

# slope (m, 2 n) of sens zdd + bias in z, then zd, at this zdd; exact. Asked only where `sensors` was asked just before
ctypedef void (*sensor_slopes_fn)(
    const void *model, const double *z, const double *zd, const double *zdd, double *slope
) noexcept nogil

# mass (n, n) zdd + bias (n) = known (n, n) F1 + unknown (n, n) F2
ctypedef void (*dynamics_fn)(
    const void *model, const double *z, const double *zd, double *mass, double *bias,
    double *known, double *unknown
) noexcept nogil

# slope (n, 2 n) of the zdd of this balance in z, then zd, at the forces F1, then F2 (2 n); exact,
# or NaN where the model has none
ctypedef void (*dynamics_slopes_fn)(
    const void *model, const double *z, const double *zd, const double *force, double *slope
) noexcept nogil

cdef struct ObservedModel:
    int64_t abi           # MODEL_ABI of the side that made it
    int n_dof
    int n_sensors         # accelerometers, at least n_dof for a kinematic observer
    sensors_fn sensors
    dynamics_fn dynamics
    sensor_slopes_fn sensor_slopes      # of kinematic observers and augmented filters
    dynamics_slopes_fn dynamics_slopes  # of augmented filters
    const void *model


cdef inline ObservedModel *observed_model(str name, model) except NULL:
    # the content of `model.model_capsule()`; a ValueError for a model of another build
    cdef ObservedModel *found = <ObservedModel *>PyCapsule_GetPointer(
        model.model_capsule(), b"rigloop.observed_model")
    if found.abi != MODEL_ABI:
        raise ValueError(f"{name}: model of version {found.abi}, needs {MODEL_ABI}: build it anew")
    return found

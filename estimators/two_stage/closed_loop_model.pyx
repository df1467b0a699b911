"""A generated model of a mechanism, as kinematic and force observers see one.

A place that the mechanism cannot take gives zeros: no sensitivity, no mass; slopes are NaN. There those observers hold
or walk at random, and count it as guarded. So does one too far from the last one for Newton's method to stay on its
branch, as at the start of a rig that stands elsewhere than its file: the model goes there in strides, a few at a call.
"""
from cpython.pycapsule cimport PyCapsule_New
from libc.math cimport NAN, fabs, fmax
from libc.string cimport memset

from estimators.numerics.observed_model cimport MODEL_ABI, MOST_DOF, MOST_SENSORS
from estimators.closed_loop.model cimport ObserverModel, observer_model

cdef enum:
    MOST_READINGS = 16          # of all sensors of the model
    MOST_STRIDES = 4            # in one call
    ELSEWHERE = -1              # not there yet

cdef double STRIDE = 0.1        # of a coordinate; rad or m
cdef double FAR = 1e4           # nothing that is on its way


cdef int _place(
    const ClosedLoop *loop, const double *z, const double *zd, const double *force
) noexcept nogil:
    cdef ObserverModel *m = loop.model
    cdef double x[4 * MOST_DOF]
    cdef double begin[MOST_DOF]
    cdef double way = 0.0
    cdef int i, part, parts, status, n = loop.n_z
    memset(x, 0, sizeof(x))     # where forces are taken apart, which ones act is all the same
    for i in range(2 * n if force != NULL else 0):
        x[2 * n + i] = force[i]
    for i in range(n):
        begin[i] = m.q[m.z[i]]
        if not fabs(z[i] - begin[i]) < FAR:
            return ELSEWHERE
        way = fmax(way, fabs(z[i] - begin[i]))
    parts = 1 + <int>(way / STRIDE)
    for part in range(1, min(parts, MOST_STRIDES + 1)):
        for i in range(n):
            x[i] = begin[i] + part * (z[i] - begin[i]) / parts
        status = m.place(m.self, x)
        if status:
            return status
    if parts > MOST_STRIDES:
        return ELSEWHERE
    for i in range(n):
        x[i], x[n + i] = z[i], zd[i]
    return m.place(m.self, x)


cdef void _sensors(
    const void *model, const double *z, const double *zd, double *sens, double *bias
) noexcept nogil:
    cdef const ClosedLoop *loop = <const ClosedLoop *>model
    cdef int n = loop.n_z, i, j
    cdef double sens_all[MOST_READINGS * MOST_DOF]
    cdef double bias_all[MOST_READINGS]
    if _place(loop, z, zd, NULL) or loop.model.geometry(loop.model.self, sens_all, bias_all):
        memset(sens_all, 0, sizeof(sens_all))
        memset(bias_all, 0, sizeof(bias_all))
    for i in range(MOST_SENSORS):
        if loop.row[i] < 0:
            break
        bias[i] = bias_all[loop.row[i]]
        for j in range(n):
            sens[i * n + j] = sens_all[loop.row[i] * n + j]


cdef void _dynamics(
    const void *model, const double *z, const double *zd, double *mass, double *bias,
    double *known, double *unknown,
) noexcept nogil:
    cdef const ClosedLoop *loop = <const ClosedLoop *>model
    cdef int n = loop.n_z, i, j
    cdef double share[2 * MOST_DOF * MOST_DOF]
    memset(share, 0, sizeof(share))     # of a model without forces
    if _place(loop, z, zd, NULL) or loop.model.balance(loop.model.self, mass, bias, share):
        memset(mass, 0, n * n * sizeof(double))
        memset(bias, 0, n * sizeof(double))
        memset(share, 0, sizeof(share))
    for i in range(n):
        for j in range(n):
            known[i * n + j] = share[i * 2 * n + j]
            unknown[i * n + j] = share[i * 2 * n + n + j]


cdef void _sensor_slopes(
    const void *model, const double *z, const double *zd, const double *zdd, double *slope
) noexcept nogil:
    cdef const ClosedLoop *loop = <const ClosedLoop *>model
    cdef int n = loop.n_z, i, j
    cdef double slope_all[MOST_READINGS * 2 * MOST_DOF]
    # the mechanism is where `_sensors` has put it
    if loop.model.geometry_slopes(loop.model.self, zdd, slope_all):
        # zeros would say that nothing changes
        for i in range(MOST_READINGS * 2 * n):
            slope_all[i] = NAN
    for i in range(MOST_SENSORS):
        if loop.row[i] < 0:
            break
        for j in range(2 * n):
            slope[i * 2 * n + j] = slope_all[loop.row[i] * 2 * n + j]


cdef void _dynamics_slopes(
    const void *model, const double *z, const double *zd, const double *force, double *slope
) noexcept nogil:
    cdef const ClosedLoop *loop = <const ClosedLoop *>model
    cdef ObserverModel *m = loop.model
    cdef int n = loop.n_z, i, j
    if _place(loop, z, zd, force) or m.linearise(m.self):
        for i in range(2 * n * n):
            slope[i] = NAN
        return
    for i in range(n):
        for j in range(2 * n):
            slope[i * 2 * n + j] = m.zdd_x[i * m.n_x + j]


cdef class ClosedLoopModel:
    """A generated observer model with n freedoms for `KinematicObserver` and `ForceObserver`.

    Parameters
    ----------
    model : object
        `Model()` of a module from `codegen.observers.build`, its unknown inputs the n known forces, then the
        n unknown ones; or none.

    Raises
    ------
    ValueError
        All that they cannot take of it.

    Real time
    ---------
    Its functions are safe: no allocation, no Python, bounded loops.
    """

    def __init__(self, model):
        cdef ObserverModel *m = observer_model(model)
        cdef int i
        wrong = model_mistakes(model.info)
        if wrong:
            raise ValueError("; ".join(wrong))
        rows = accelerometers(model.info)
        self.model = model
        self.loop.model, self.loop.n_z = m, <int>m.n_z
        for i in range(MOST_SENSORS):
            self.loop.row[i] = rows[i] if i < len(rows) else -1
        self.view.abi, self.view.n_dof, self.view.n_sensors = MODEL_ABI, <int>m.n_z, len(rows)
        self.view.sensors, self.view.dynamics, self.view.model = _sensors, _dynamics, &self.loop
        self.view.sensor_slopes, self.view.dynamics_slopes = _sensor_slopes, _dynamics_slopes

    def model_capsule(self):
        """Capsule with the `ObservedModel`; this object must outlive it."""
        return PyCapsule_New(&self.view, b"rigloop.observed_model", NULL)


def accelerometers(info):
    """Rows of the sensors that feel accelerations, in the readings of a model with this `info`."""
    return [row for row, feels in enumerate(info["sensor_feels"]) if feels == "acceleration"]


def model_mistakes(info):
    """Return the features of a model, given its `info`, that a two-stage observer does not support."""
    wrong = []
    n = (len(info["state_names"]) - len(info["unknown"])) // 2
    if n > MOST_DOF:
        wrong.append(f"{n} freedoms: at most {MOST_DOF}")
    if len(info["sensor_names"]) > MOST_READINGS:
        wrong.append(f"{len(info['sensor_names'])} sensors: at most {MOST_READINGS}")
    if len(accelerometers(info)) > MOST_SENSORS:
        wrong.append(f"{len(accelerometers(info))} accelerometers: at most {MOST_SENSORS}")
    if info["unknown"] and len(info["unknown"]) != 2 * n:
        wrong.append(f"{len(info['unknown'])} forces for {n} freedoms: {n} known and {n} unknown, or none")
    for path in info["nonlinear"]:
        wrong.append(f"{path}: the forces of the mechanism are not linear in it")
    return wrong

"""A mechanism as observers see it: the same lines as observer.h of the generated model.

A generated model hands out a PyCapsule named "rigloop.observer_model" that points to one of these. The functions
return 0, or a status of the mechanism's kernel; none of them allocates, locks or calls Python.
"""
from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.stdint cimport int64_t

cdef enum:
    OBSERVER_ABI = 3

ctypedef int (*observer_fn)(void *self) noexcept nogil
ctypedef int (*observer_state_fn)(void *self, const double *x) noexcept nogil
ctypedef void (*observer_follow_fn)(void *self, double *x) noexcept nogil
ctypedef void (*observer_retune_fn)(void *self) noexcept nogil
ctypedef int (*observer_geometry_fn)(void *self, double *sens, double *bias) noexcept nogil
ctypedef int (*observer_geometry_slopes_fn)(
    void *self, const double *zdd, double *slope) noexcept nogil
ctypedef int (*observer_balance_fn)(
    void *self, double *mass, double *bias, double *share) noexcept nogil
ctypedef int (*observer_pose_fn)(void *self, const double *q, const double *qd) noexcept nogil

cdef struct ObserverModel:
    int64_t abi
    int64_t bytes               # of this struct
    int64_t n_q, n_phi, n_z, n_x, n_y, n_u, n_par
    double step_s               # of the kernel
    void *self                  # first argument of the functions
    const int *z                # (n_z) number of each independent coordinate
    # cells of the model
    double *q                   # (n_q) coordinates; where `place` starts from
    double *qd                  # (n_q)
    double *qdd                 # (n_q) by `accelerate`
    double *vel_map             # (n_z, n_q) qd = vel_map^T zd
    double *zdd                 # (n_z) by `accelerate`
    double *zdd_x               # (n_z, n_x) by `linearise`
    double *y                   # (n_y) by `sense`, `sense_slopes`
    double *y_x                 # (n_y, n_x) by `sense_slopes`
    double *u                   # (n_u) inputs: position, rate, acceleration of each guide, then all signals
    double *par                 # (n_par) run-time parameters
    double *phi                 # (n_phi) by `constrain`; by `nudge` to second order the gaps that dq = vel_map dz opens
    double *phi_dot             # (n_phi)
    double *phi_q               # (n_phi, n_q)
    double *phi_dot_q           # (n_phi, n_q)
    double *y_q                 # (n_y, n_q) of sensors that read no accelerations
    double *y_qd                # (n_y, n_q)
    # independent coordinates
    observer_state_fn begin     # as place, but from the pose of the file
    observer_state_fn place     # q, qd and vel_map that belong to x
    observer_fn accelerate      # qdd, zdd
    observer_fn linearise       # zdd_x: exact slopes of zdd
    observer_fn sense           # y
    observer_fn sense_slopes    # y, y_x
    # motion and forces apart, where `place` was
    observer_geometry_fn geometry   # y = sens (n_y, n_z) zdd + bias (n_y), of sensors that feel no force
    observer_geometry_slopes_fn geometry_slopes     # (n_y, 2 n_z): of y there in z and zd, at this zdd
    observer_balance_fn balance     # mass (n_z, n_z) zdd + bias (n_z) = share (n_z, n_f) f
    # dependent coordinates
    observer_pose_fn constrain      # phi ... y_qd, y, there
    observer_pose_fn accelerate_at  # qdd there, constraints open
    observer_retune_fn retune
    # the kernel
    observer_state_fn kernel_start  # at x, assembled
    observer_fn kernel_step         # one step with the inputs u
    observer_follow_fn follow       # x, q, qd from the kernel
    observer_state_fn nudge         # correct q, qd and inputs, give them to the kernel


cdef inline ObserverModel *observer_model(model) except NULL:
    # the content of `model.capsule()`; a ValueError for a model of another build
    cdef ObserverModel *found = <ObserverModel *>PyCapsule_GetPointer(model.capsule(), b"rigloop.observer_model")
    if found.abi != OBSERVER_ABI or found.bytes != sizeof(ObserverModel):
        raise ValueError("the model is of another version, build it again")
    return found

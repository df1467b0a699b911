"""Common ground of all observers: their state in the cycle, and the contract predict / correct / reset.

A filter is three functions on an `ObserverState`. `predict` takes x and cov one step on with the inputs of the model,
`correct` folds in the samples that are there (NaN: none), `restart` begins at a state of the model. They return 0, or
a status of the mechanism's kernel; after another one than 0 the caller puts x and cov back.
"""
from libc.stdint cimport int64_t

from estimators.block cimport Cells
from estimators.closed_loop.model cimport ObserverModel
from estimators.numerics.gate cimport Gate

ctypedef int (*predict_fn)(ObserverState *s) noexcept nogil
ctypedef int (*correct_fn)(ObserverState *s, const double *sample) noexcept nogil
ctypedef int (*restart_fn)(ObserverState *s, const double *x) noexcept nogil

cdef struct ObserverState:
    Cells cells         # a sample of each sensor is given, then the known inputs
    ObserverModel *model
    predict_fn predict
    correct_fn correct
    restart_fn restart
    int n               # states of the filter: n_x of the model, or its coordinates and rates
    int n_x
    int n_y
    int n_u
    bint is_singular    # constraints leave the covariance without a root: only its diagonal is looked at
    bint is_exact       # transition matrix with the exact slopes of the accelerations
    bint is_discrete    # the linearised step is exact, by van_loan
    bint is_held        # its slopes are those of the start
    bint has_slopes     # of this start
    double step_s
    Gate gate           # by sensor
    # arrays, all in one piece of memory
    double *x           # (n)
    double *cov         # (n, n)
    double *x_before    # (n) of the last good cycle
    double *cov_before  # (n, n)
    double *start_cov   # (n, n)
    double *proc_cov    # (n, n) of one step
    double *density     # (n_x) noise densities: independent coordinates, then unknown inputs
    double *rate_noise  # (n) the same by state
    double *start_var   # (n_x)
    double *transition  # (n, n)
    double *slopes      # (n, n) of the state's rate, where it is discretised
    double *flow        # (n, n) integral of the transition over the step
    double *moved       # (n) flow times the rate
    double *meas_var    # (n_y)
    double *dx          # (n) correction of this cycle
    double *slope       # (n_y, n) of the readings
    double *reading     # (n_y) at the predicted state
    double *ph          # (n)
    double *gain        # (n)
    double *work        # see `Observer`
    double *innovation  # (n_y) of this cycle, 0 without a sample
    double *first_refused   # (n_y) innovation of the first of the samples that are being refused
    int64_t *n_agreed   # (n_y) samples in a row that the gate let in before those
    int *place_of       # (n_x) where the model's states are in x
    # of this cycle and in all
    double nis          # squared innovations over their variance, summed
    int64_t n_repaired  # covariances that had to be begun again
    int status
    double *nis_low     # (n_y + 1) bounds of nis by the number of samples
    double *nis_high

cdef int advance(void *state) noexcept nogil
cdef void forget(void *state) noexcept nogil
cdef int restart_independent(ObserverState *s, const double *x) noexcept nogil
cdef void show(ObserverState *s) noexcept nogil
cdef int fold_scalars(ObserverState *s, const double *sample) noexcept nogil
cdef void simple_transition(ObserverState *s) noexcept nogil
cdef void exact_transition(ObserverState *s) noexcept nogil
cdef void grow(ObserverState *s) noexcept nogil
cdef int find_slopes(ObserverState *s) noexcept nogil
cdef void move(ObserverState *s, double *x) noexcept nogil

"""Common ground of all observers: their state in the cycle, and the contract predict / correct / reset.

A filter is three functions on an `ObserverState`. `predict` takes x and cov one step on with the inputs of the model,
`correct` folds in the samples that are there (NaN: none), `restart` begins at a state of the model. They return 0, or
a status of the mechanism's kernel; after another one than 0 the caller puts x and cov back.
"""
from libc.stdint cimport int64_t

from estimators.closed_loop.model cimport ObserverModel

ctypedef int (*predict_fn)(ObserverState *s) noexcept nogil
ctypedef int (*correct_fn)(ObserverState *s, const double *sample) noexcept nogil
ctypedef int (*restart_fn)(ObserverState *s, const double *x) noexcept nogil

cdef struct ObserverState:
    ObserverModel *model
    predict_fn predict
    correct_fn correct
    restart_fn restart
    int n               # states of the filter: n_x of the model, or its coordinates and rates
    int n_y
    int n_u
    bint is_singular    # constraints leave the covariance without a root: only its diagonal is looked at
    bint is_exact       # transition matrix with the exact slopes of the accelerations
    double step_s
    double gate         # squared innovation over its variance above which a sample is rejected; 0: never
    int64_t patience    # samples of a sensor rejected in a row until the next one is taken
    int64_t step_ns
    int64_t last_ns     # nominal time of the last cycle; -1: there was none
    int64_t n_periods   # since the start, lost ones too
    # arrays, all in one piece of memory
    double *x           # (n)
    double *cov         # (n, n)
    double *x_before    # (n) of the last good cycle
    double *cov_before  # (n, n)
    double *start_cov   # (n, n)
    double *proc_cov    # (n, n) of one step
    double *density     # (n_x) noise densities: independent coordinates, then unknown inputs
    double *start_var   # (n_x)
    double *transition  # (n, n)
    double *meas_var    # (n_y)
    double *dx          # (n) correction of this cycle
    double *slope       # (n_y, n) of the readings
    double *reading     # (n_y) at the predicted state
    double *ph          # (n)
    double *gain        # (n)
    double *work        # see `Observer`
    double *innovation  # (n_y) of this cycle, 0 without a sample
    int64_t *n_refused  # (n_y) in a row
    int *place_of       # (n_x) where the model's states are in x
    # of this cycle and in all
    double nis          # squared innovations over their variance, summed
    int used            # samples of this cycle that went into the estimate
    int64_t n_rejected
    int64_t n_repaired  # covariances that had to be begun again
    int64_t n_done      # predictions, and samples that were used: the work of the steps
    int status
    # ports
    const double **read     # samples, their valid flags, inputs
    double **write
    double *sample          # (n_y) of this cycle
    double *value           # of WRITE ports
    double *idle            # (n_reads) value of an unconnected port
    double *nis_low         # (n_y + 1) bounds of nis by the number of samples
    double *nis_high
    double *scale           # (n_y) sample = scale * reading + offset
    double *offset
    int64_t *every          # (n_y) periods from sample to sample
    int n_x
    int n_reads
    int n_writes

cdef enum:
    MOST_LOST = 20          # periods that are made up for

cdef void advance(ObserverState *s) noexcept nogil
cdef void catch_up(ObserverState *s, int64_t t_ns) noexcept nogil
cdef int restart_independent(ObserverState *s, const double *x) noexcept nogil
cdef void show(ObserverState *s) noexcept nogil
cdef int fold_scalars(ObserverState *s, const double *sample) noexcept nogil
cdef void simple_transition(ObserverState *s) noexcept nogil
cdef void exact_transition(ObserverState *s) noexcept nogil
cdef void grow(ObserverState *s) noexcept nogil

"""The gate of a filter's samples: one that is too far from its prediction is rejected.

After `patience` consecutive ones the next one of that sensor is taken, so that an estimate that has gone astray finds
back.
"""
from libc.stdint cimport int64_t

cdef enum:
    JUMP = 10       # times the gate: an innovation beyond that is no mistake of a covariance, but another place

cdef struct Gate:
    double limit            # squared innovation over its variance above which a sample is rejected; 0: never
    int64_t patience
    int64_t *n_refused      # consecutive, of each sensor
    int64_t n_rejected      # in all
    int used                # samples of this cycle that went in


cdef inline int refused(const Gate *gate, int n) noexcept nogil:
    # sensors whose last sample was not let in
    cdef int i, found = 0
    for i in range(n):
        found += gate.n_refused[i] > 0
    return found


cdef inline bint is_jump(const Gate *gate, int i, double squared, int n_refused) noexcept nogil:
    # whether `admits` is about to let in a sample from far away for the patience alone, of a sensor that stands alone
    # against all others at the begin of this cycle: then it has jumped, where many that disagree show a wrong estimate
    return (gate.limit > 0.0 and n_refused == 1 and gate.n_refused[i] >= gate.patience
            and not squared <= JUMP * JUMP * gate.limit)


cdef inline bint admits(Gate *gate, int i, double squared) noexcept nogil:
    # squared: innovation of sensor i, over its variance
    if gate.limit > 0.0 and not 0.0 <= squared <= gate.limit and gate.n_refused[i] < gate.patience:
        gate.n_refused[i] += 1
        gate.n_rejected += 1
        return False
    gate.n_refused[i] = 0
    gate.used += 1
    return True

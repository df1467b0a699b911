"""The gate of a filter's samples: one that is too far from its prediction is rejected.

After `patience` consecutive ones the next one of that sensor is taken, so that an estimate that has gone astray finds
back.
"""
from libc.stdint cimport int64_t

cdef struct Gate:
    double limit            # squared innovation over its variance above which a sample is rejected; 0: never
    int64_t patience
    int64_t *n_refused      # consecutive, of each sensor
    int64_t n_rejected      # in all
    int used                # samples of this cycle that went in


cdef inline bint admits(Gate *gate, int i, double squared) noexcept nogil:
    # squared: innovation of sensor i, over its variance
    if gate.limit > 0.0 and not 0.0 <= squared <= gate.limit and gate.n_refused[i] < gate.patience:
        gate.n_refused[i] += 1
        gate.n_rejected += 1
        return False
    gate.n_refused[i] = 0
    gate.used += 1
    return True

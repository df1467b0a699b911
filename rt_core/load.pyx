"""A block that burns time: the load of benchmarks and of fault injection."""
from cpython.pycapsule cimport PyCapsule_New
from libc.stdint cimport int64_t, uintptr_t

from rt_core.block cimport BlockView
from rt_core.clock cimport now_ns, relax

from rt_core.block import BLOCK_ABI

cdef struct Burn:
    int64_t burn_ns
    int64_t every
    int64_t first
    int64_t step
    double *burned_ns


cdef int step_burn(void *self, int64_t t_ns) noexcept nogil:
    cdef Burn *burn = <Burn *>self
    cdef int64_t begin = now_ns()
    cdef int64_t now = begin
    if burn.step >= burn.first and (burn.step - burn.first) % burn.every == 0:
        while now - begin < burn.burn_ns:
            relax()
            now = now_ns()
    burn.step += 1
    burn.burned_ns[0] = <double>(now - begin)
    return 0


cdef class BusyBlock:
    """See load.pyi."""

    cdef readonly str name
    cdef readonly dict reads
    cdef readonly dict writes
    cdef Burn burn
    cdef BlockView view

    def __init__(self, name, burn_ns, *, every=1, first=0):
        if burn_ns < 0 or every < 1 or first < 0:
            raise ValueError(
                f"{name}: burn_ns = {burn_ns}, every = {every}, first = {first}: "
                "need burn_ns and first at least 0, every at least 1"
            )
        self.name = name
        self.reads = {}
        self.writes = {"burned_ns": f"{name}/burned_ns"}
        self.burn.burn_ns = burn_ns
        self.burn.every = every
        self.burn.first = first
        self.view.abi = BLOCK_ABI
        self.view.step = step_burn
        self.view.self = &self.burn

    def bind(self, reads, writes):
        cdef uintptr_t address = writes[0]
        self.burn.burned_ns = <double *>address

    def capsule(self):
        return PyCapsule_New(&self.view, "rigloop.block", NULL)

"""A compiled block as the loop takes it; see block.pyi."""
import numpy as np

from libc.stdint cimport int64_t, uintptr_t

from rt_core.block cimport step_fn
from rt_core.cycle_block cimport CycleBlock

ctypedef int (*prepare_fn)(void *memory) noexcept nogil


cdef struct Live:                # parameters that cells of the table hold
    step_fn step                 # of the block itself
    int64_t *memory
    int64_t n
    int64_t *cells               # address of each cell
    int64_t *places              # in the memory


cdef int step_with_live(void *self, int64_t t_ns) noexcept nogil:
    cdef Live *live = <Live *>self
    cdef int64_t i
    for i in range(live.n):
        live.memory[live.places[i]] = (<int64_t *>live.cells[i])[0]
    return live.step(live.memory, t_ns)


cdef class CompiledBlock(CycleBlock):
    """See block.pyi."""

    cdef readonly object words           # the memory of the block, and the library whose code steps it
    cdef readonly object program
    cdef int64_t[::1] _memory
    cdef tuple _read_places
    cdef tuple _write_places
    cdef Live _live
    cdef int64_t[::1] _live_cells
    cdef int64_t[::1] _live_places

    def __init__(self, name, program, words, reads, writes, read_places, write_places, live=None):
        cdef uintptr_t step = program.step
        self.name = name
        self.reads = dict(reads)
        self.writes = dict(writes)
        self.words = words
        self.program = program
        self._memory = words
        # by name: a port that is not wired keeps the address that the memory was filled with
        live = {port: live[port] for port in self.reads if port in (live or {})}
        self._read_places = tuple(None if port in live else read_places[port] for port in self.reads)
        self._write_places = tuple(write_places[port] for port in self.writes)
        for place in (*self._read_places, *self._write_places, *live.values()):
            if place is not None and not 0 <= place < self._memory.shape[0]:
                raise ValueError(f"block {name}: place {place} is outside of its memory")
        if not live:
            self.run_by(<step_fn>step, &self._memory[0], self._memory.shape[0] * sizeof(int64_t))
        else:
            self._live_cells = np.zeros(len(live), np.int64)
            self._live_places = np.array([*live.values()], np.int64)
            self._live.step, self._live.memory = <step_fn>step, &self._memory[0]
            self._live.n = len(live)
            self._live.cells, self._live.places = &self._live_cells[0], &self._live_places[0]
            self.run_by(step_with_live, &self._live, sizeof(Live))

    @property
    def is_live(self):
        return self._live.n > 0

    def prepare(self):
        cdef uintptr_t prepare = self.program.prepare
        return (<prepare_fn>prepare)(&self._memory[0]) if prepare else 0

    def bind(self, reads, writes):
        cdef uintptr_t address
        cdef int64_t n = 0
        for place, given in zip(self._read_places, reads, strict=True):
            address = given
            if place is None:    # in the order of the ports, as the places of live parameters are
                self._live_cells[n] = <int64_t>address
                n += 1
            else:
                self._memory[place] = <int64_t>address
        for place, given in zip(self._write_places, writes, strict=True):
            address = given
            self._memory[place] = <int64_t>address

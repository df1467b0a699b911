"""A compiled block as the loop takes it; see block.pyi."""
from cpython.pycapsule cimport PyCapsule_New
from libc.stdint cimport int64_t, uintptr_t

from rt_core.block cimport BlockView, step_fn

from rt_core.block import BLOCK_ABI

ctypedef int (*prepare_fn)(void *memory) noexcept nogil


cdef class CompiledBlock:
    """See block.pyi."""

    cdef readonly str name
    cdef readonly dict reads
    cdef readonly dict writes
    cdef readonly object words           # the memory of the block, and the library whose code steps it
    cdef readonly object program
    cdef int64_t[::1] _memory
    cdef tuple _read_places
    cdef tuple _write_places
    cdef BlockView view

    def __init__(self, name, program, words, reads, writes, read_places, write_places):
        cdef uintptr_t step = program.step
        self.name = name
        self.reads = dict(reads)
        self.writes = dict(writes)
        self.words = words
        self.program = program
        self._memory = words
        # by name: a port that is not wired keeps the address that the memory was filled with
        self._read_places = tuple(read_places[port] for port in self.reads)
        self._write_places = tuple(write_places[port] for port in self.writes)
        for place in (*self._read_places, *self._write_places):
            if not 0 <= place < self._memory.shape[0]:
                raise ValueError(f"block {name}: place {place} is outside of its memory")
        self.view.abi = BLOCK_ABI
        self.view.step = <step_fn>step
        self.view.self = &self._memory[0]
        self.view.bytes = self._memory.shape[0] * sizeof(int64_t)

    def prepare(self):
        cdef uintptr_t prepare = self.program.prepare
        return (<prepare_fn>prepare)(&self._memory[0]) if prepare else 0

    def bind(self, reads, writes):
        cdef uintptr_t address
        for place, given in zip(self._read_places, reads, strict=True):
            address = given
            self._memory[place] = <int64_t>address
        for place, given in zip(self._write_places, writes, strict=True):
            address = given
            self._memory[place] = <int64_t>address

    def capsule(self):
        return PyCapsule_New(&self.view, "rigloop.block", NULL)

"""Common ground of the blocks that are written in Cython; see cycle_block.pyi."""
from cpython.pycapsule cimport PyCapsule_New

from rt_core.block import BLOCK_ABI


cdef class CycleBlock:
    """See cycle_block.pyi."""

    cdef void run_by(self, step_fn step, void *state, int64_t bytes):
        # once, at the end of the subclass's own set-up; bytes as of `BlockView`
        self.view.abi, self.view.step, self.view.self, self.view.bytes = BLOCK_ABI, step, state, bytes

    def bind(self, reads, writes):
        pass

    def capsule(self):
        return PyCapsule_New(&self.view, "rigloop.block", NULL)

"""Common ground of the blocks that are written in Cython; see cycle_block.pyi."""
from cpython.pycapsule cimport PyCapsule_New

from rt_core.block import BLOCK_ABI


cdef class CycleBlock:
    """See cycle_block.pyi."""

    cdef void run_by(self, step_fn step, void *state, int64_t bytes):
        # once, at the end of the subclass's own set-up; bytes as of `BlockView`
        self.view.abi, self.view.step, self.view.self, self.view.bytes = BLOCK_ABI, step, state, bytes

    cdef int check_cells(self, reads, writes) except -1:
        if len(reads) != len(self.reads) or len(writes) != len(self.writes):
            raise ValueError(
                f"{self.name}: {len(reads)} and {len(writes)} addresses for "
                f"{len(self.reads)} read and {len(self.writes)} written ports")
        if not (all(reads) and all(writes)):
            raise ValueError(f"{self.name}: address 0")
        return 0

    def bind(self, reads, writes):
        pass

    def capsule(self):
        return PyCapsule_New(&self.view, "rigloop.block", NULL)

"""The one C contract of the project: anything that runs in a cycle is a block.

A block hands out a PyCapsule named BLOCK_CAPSULE that points to a BlockView. The block object owns the view
and whatever `self` points to; the loop keeps a reference to the block object as long as it may step it.
Generated kernels repeat these few lines, so that they compile without this package.
"""
from libc.stdint cimport int64_t

# status of a step: 0 = good; any other value is the block's own fault code, and trips the guard
ctypedef int (*step_fn)(void *self, int64_t t_ns) noexcept nogil

cdef struct BlockView:
    int64_t abi       # BLOCK_ABI of the side that made it; the loader refuses another one
    step_fn step      # never blocks, allocates, prints or touches Python; bounded
    void *self        # the block's own state, with its resolved signal pointers
    const int64_t *work   # witness: work done by all steps (iterations, frames ...), NULL: none; only step adds
    int64_t bytes         # of the memory at `self`, for the spin to touch before a step; 0: not known

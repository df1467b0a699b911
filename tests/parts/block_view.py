"""The struct behind a block's capsule, as the loop sees it."""

import ctypes
from typing import NamedTuple

from rt_core.block import BLOCK_CAPSULE


class View(NamedTuple):
    """The fields of `BlockView` in order: addresses, and the bytes of the state."""

    abi: int
    step: int
    state: int
    work: int
    bytes: int

    def call(self, t_ns=0):
        """Step the block; return its code."""
        step = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int64)(self.step)
        return step(self.state, t_ns)

    def count(self):
        """Return the count of its work."""
        return ctypes.c_int64.from_address(self.work).value


def view_of(block):
    """Read the view of a block."""
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    # the block keeps the struct, not its capsule
    return View(
        *(ctypes.c_int64 * 5).from_address(pointer(block.capsule(), BLOCK_CAPSULE.encode()))
    )

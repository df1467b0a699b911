"""A signal table for one block."""

import ctypes


class Cells:
    """Cells of a block by port: read an output, write an input."""

    def __init__(self, block):
        self.reads = {port: ctypes.c_double() for port in block.reads}
        self.writes = {port: ctypes.c_double() for port in block.writes}
        block.bind(
            *([ctypes.addressof(c) for c in group.values()] for group in (self.reads, self.writes))
        )

    def __getitem__(self, port):
        return self.writes[port].value

    def __setitem__(self, port, value):
        self.reads[port].value = value

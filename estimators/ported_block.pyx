"""Common ground of the observer blocks: name, ports, capsule. A subclass brings the step."""
from cpython.pycapsule cimport PyCapsule_New
from libc.stdint cimport int64_t, uintptr_t

import math

import numpy as np

from rt_core.block import BLOCK_ABI


def not_positive(**values):
    """Return a line for each value that is not a positive number."""
    return [f"{key} = {value}: must be a positive number" for key, value in values.items()
            if not (math.isfinite(value) and value > 0.0)]


def one_each(str key, value, int count, list mistakes):
    """Return an array of `count` positive numbers, from one for all or one each; mistakes are added to `mistakes`."""
    given = np.asarray(value, dtype=np.float64)
    if given.shape not in ((), (count,)) or not (np.isfinite(given) & (given > 0.0)).all():
        mistakes.append(f"{key} = {value}: must be a positive number, or {count}")
        given = np.ones(())
    return np.array(np.broadcast_to(given, (count,)))


def gate_mistakes(double gate_sigma, gate_patience):
    """Return a line for each wrong setting of a gate."""
    mistakes = []
    if not (math.isfinite(gate_sigma) and gate_sigma >= 0.0):
        mistakes.append(f"gate_sigma = {gate_sigma}: must be a number >= 0")
    if gate_patience < 1:
        mistakes.append(f"gate_patience = {gate_patience}: must be at least 1")
    return mistakes


cdef object square(const double *p, int n):
    """A matrix of n rows, as an array of its own."""
    return np.array([p[i] for i in range(n * n)]).reshape(n, n)


def wrong_ports(reads, writes, read_ports, write_ports):
    """Return the mistakes in the names of ports: one text for each port that does not exist."""
    return [
        f"no such {kind} port {port}: there are {', '.join(known)}"
        for kind, given, known in (("read", reads, read_ports), ("written", writes, write_ports))
        for port in given if port not in known
    ]


cdef class WiredBlock:
    """A block whose ports are cells by number; not used by itself.

    Attributes
    ----------
    name : str
    reads, writes : dict of str to str
        Port to signal path.
    read_ports, write_ports : tuple of str
        All that there are, in the order of the rows of `run`.

    Real time
    ---------
    `step` is the subclass's.
    """

    cdef wire(
        self, str name, reads, writes, read_ports, write_ports, const double **read_cells,
        double **write_cells, step_fn step, void *state,
    ):
        self.name, self.reads, self.writes = name, dict(reads), dict(writes)
        self.read_ports, self.write_ports = tuple(read_ports), tuple(write_ports)
        self.read_cells, self.write_cells = read_cells, write_cells
        self.view.abi = BLOCK_ABI
        self.view.step = step
        self.view.self = state

    cdef report(self, const int64_t *work, int64_t bytes):
        # facts for the loop about the work of `step`, and how large its state is
        self.view.work = work
        self.view.bytes = bytes

    def bind(self, reads, writes):
        """Take the address of one float64 cell per port, in port order."""
        if len(reads) != len(self.reads) or len(writes) != len(self.writes):
            raise ValueError(
                f"{self.name}: {len(reads)} and {len(writes)} addresses for "
                f"{len(self.reads)} read and {len(self.writes)} written ports")
        if not (all(reads) and all(writes)):
            raise ValueError(f"{self.name}: address 0")
        for port, address in zip(self.reads, reads):
            self.read_cells[self.read_ports.index(port)] = <const double *><uintptr_t>address
        for port, address in zip(self.writes, writes):
            self.write_cells[self.write_ports.index(port)] = <double *><uintptr_t>address

    def capsule(self):
        """Capsule with the `BlockView`; the block must outlive it."""
        return PyCapsule_New(&self.view, b"rigloop.block", NULL)


cdef class PortedBlock(WiredBlock):
    """A block with a few named ports; not used by itself."""

    cdef set_up(
        self, str name, reads, writes, read_ports, write_ports, needed, step_fn step, void *state
    ):
        # a ValueError names every wrong port at once
        mistakes = wrong_ports(reads, writes, read_ports, write_ports)
        mistakes += [f"port {port} is not connected" for port in needed if port not in reads]
        if mistakes:
            raise ValueError(f"{name}: " + "; ".join(mistakes))
        cdef int i
        for i in range(MOST_PORTS):
            self.ports.idle[i] = math.nan
            self.ports.value[i] = 0.0
            self.ports.read[i] = &self.ports.idle[i]
            self.ports.write[i] = &self.ports.value[i]
        self.wire(
            name, reads, writes, read_ports, write_ports, &self.ports.read[0], &self.ports.write[0], step,
            state)

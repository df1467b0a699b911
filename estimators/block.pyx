"""Common ground of all observers: ports, channels of sensors, lost periods, whole arrays. A subclass brings `advance`.

A state is a struct that begins with `Cells`; `lay_out` of the subclass places its arrays, `lay_out_cells` those of the
ports. Periods that the loop lost are predicted over without samples, twenty at most.
"""
from libc.math cimport NAN
from libc.stdint cimport int64_t, uintptr_t
from libc.stdlib cimport free

from estimators.numerics.arena cimport Arena, doubles, pointers, reserve, room

import numpy as np


cdef void lay_out_cells(Cells *c, Arena *arena) noexcept:
    c.channel = <SensorChannel *>room(arena, c.n_sensors * sizeof(SensorChannel))
    c.read = <const double **>pointers(arena, c.n_reads)
    c.write = <double **>pointers(arena, c.n_writes)
    c.idle = doubles(arena, c.n_reads)
    c.given = doubles(arena, c.n_reads - c.n_sensors)
    c.value = doubles(arena, c.n_writes)


cdef void _take_samples(Cells *c) noexcept nogil:
    cdef SensorChannel *channel = c.channel
    cdef int i, n = c.n_sensors
    for i in range(n):
        c.given[i] = NAN
        if c.n_periods % channel[i].every == 0 and c.read[n + i][0] == 1.0:
            c.given[i] = channel[i].scale * c.read[i][0] + channel[i].offset
    for i in range(n, c.n_reads - n):
        c.given[i] = c.read[n + i][0]


cdef void _catch_up(Cells *c, int64_t lost) noexcept nogil:
    cdef int i, _period
    c.n_periods += lost
    c.is_lost = True
    for i in range(c.n_sensors):
        c.given[i] = NAN
    for _period in range(<int>min(lost, <int64_t>MOST_LOST)):
        c.advance(c)
    c.is_lost = False
    if lost > MOST_LOST and c.forget != NULL:
        c.forget(c)
    _take_samples(c)


cdef int _step(void *self, int64_t t_ns) noexcept nogil:
    cdef Cells *c = <Cells *>self
    cdef int64_t lost = 0
    cdef int i, status
    if c.period_ns > 0 and c.last_ns >= 0:
        lost = (t_ns - c.last_ns) // c.period_ns - 1
    c.last_ns = t_ns
    _take_samples(c)
    if lost > 0:
        _catch_up(c, lost)
    c.n_periods += 1
    status = c.advance(c)
    for i in range(c.n_writes):
        c.write[i][0] = c.value[i]
    return status


cdef class EstimatorBlock(CycleBlock):
    """A block that estimates; not used by itself.

    Attributes
    ----------
    name : str
    reads, writes : dict of str to str
        Port to signal path.
    read_ports, write_ports : tuple of str
        All that there are; the written ones in the order of the columns of `run`.
    parts : dict of str to int
        The arrays that `run` takes, and their columns.

    Real time
    ---------
    `step` is safe where `advance` of the subclass is.
    """

    def __cinit__(self):
        self.memory = NULL

    def __dealloc__(self):
        free(self.memory)

    cdef int wire(
        self, str name, ports, dict parts, Cells *c, int64_t bytes, lay_out_fn lay_out, advance_fn advance,
    ) except -1:
        # ports: read and written ones, port to path, then the names of all. The sizes of the state at c are there, its
        # arrays come here; each is zero at first
        cdef Arena arena
        cdef int i
        reads, writes, read_ports, write_ports = ports
        self.name, self.reads, self.writes, self.parts = name, dict(reads), dict(writes), parts
        self.read_ports, self.write_ports = tuple(read_ports), tuple(write_ports)
        self.cells = c
        c.n_reads, c.n_writes, c.last_ns, c.advance = len(read_ports), len(write_ports), -1, advance
        arena.memory, arena.used = NULL, 0
        lay_out(c, &arena)
        self.memory = reserve(&arena)
        lay_out(c, &arena)
        for i in range(c.n_sensors):
            c.channel[i].scale, c.channel[i].every = 1.0, 1
        for i in range(c.n_reads):
            # unconnected: no sample, always a new one
            c.idle[i] = 1.0 if c.n_sensors <= i < 2 * c.n_sensors else NAN
            c.read[i] = &c.idle[i]
        for i in range(c.n_writes):
            c.write[i] = &c.value[i]
        self.run_by(_step, c, bytes)
        self.view.work = &c.n_done
        return 0

    cdef int set_channels(self, channels) except -1:
        cdef int i
        for i, channel in enumerate(channels):
            self.cells.channel[i].scale, self.cells.channel[i].offset = channel.scale, channel.offset
            self.cells.channel[i].every = channel.every
        return 0

    @property
    def covariance(self):
        """Covariance of the filter's own state, shape (n, n)."""
        cdef int i, n = self.cells.n
        return np.array([self.cells.cov[i] for i in range(n * n)]).reshape(n, n)

    def bind(self, reads, writes):
        """Take the address of one float64 cell per port, in port order."""
        self.check_cells(reads, writes)
        for port, address in zip(self.reads, reads):
            self.cells.read[self.read_ports.index(port)] = <const double *><uintptr_t>address
        for port, address in zip(self.writes, writes):
            self.cells.write[self.write_ports.index(port)] = <double *><uintptr_t>address

    def run(self, *given):
        """Advance over whole arrays, one cycle a row, as `step` would; ports and channels are left alone.

        Parameters
        ----------
        *given : ndarray of float64, shape (n_cycles, columns)
            One array for each of `parts`, in that order. NaN, or an array that is left out: there is none.

        Returns
        -------
        ndarray of float64, shape (n_cycles, n_ports)
            The outputs of each cycle, in the order of `write_ports`.

        Raises
        ------
        ValueError
            A shape is wrong.

        Real time
        ---------
        Not safe: allocates the result. The loop itself holds no GIL.
        """
        cdef Cells *c = self.cells
        cdef double *place = c.given
        cdef double *value = c.value
        cdef Py_ssize_t count = len(given[0]), k
        shapes = [(count, columns) for columns in self.parts.values()]
        if [array.shape for array in given] != shapes[:len(given)]:
            raise ValueError(
                f"{self.name}: arrays of shapes {[array.shape for array in given]}, needs "
                f"{dict(zip(self.parts, shapes))}")
        together = np.full((count, c.n_reads - c.n_sensors), NAN)
        at = 0
        for array in given:
            together[:, at:at + array.shape[1]] = array
            at += array.shape[1]
        cdef double[:, ::1] rows = together
        cdef double[:, ::1] out = np.empty((count, c.n_writes))
        with nogil:
            for k in range(count):
                c.given, c.value = &rows[k, 0], &out[k, 0]
                c.advance(c)
        c.given, c.value = place, value
        return np.asarray(out)

"""The cell that an exchange reads or writes for each port, in the order of `bus_ports.ports`; and the cells that
no cycle changes."""
from libc.math cimport NAN

from io_bridge.exchange.drive_io cimport (
    N_DRIVE_READS, N_DRIVE_WRITES, SENSOR, TORQUE_ACTUAL, VELOCITY, DriveIo,
)
from io_bridge.exchange.cycle cimport (
    BUS_DC_ERROR, BUS_RING_BREAKS, BUS_RING_NEAR, BUS_RING_OPEN, BUS_WKC_EXPECTED, N_BUS_WRITES,
    ExchangeState,
)
from io_bridge.exchange.slave_io cimport N_SLAVE_WRITES, slave_reset
from io_bridge.exchange.terminal_io cimport TerminalIo


cdef int own_cells(ExchangeState *x, int n_reads, int n_writes) except -1:
    """Connect cells of the exchange's own: a bus can be kept alive without a signal table."""
    own = <size_t> &x.unbound[0]
    return connect_cells(x, [own + 8 * i for i in range(n_reads)],
                         [own + 8 * (n_reads + i) for i in range(n_writes)])


cdef int connect_cells(ExchangeState *x, list reads, list writes) except -1:
    """Hand out the addresses of the cells."""
    cdef TerminalIo *t
    cdef int i, n
    cdef int drive = 0
    cdef int terminal = 0
    read, write = iter(reads), iter(writes)
    for n in range(x.n_slaves):
        for i in range(N_SLAVE_WRITES):
            x.slaves[n].writes[i] = <double *> <size_t> next(write)
        if drive < x.n_drives and x.drives[drive].slave == n:
            for i in range(N_DRIVE_READS):
                x.drives[drive].reads[i] = <double *> <size_t> next(read)
            for i in range(N_DRIVE_WRITES):
                x.drives[drive].writes[i] = <double *> <size_t> next(write)
            drive += 1
        else:
            t = &x.terminals[terminal]
            for i in range(t.n_outputs):
                t.outputs[i].cell = <double *> <size_t> next(read)
            for i in range(t.n_inputs):
                t.inputs[i].cell = <double *> <size_t> next(write)
            terminal += 1
    for i in range(N_BUS_WRITES):
        x.writes[i] = <double *> <size_t> next(write)
    fill_cells(x)
    return 0


cdef void fill_cells(ExchangeState *x) noexcept:
    """Cells that no cycle changes: expected counters, and NaN for objects that are not mapped."""
    cdef DriveIo *d
    cdef int i
    cdef double expected = x.n_ring
    for i in range(x.n_slaves):
        slave_reset(&x.slaves[i])
        if x.slaves[i].joined:
            continue
        expected += (x.slaves[i].inputs_at > 0) + (x.slaves[i].outputs_at > 0)
    for i in range(x.n_drives):
        d = &x.drives[i]
        if d.i_velocity < 0:
            d.writes[VELOCITY][0] = NAN
        if d.i_torque < 0:
            d.writes[TORQUE_ACTUAL][0] = NAN
        if d.i_sensor < 0:
            d.writes[SENSOR][0] = NAN
    # the state of all, and inputs and outputs of each
    x.writes[BUS_WKC_EXPECTED][0] = expected
    x.writes[BUS_DC_ERROR][0] = 0.0 if x.lock.on else NAN
    for i in (BUS_RING_OPEN, BUS_RING_NEAR, BUS_RING_BREAKS):
        x.writes[i][0] = NAN if x.frames.transport.ring == NULL else 0.0

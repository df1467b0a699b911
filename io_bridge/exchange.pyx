"""The cycle's one exchange with the bus: commands out, one frame, sensors in, as a block.

The frame is built once and only its payload changes: FRMW 0x0910 (clock of the first slave, proves
freshness), BRD 0x0130 (AL state of all), and per drive FPRD 0x0130 (AL status and code), LRD
(inputs), LWR (outputs), so that a wrong working counter names the drive and the direction. Outputs
live in the transmit buffer only; what comes back lies in another one and is unpacked only after
every check. Nothing is sent twice in a cycle.
"""
from collections.abc import Mapping, Sequence

from cpython.pycapsule cimport PyCapsule_New
from libc.math cimport NAN, floor, isfinite
from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memset
from posix.time cimport timespec

from io_bridge.cia402 cimport OPERATION_ENABLED, UNKNOWN, DriveState, decode, next_control
from io_bridge.frame cimport (
    BRD, CYCLE_INDEX_FIRST, DATAGRAM_HEADER, FIRST_DATAGRAM, FPRD, FRMW, LRD, LWR, MAX_FRAME,
    WKC_SIZE,
    Datagram, datagram_at, frame_add, frame_begin, frame_end, frame_length,
)
from io_bridge.link cimport Link
from io_bridge.monotonic cimport monotonic_ns
from io_bridge.wire cimport get16, get32, get64, put16

from io_bridge.drive_config import DriveConfig, pdo_bytes, pdo_offset
from io_bridge.pdo_layout import SlaveLayout
from rt_core.block import BLOCK_ABI, BLOCK_CAPSULE

cdef extern from "<time.h>" nogil:
    int clock_nanosleep(int clock, int flags, const timespec *request, timespec *remain)
    enum: CLOCK_MONOTONIC
    enum: TIMER_ABSTIME

cdef extern from * nogil:
    """
    static int take(int *owner, int who) {
        int nobody = 0;
        return __atomic_compare_exchange_n(owner, &nobody, who, 0, __ATOMIC_ACQ_REL,
                                           __ATOMIC_ACQUIRE);
    }
    static void release(int *owner) {
        __atomic_store_n(owner, 0, __ATOMIC_RELEASE);
    }
    static void raise_flag(int *flag, int value) {
        __atomic_store_n(flag, value, __ATOMIC_RELEASE);
    }
    static int flag_up(int *flag) {
        return __atomic_load_n(flag, __ATOMIC_ACQUIRE);
    }
    """
    bint take(int *owner, int who)
    void release(int *owner)
    void raise_flag(int *flag, int value)
    int flag_up(int *flag)

cdef enum:                        # owners of the frame
    KEEPER = 1
    CYCLE = 2

cdef enum:                        # fault codes of step
    FAULT_NOT_READY = 1
    FAULT_LOST = 2
    FAULT_WKC = 3
    FAULT_STALE = 4
    FAULT_AL = 5
    FAULT_DRIVE = 6
    FAULT_COMMAND = 7

cdef bytes _capsule_name_bytes = BLOCK_CAPSULE.encode()
cdef const char *_capsule_name = _capsule_name_bytes

FAULTS = {
    FAULT_NOT_READY: "the bus was not brought up",
    FAULT_LOST: "frames lost or late beyond the limit",
    FAULT_WKC: "working counter wrong beyond the limit",
    FAULT_STALE: "the slaves' clock stands still: old data under right counters",
    FAULT_AL: "a slave left OP",
    FAULT_DRIVE: "a drive reports a fault",
    FAULT_COMMAND: "the torque command is not a finite number",
}
"""Fault code of `step` in words."""

DRIVE_READS = ("torque_nm", "enable", "reset")
DRIVE_WRITES = (
    "position_count", "valid", "velocity_count_s", "torque_actual_nm", "statusword", "operational",
    "al_state", "al_code", "wkc", "wkc_expected", "sensor_torque_nm",
)
BUS_WRITES = (
    "lost", "late", "exchange_ns", "dc_time_ns", "al_state", "wkc", "wkc_expected", "valid",
)

cdef enum:                        # positions in the tuples above
    TORQUE = 0
    ENABLE = 1
    RESET = 2
    POSITION = 0
    VALID = 1
    VELOCITY = 2
    TORQUE_ACTUAL = 3
    STATUSWORD = 4
    OPERATIONAL = 5
    AL_STATE = 6
    AL_CODE = 7
    WKC = 8
    WKC_EXPECTED = 9
    SENSOR = 10
    BUS_LOST = 0
    BUS_LATE = 1
    BUS_EXCHANGE = 2
    BUS_CLOCK = 3
    BUS_AL_STATE = 4
    BUS_WKC = 5
    BUS_WKC_EXPECTED = 6
    BUS_VALID = 7


cdef int pack(ExchangeState *x, DriveIo *d) noexcept nogil:
    """Controlword and torque of one drive into the transmit frame. Return 0, or FAULT_COMMAND."""
    cdef uint8_t *out = x.tx + d.outputs_at + DATAGRAM_HEADER
    cdef double torque = d.reads[TORQUE][0]
    cdef int enable = d.reads[ENABLE][0] > 0.5
    cdef int reset = d.reads[RESET][0] > 0.5
    cdef double permille = 0.0
    cdef int fault = 0
    if x.safe or x.owner == KEEPER:
        enable = 0
        reset = 0
    put16(out + d.o_control, next_control(d.state, enable, reset and not d.reset_before))
    d.reset_before = reset
    if not isfinite(torque):
        fault = FAULT_COMMAND
    elif enable and d.state == OPERATION_ENABLED and x.in_service and not x.fault:
        permille = torque * d.permille_per_nm
        if permille > d.peak_permille:
            permille = d.peak_permille
        elif permille < -d.peak_permille:
            permille = -d.peak_permille
    put16(out + d.o_torque, <uint16_t> <int16_t> floor(permille + 0.5))
    if d.o_mode >= 0:
        out[d.o_mode] = 10          # cyclic synchronous torque
    return fault


cdef void stamp(ExchangeState *x) noexcept nogil:
    """Give the frame its next index and take the last reply's traces out of the fields slaves count
    in."""
    cdef int at = FIRST_DATAGRAM
    x.index = <uint8_t> (CYCLE_INDEX_FIRST | (x.index + 1) & 0x7F)
    while at < x.size:
        x.tx[at + 1] = x.index
        at += DATAGRAM_HEADER + (get16(x.tx + at + 6) & 0x07FF) + WKC_SIZE


cdef int is_reply(const ExchangeState *x, int size) noexcept nogil:
    """The received frame answers the one sent: same chain of command, address, size and index."""
    cdef Datagram sent, back
    cdef int at = FIRST_DATAGRAM
    if frame_length(x.rx, size) != x.size:
        return 0
    while True:
        if datagram_at(x.tx, x.size, at, &sent) or datagram_at(x.rx, x.size, at, &back):
            return 0
        # slaves count up the position field of a broadcast; the register must be the same
        if (back.command != sent.command or back.index != sent.index or back.size != sent.size
                or back.more != sent.more or back.address >> 16 != sent.address >> 16
                or (sent.command != BRD and back.address != sent.address)):
            return 0
        if not sent.more:
            return 1
        at = sent.next


cdef int await_reply(ExchangeState *x, int64_t deadline_ns) noexcept nogil:
    """Wait for the reply to the frame sent; an older one counts as late. Return 1, or 0 at the
    deadline."""
    cdef int size
    while True:
        size = x.transport.receive(x.transport.self, x.rx, MAX_FRAME, deadline_ns)
        if size <= 0:
            return 0
        if is_reply(x, size):
            return 1
        x.late += 1


cdef int wkc_at(const ExchangeState *x, int at) noexcept nogil:
    return get16(x.rx + at + DATAGRAM_HEADER + (get16(x.rx + at + 6) & 0x07FF))


cdef int unpack(ExchangeState *x, DriveIo *d) noexcept nogil:
    """One drive's part of a reply into its cells. Return 1 when its data are valid."""
    cdef const uint8_t *data = x.rx + d.inputs_at + DATAGRAM_HEADER
    cdef int wkc = wkc_at(x, d.inputs_at) + wkc_at(x, d.outputs_at)
    cdef int good = wkc_at(x, d.inputs_at) == 1 and wkc_at(x, d.outputs_at) == 1
    cdef uint32_t count
    d.writes[WKC][0] = wkc
    d.al_status = 0
    if wkc_at(x, d.al_at) == 1:
        d.al_status = get16(x.rx + d.al_at + DATAGRAM_HEADER)
        d.al_code = get16(x.rx + d.al_at + DATAGRAM_HEADER + 4)
    d.writes[AL_STATE][0] = d.al_status
    d.writes[AL_CODE][0] = d.al_code
    if not good:
        x.cause = FAULT_WKC
    elif not x.fresh:
        x.cause = FAULT_STALE
    if not good or not x.fresh:
        d.writes[VALID][0] = 0.0
        return 0
    count = get32(data + d.i_position)
    if d.sign < 0:
        count = 0 - count           # modulo 2^32, so that the turn-over stays where it is
    d.writes[POSITION][0] = <double> <int32_t> count
    d.writes[VALID][0] = 1.0
    if d.i_velocity >= 0:
        d.writes[VELOCITY][0] = d.sign * <double> <int32_t> get32(data + d.i_velocity)
    if d.i_torque >= 0:
        d.writes[TORQUE_ACTUAL][0] = <double> <int16_t> get16(data + d.i_torque) / d.permille_per_nm
    if d.i_sensor >= 0:
        d.writes[SENSOR][0] = 0.001 * d.sign * <double> <int32_t> get32(data + d.i_sensor)
    d.writes[STATUSWORD][0] = get16(data + d.i_status)
    d.state = decode(get16(data + d.i_status))
    d.writes[OPERATIONAL][0] = d.state == OPERATION_ENABLED
    return 1


cdef void check_clock(ExchangeState *x) noexcept nogil:
    """Data are fresh when the first slave's system time has moved on since the last reply."""
    cdef uint64_t now
    x.fresh = 1
    if x.clock_at == 0:
        return
    now = get64(x.rx + x.clock_at + DATAGRAM_HEADER)
    x.fresh = wkc_at(x, x.clock_at) >= 1 and <int64_t> (now - x.clock_ns) > 0
    if x.fresh:
        x.clock_ns = now
        x.writes[BUS_CLOCK][0] = <double> now


cdef int receive(ExchangeState *x) noexcept nogil:
    """Take the reply apart. Return 1 when every drive's data are valid."""
    cdef int i
    cdef int good = 1
    cdef int wkc = wkc_at(x, x.state_at)
    check_clock(x)
    x.writes[BUS_AL_STATE][0] = get16(x.rx + x.state_at + DATAGRAM_HEADER)
    if x.clock_at:
        wkc += wkc_at(x, x.clock_at)
    if wkc_at(x, x.state_at) != x.n_slaves:
        x.cause = FAULT_WKC
        good = 0
    for i in range(x.n_drives):
        good &= unpack(x, &x.drives[i])
        wkc += <int> x.drives[i].writes[WKC][0]
    x.writes[BUS_WKC][0] = wkc
    return good


cdef void receive_nothing(ExchangeState *x) noexcept nogil:
    """A lost frame: counters say so, the last inputs stay and are marked invalid."""
    cdef int i
    x.lost += 1
    x.cause = FAULT_LOST
    x.writes[BUS_WKC][0] = 0.0
    for i in range(x.n_drives):
        x.drives[i].writes[VALID][0] = 0.0
        x.drives[i].writes[WKC][0] = 0.0


cdef int judge(ExchangeState *x, int good, int command_fault) noexcept nogil:
    """Decide what this cycle's findings mean. Return the fault code."""
    cdef int i
    x.bad_in_row = 0 if good else x.bad_in_row + 1
    if not x.in_service:
        return 0
    if x.bad_in_row >= x.bad_limit:
        # what the drives were doing is no longer known
        for i in range(x.n_drives):
            x.drives[i].state = UNKNOWN
            x.drives[i].writes[OPERATIONAL][0] = 0.0
        return x.cause
    if good:
        for i in range(x.n_drives):
            if x.drives[i].al_status != 8:
                return FAULT_AL
            if x.drives[i].state >= <int> DriveState.FAULT_REACTION_ACTIVE:
                return FAULT_DRIVE
    elif x.fault and x.fault != FAULT_COMMAND:
        return x.fault              # not cleared by a cycle that saw nothing
    return command_fault


cdef int exchange(ExchangeState *x, int64_t t_ns) noexcept nogil:
    """One cycle. Bounded by the budget; returns the fault code."""
    cdef int64_t begin = monotonic_ns()
    cdef int command_fault = 0
    cdef int i, good
    for i in range(x.n_drives):
        command_fault |= pack(x, &x.drives[i])
    stamp(x)
    x.late += x.transport.drain(x.transport.self)
    good = 0
    if (x.transport.send(x.transport.self, x.tx, x.size, t_ns) == 0
            and await_reply(x, begin + x.budget_ns)):
        good = receive(x)
    else:
        receive_nothing(x)
    x.cycles += 1
    x.fault = judge(x, good, command_fault)
    x.writes[BUS_LOST][0] = <double> x.lost
    x.writes[BUS_LATE][0] = <double> x.late
    x.writes[BUS_VALID][0] = good
    x.writes[BUS_EXCHANGE][0] = <double> (monotonic_ns() - begin)
    return x.fault


cdef void mark_invalid(ExchangeState *x) noexcept nogil:
    cdef int i
    x.writes[BUS_VALID][0] = 0.0
    for i in range(x.n_drives):
        x.drives[i].writes[VALID][0] = 0.0


cdef int step(void *self, int64_t t_ns) noexcept nogil:
    """BlockView.step. A keeper that is in the middle of its frame costs this cycle its inputs,
    never time."""
    cdef ExchangeState *x = <ExchangeState *> self
    cdef int fault
    if not x.ready:
        mark_invalid(x)
        return FAULT_NOT_READY
    raise_flag(&x.stop_keeper, 1)
    if not take(&x.owner, CYCLE):
        mark_invalid(x)
        return 0
    fault = exchange(x, t_ns)
    release(&x.owner)
    return fault


cdef void keep(ExchangeState *x, int64_t period_ns) noexcept nogil:
    """Exchange with safe outputs at a period until asked to stop. Own thread, no Python."""
    cdef int64_t begin = monotonic_ns()
    cdef int64_t next_ns = begin
    cdef timespec wake
    while not flag_up(&x.stop_keeper):
        if take(&x.owner, KEEPER):
            exchange(x, next_ns - begin)
            release(&x.owner)
        next_ns += period_ns
        if next_ns < monotonic_ns():
            next_ns = monotonic_ns() + period_ns
        wake.tv_sec = next_ns // 1000000000
        wake.tv_nsec = next_ns % 1000000000
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &wake, NULL)


cdef class Exchange:
    """Cyclic exchange with every drive of a bus; a block.

    Ports are ``<drive>/<quantity>`` and ``<bus>/<quantity>``, see `DRIVE_READS`, `DRIVE_WRITES` and
    `BUS_WRITES`; a port's signal path is the port itself unless `paths` says otherwise. On a lost,
    late or wrong frame the inputs keep their last values and ``valid`` is 0.

    Parameters
    ----------
    drives : sequence of DriveConfig
        In ring order, 1 to 16, names differ.
    name : str
        Of the bus; prefix of its own ports.
    paths : mapping of str to str, optional
        Port to signal path.
    budget_us : float
        Longest wait for the reply.
    bad_limit : int
        Bad cycles in a row after which `step` returns a fault and the torque is zero.

    Real time
    ---------
    `step` is safe: one frame, one wait of at most the budget, no allocation, no retry.

    Source
    ------
    ETG.1000.4 (datagrams, working counter), CiA 402-2 (drive states).
    """

    def __init__(self, drives: Sequence[DriveConfig], *, name: str = "bus", paths: Mapping[str,
                 str] | None = None,
                 budget_us: float = 300.0, bad_limit: int = 3) -> None:
        cdef ExchangeState *x = &self.state
        cdef DriveIo *d
        cdef int i
        drives = tuple(drives)
        names = [drive.name for drive in drives]
        mistakes = []
        if not 1 <= len(drives) <= MAX_DRIVES:
            mistakes.append(f"{len(drives)} drives: 1 to {MAX_DRIVES} are possible")
        if len({*names, name}) != len(names) + 1:
            mistakes.append(f"names {[name, *names]} must differ")
        if not 1.0 <= budget_us <= 1e6:
            mistakes.append(f"budget_us = {budget_us}: 1 to 1000000")
        if bad_limit < 1:
            mistakes.append(f"bad_limit = {bad_limit}: at least 1")
        reads = [f"{drive}/{port}" for drive in names for port in DRIVE_READS]
        writes = [f"{drive}/{port}" for drive in names for port in DRIVE_WRITES]
        writes += [f"{name}/{port}" for port in BUS_WRITES]
        paths = dict(paths or {})
        unknown = sorted(set(paths) - set(reads) - set(writes))
        if unknown:
            known = ", ".join(reads + writes)
            mistakes.append(f"paths: no port {', '.join(unknown)}; the ports are {known}")
        if mistakes:
            raise ValueError(f"bus {name!r}: " + "; ".join(mistakes))
        self.name = name
        self.drives = drives
        self.reads = {port: paths.get(port, port) for port in reads}
        self.writes = {port: paths.get(port, port) for port in writes}
        memset(x, 0, sizeof(ExchangeState))
        x.n_drives = len(drives)
        x.budget_ns = <int64_t> (1000.0 * budget_us)
        x.bad_limit = bad_limit
        for i, drive in enumerate(drives):
            d = &x.drives[i]
            d.sign = drive.sign
            d.permille_per_nm = drive.sign * 1000.0 / drive.rated_torque_nm
            d.peak_permille = floor(1000.0 * drive.peak_torque_nm / drive.rated_torque_nm)
            d.o_control = pdo_offset(drive.rx_pdo, 0x6040)
            d.o_torque = pdo_offset(drive.rx_pdo, 0x6071)
            d.o_mode = pdo_offset(drive.rx_pdo, 0x6060)
            d.i_status = pdo_offset(drive.tx_pdo, 0x6041)
            d.i_position = pdo_offset(drive.tx_pdo, 0x6064)
            d.i_velocity = pdo_offset(drive.tx_pdo, 0x606C)
            d.i_torque = pdo_offset(drive.tx_pdo, 0x6077)
            d.i_sensor = pdo_offset(drive.tx_pdo, 0x2077)
            d.state = UNKNOWN
        # until `bind`, cells of its own: the bus can be kept alive without a signal table
        own = <size_t> &x.unbound[0]
        count = len(self.reads)
        self._connect([own + 8 * i for i in range(count)],
                      [own + 8 * (count + i) for i in range(len(self.writes))])
        self.view.abi = BLOCK_ABI
        self.view.step = step
        self.view.self = x

    cdef void _connect(self, list reads, list writes):
        cdef ExchangeState *x = &self.state
        cdef int i, j
        for i in range(x.n_drives):
            for j in range(N_DRIVE_READS):
                x.drives[i].reads[j] = <double *> <size_t> reads[i * N_DRIVE_READS + j]
            for j in range(N_DRIVE_WRITES):
                x.drives[i].writes[j] = <double *> <size_t> writes[i * N_DRIVE_WRITES + j]
        for j in range(N_BUS_WRITES):
            x.writes[j] = <double *> <size_t> writes[x.n_drives * N_DRIVE_WRITES + j]
        self._fill()

    def _fill(self) -> None:
        """Cells that no cycle changes: expected counters, and NaN for what is not mapped."""
        cdef ExchangeState *x = &self.state
        cdef DriveIo *d
        cdef int i
        for i in range(x.n_drives):
            d = &x.drives[i]
            d.writes[WKC_EXPECTED][0] = 2.0
            if d.i_velocity < 0:
                d.writes[VELOCITY][0] = NAN
            if d.i_torque < 0:
                d.writes[TORQUE_ACTUAL][0] = NAN
            if d.i_sensor < 0:
                d.writes[SENSOR][0] = NAN
        # inputs and outputs of each drive, the state and the clock of each slave
        x.writes[BUS_WKC_EXPECTED][0] = 2 * x.n_drives + x.n_slaves * (2 if x.clock_at else 1)

    def bind(self, reads: Sequence[int], writes: Sequence[int]) -> None:
        """Take the address of one float64 cell per port, in port order."""
        if len(reads) != len(self.reads) or len(writes) != len(self.writes):
            raise ValueError(f"bus {self.name!r}: {len(reads)} and {len(writes)} cells for "
                             f"{len(self.reads)} inputs and {len(self.writes)} outputs")
        if not all(reads) or not all(writes):
            raise ValueError(f"bus {self.name!r}: a cell address is 0")
        self._connect(list(reads), list(writes))

    def capsule(self):
        """Return the PyCapsule that points to this block's BlockView."""
        # a capsule keeps the pointer to its name, so the name lives as long as the module
        return PyCapsule_New(&self.view, _capsule_name, NULL)

    def configure(self, link: Link, layouts: Sequence[SlaveLayout], *, n_slaves: int,
                  clock_station: int = 0) -> None:
        """Build the cycle's frame. Outside the cycle, before the first step.

        Parameters
        ----------
        link : Link
        layouts : sequence of SlaveLayout
            One per drive.
        n_slaves : int
            All slaves in the ring, with those that are no drives.
        clock_station : int
            Station address of the reference clock; 0 = no slave has a clock, freshness rests on the
            index alone.
        """
        cdef ExchangeState *x = &self.state
        cdef DriveIo *d
        cdef int i, size
        cdef int at = FIRST_DATAGRAM
        if len(layouts) != x.n_drives:
            raise ValueError(f"bus {self.name!r}: {len(layouts)} layouts for {x.n_drives} drives")
        x.ready = 0
        frame_begin(x.tx)
        x.clock_at = 0
        if clock_station:
            x.clock_at = at
            at = frame_add(x.tx, at, FRMW, 0, 0x0910 << 16 | clock_station, 8)
        x.state_at = at
        at = frame_add(x.tx, at, BRD, 0, 0x0130 << 16, 2)
        for i, layout in enumerate(layouts):
            d = &x.drives[i]
            drive = self.drives[i]
            for size, pdo, what in ((layout.n_outputs, drive.rx_pdo, "outputs"),
                                    (layout.n_inputs, drive.tx_pdo, "inputs")):
                if size != pdo_bytes(pdo):
                    raise ValueError(f"bus {self.name!r}: {drive.name} maps {size} bytes of "
                                     f"{what}, its PDO has {pdo_bytes(pdo)}")
            d.al_at = at
            at = frame_add(x.tx, at, FPRD, 0, 0x0130 << 16 | layout.station, 6)
            d.inputs_at = at
            at = frame_add(x.tx, at, LRD, 0, layout.inputs_at, layout.n_inputs) if at > 0 else -1
            d.outputs_at = at
            at = frame_add(x.tx, at, LWR, 0, layout.outputs_at, layout.n_outputs) if at > 0 else -1
            if at < 0:
                raise ValueError(f"bus {self.name!r}: {x.n_drives} drives exceed one frame")
            d.state = UNKNOWN
        x.size = frame_end(x.tx, at)
        x.n_slaves = n_slaves
        x.clock_ns = 0
        x.bad_in_row = 0
        x.fault = 0
        x.transport = link.transport
        self.link = link
        self._fill()
        x.ready = 1

    def step(self, t_ns: int) -> int:
        """Run one cycle from Python, as the task would; return the fault code."""
        cdef int64_t t = t_ns
        cdef int fault
        with nogil:
            fault = step(&self.state, t)
        return fault

    def keep(self, period_us: float) -> None:
        """Exchange safe outputs at a period, without the GIL, until `stop_keeping` or the first
        cycle's step."""
        cdef int64_t period_ns = <int64_t> (1000.0 * period_us)
        if not self.state.ready:
            raise RuntimeError(f"bus {self.name!r}: configure it first")
        with nogil:
            keep(&self.state, period_ns)

    def stop_keeping(self, stop: bool = True) -> None:
        """Ask a running `keep` to end, or (False) allow the next one to run."""
        raise_flag(&self.state.stop_keeper, stop)

    @property
    def safe(self) -> bool:
        """True: outputs are zero torque and disable, whatever the cells say."""
        return bool(self.state.safe)

    @safe.setter
    def safe(self, value: bool) -> None:
        raise_flag(&self.state.safe, value)

    @property
    def in_service(self) -> bool:
        """True: OP was reached; a slave that leaves it is a fault, and torque may flow."""
        return bool(self.state.in_service)

    @in_service.setter
    def in_service(self, value: bool) -> None:
        self.state.bad_in_row = 0
        self.state.fault = 0
        raise_flag(&self.state.in_service, value)

    def disconnect(self) -> None:
        """Forget link and frame; `step` returns a fault from now on."""
        self.state.ready = 0
        self.state.in_service = 0
        self.link = None

    @property
    def counters(self) -> dict[str, int]:
        """Cycles, lost and late frames, bad cycles in a row, and the fault code."""
        return {"cycles": self.state.cycles, "lost": self.state.lost, "late": self.state.late,
                "bad_in_row": self.state.bad_in_row, "fault": self.state.fault}

    def drive_status(self, i: int) -> tuple[int, int, int, int]:
        """Return AL status, AL status code, statusword and working counter of drive i, as last
        seen."""
        cdef DriveIo *d
        if not 0 <= i < self.state.n_drives:
            raise IndexError(f"drive {i} of {self.state.n_drives}")
        d = &self.state.drives[i]
        return (d.al_status, d.al_code, <int> d.writes[STATUSWORD][0], <int> d.writes[WKC][0])

"""The nogil half of the exchange: pack, one frame, unpack, judge. See exchange.pyx for the
frame."""
from libc.math cimport floor, isfinite
from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from posix.time cimport timespec

from io_bridge.cia402 cimport OPERATION_ENABLED, UNKNOWN, DriveState, decode, next_control
from io_bridge.frame cimport (
    BRD, CYCLE_INDEX_FIRST, DATAGRAM_HEADER, FIRST_DATAGRAM, MAX_FRAME, WKC_SIZE, Datagram,
    datagram_at, frame_length,
)
from io_bridge.monotonic cimport monotonic_ns
from io_bridge.wire cimport get16, get32, get64, put16

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
    static void set_flag(int *flag, int value) {
        __atomic_store_n(flag, value, __ATOMIC_RELEASE);
    }
    static int flag_up(int *flag) {
        return __atomic_load_n(flag, __ATOMIC_ACQUIRE);
    }
    """
    bint take(int *owner, int who)
    void release(int *owner)
    void set_flag(int *flag, int value)
    int flag_up(int *flag)

cdef enum:                        # owners of the frame
    KEEPER = 1
    CYCLE = 2
    WATCHDOG = 3


cdef void raise_flag(int *flag, int value) noexcept nogil:
    """Set a flag that the cycle or the keeper reads."""
    set_flag(flag, value)


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
        if monotonic_ns() >= deadline_ns:
            return 0


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
    cdef int64_t sent
    cdef int command_fault = 0
    cdef int i, good
    for i in range(x.n_drives):
        command_fault |= pack(x, &x.drives[i])
    stamp(x)
    x.late += x.transport.drain(x.transport.self)
    good = 0
    sent = monotonic_ns()
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
    x.writes[BUS_SENT][0] = <double> sent
    x.writes[BUS_EXCHANGE][0] = <double> (monotonic_ns() - begin)
    return x.fault


cdef void mark_invalid(ExchangeState *x) noexcept nogil:
    cdef int i
    x.writes[BUS_VALID][0] = 0.0
    for i in range(x.n_drives):
        x.drives[i].writes[VALID][0] = 0.0


cdef int exchange_step(void *self, int64_t t_ns) noexcept nogil:
    """BlockView.step. A keeper that is in the middle of its frame costs this cycle its inputs,
    never time."""
    cdef ExchangeState *x = <ExchangeState *> self
    cdef int fault
    if not x.ready:
        mark_invalid(x)
        return FAULT_NOT_READY
    set_flag(&x.stop_keeper, 1)
    if not take(&x.owner, CYCLE):
        mark_invalid(x)
        return 0
    fault = exchange(x, t_ns)
    release(&x.owner)
    return fault


cdef int exchange_safe(void *self, int64_t t_ns) noexcept nogil:
    """Send outputs of zero torque and disable in place of a cycle that stands still; the watchdog's.

    The frame is taken from the cycle for good: if that goes on after all, it finds its inputs
    invalid and sends nothing. Replies are thrown away, so no cell is touched that the cycle may be
    reading. Return 0 when the frame has left; else the cycle stands in the middle of its exchange, and
    what it was sending is all that leaves.
    """
    cdef ExchangeState *x = <ExchangeState *> self
    cdef DriveIo *d
    cdef uint8_t *out
    cdef int i
    if not x.ready or (x.owner != WATCHDOG and not take(&x.owner, WATCHDOG)):
        return FAULT_NOT_READY
    for i in range(x.n_drives):
        d = &x.drives[i]
        out = x.tx + d.outputs_at + DATAGRAM_HEADER
        put16(out + d.o_control, next_control(d.state, 0, 0))
        put16(out + d.o_torque, 0)
    stamp(x)
    x.transport.drain(x.transport.self)
    return x.transport.send(x.transport.self, x.tx, x.size, t_ns)


cdef void exchange_keep(ExchangeState *x, int64_t period_ns) noexcept nogil:
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

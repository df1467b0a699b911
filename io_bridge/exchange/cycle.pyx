"""The nogil half of the exchange: pack, exchange, unpack, judge. See exchange.pyx for the frames."""
from libc.stdint cimport int64_t, uint64_t
from posix.time cimport timespec

from io_bridge.slaves.cia402 cimport DriveState
from io_bridge.exchange.clock_lock cimport lock_coast, lock_reset, lock_update
from io_bridge.wire.cycle_frames cimport (
    frames_exchange, frames_send, reply_data, reply_wkc, sent_data,
)
from io_bridge.exchange.drive_io cimport (
    ENABLE, RESET, DriveIo, drive_forget, drive_hold, drive_pack, drive_pack_safe, drive_unpack,
)
from io_bridge.wire.monotonic cimport monotonic_ns
from io_bridge.exchange.slave_io cimport (
    GOOD, STALE, VALID, WKC, Finding, SlaveIo, slave_missed, slave_receive,
)
from io_bridge.exchange.terminal_io cimport TerminalIo, terminal_pack, terminal_unpack
from io_bridge.wire.fields cimport get16, get64

cdef extern from "<time.h>" nogil:
    int clock_nanosleep(int clock, int flags, const timespec *request, timespec *remain)
    enum: CLOCK_MONOTONIC
    enum: TIMER_ABSTIME

cdef extern from "io_bridge/slaves/bus_fault.h" nogil:
    int64_t bus_level_after(int good, int64_t level, int64_t leak, int64_t brim)
    int bus_is_lost(int good, int64_t level, int64_t brim)
    int bus_fault(int good, int lost, int of_slaves, int cause, int of_data, int before, int of_command)

cdef extern from "io_bridge/slaves/enable_rule.h" nogil:
    int bus_allows(int safe, int kept, int clock_on, int clock_was_locked)
    int bus_is_live(int in_service, int fault)
    int drive_is_allowed(int allowed, int bus_held, int drive_held)

cdef extern from * nogil:
    """
    /* Who has them; 0: nobody had, they are taken now. */
    static int holder_or_take(int *owner, int who) {
        int holder = 0;
        __atomic_compare_exchange_n(owner, &holder, who, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
        return holder;
    }
    static int take(int *owner, int who) {
        return !holder_or_take(owner, who);
    }
    /* of a thread that asks for itself */
    static int owns(int *owner, int who) {
        return __atomic_load_n(owner, __ATOMIC_RELAXED) == who;
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
    int holder_or_take(int *owner, int who)
    bint take(int *owner, int who)
    bint owns(int *owner, int who)
    void release(int *owner)
    void set_flag(int *flag, int value)
    int flag_up(int *flag)

cdef enum:                        # owners of the frames
    NOBODY = 0
    KEEPER = 1
    CYCLE = 2
    WATCHDOG = 3
    BESIDE = 4

cdef enum:
    OP = 8
    A_SECOND_NS = 1000000000


cdef void raise_flag(int *flag, int value) noexcept nogil:
    """Set a flag that the cycle or the keeper reads."""
    set_flag(flag, value)


cdef int borrow(ExchangeState *x) noexcept nogil:
    """Take the frames for a datagram beside the cycle; a cycle that comes meanwhile counts as one whose frames are
    lost. Return 0 where somebody has them."""
    return take(&x.owner, BESIDE)


cdef void await_frames(ExchangeState *x, int64_t until_ns) noexcept nogil:
    """Wait until nobody has the frames, or until this time."""
    while not owns(&x.owner, NOBODY) and monotonic_ns() < until_ns:
        pass


cdef void give_back(ExchangeState *x) noexcept nogil:
    release(&x.owner)


cdef void arm(ExchangeState *x) noexcept nogil:
    """After a fault the drives stay disabled until every enable was taken back, or a reset was asked
    for; the outputs of terminals stay at zero until an enable comes again, or a reset."""
    cdef DriveIo *d
    cdef int i
    cdef int enabled = 0
    for i in range(x.n_drives):
        d = &x.drives[i]
        enabled |= d.reads[ENABLE][0] > 0.5
        if d.reads[RESET][0] > 0.5 and not d.reset_before:
            x.held = x.held_outputs = d.held = 0
        if not d.reads[ENABLE][0] > 0.5:
            d.held = 0
    if not enabled:
        x.held = 0
    elif not x.was_enabled:
        x.held_outputs = 0
    x.was_enabled = enabled


cdef int pack(ExchangeState *x, int64_t t_ns) noexcept nogil:
    """Every command into the frames. Return 0, or FAULT_COMMAND."""
    cdef DriveIo *d
    cdef TerminalIo *t
    cdef SlaveIo *s
    cdef int i
    cdef int not_finite
    cdef int bad = 0
    cdef int allowed = bus_allows(x.safe, owns(&x.owner, KEEPER), x.lock.on, x.lock.was_locked)
    cdef int live = bus_is_live(x.in_service, x.fault)
    arm(x)
    for i in range(x.n_drives):
        d = &x.drives[i]
        not_finite = drive_pack(d, sent_data(&x.frames, x.slaves[d.slave].outputs_at), t_ns,
                                drive_is_allowed(allowed, x.held, d.held), live)
        if not d.has_own_guard:
            bad |= not_finite
    for i in range(x.n_terminals):
        t = &x.terminals[i]
        s = &x.slaves[t.slave]
        if s.outputs_at:
            bad |= terminal_pack(t, sent_data(&x.frames, s.outputs_at),
                                 get16(x.frames.tx + s.outputs_at + 6) & 0x07FF,
                                 allowed and live and (t.resumes or not (x.held or x.held_outputs)))
    return FAULT_COMMAND if bad else NONE


cdef void check_clock(ExchangeState *x) noexcept nogil:
    """Follow the reference clock, when it answered with a new time."""
    cdef uint64_t now
    if x.clock_at == 0:
        return
    now = get64(reply_data(&x.frames, x.clock_at))
    if reply_wkc(&x.frames, x.clock_at) < 1 or now == x.clock_ns:
        if x.lock.on:
            lock_coast(&x.lock)
        return
    x.clock_ns = now
    x.writes[BUS_CLOCK][0] = <double> now
    if x.lock.on:
        lock_update(&x.lock, now)


cdef int receive(ExchangeState *x) noexcept nogil:
    """Take the replies apart. Return 1 when every slave's data are valid."""
    cdef SlaveIo *s
    cdef Finding found
    cdef int i
    cdef int good = 1
    cdef int answered = reply_wkc(&x.frames, x.state_at)
    cdef int wkc = answered
    check_clock(x)
    x.writes[BUS_AL_STATE][0] = get16(reply_data(&x.frames, x.state_at))
    if answered != x.n_ring:
        x.cause = FAULT_WKC
        x.culprit = -1
        good = 0
    for i in range(x.n_slaves):
        s = &x.slaves[i]
        found = slave_receive(s, &x.frames)
        if not s.joined:
            wkc += <int> s.writes[WKC][0]
        if found != GOOD:
            x.cause = FAULT_STALE if found == STALE else FAULT_WKC
            x.culprit = i
            good = 0
    for i in range(x.n_drives):
        s = &x.slaves[x.drives[i].slave]
        if s.writes[VALID][0] == 1.0:
            drive_unpack(&x.drives[i], reply_data(&x.frames, s.inputs_at))
    for i in range(x.n_terminals):
        s = &x.slaves[x.terminals[i].slave]
        if s.writes[VALID][0] == 1.0 and s.inputs_at:
            terminal_unpack(&x.terminals[i], reply_data(&x.frames, s.inputs_at))
    x.writes[BUS_WKC][0] = wkc
    return good


cdef void receive_nothing(ExchangeState *x) noexcept nogil:
    """A lost frame: counters say so, the last inputs stay and are marked invalid."""
    cdef int i
    x.cause = FAULT_LOST
    x.culprit = -1
    x.writes[BUS_WKC][0] = 0.0
    if x.lock.on:
        lock_coast(&x.lock)
    for i in range(x.n_slaves):
        slave_missed(&x.slaves[i])


cdef Fault fault_of_slaves(ExchangeState *x) noexcept nogil:
    """A slave that says that it is not in OP is a fault at once, whatever its counters are."""
    cdef int i
    for i in range(x.n_slaves):
        if x.slaves[i].answers and x.slaves[i].al_status != OP:
            x.culprit = i
            return FAULT_AL
    return NONE


cdef Fault fault_of_data(ExchangeState *x) noexcept nogil:
    """Return the fault that the data of a good cycle show."""
    cdef int i
    for i in range(x.n_drives):
        if x.drives[i].state >= <int> DriveState.FAULT_REACTION_ACTIVE and not x.drives[i].has_own_guard:
            x.culprit = x.drives[i].slave
            return FAULT_DRIVE
    if x.lock.on and (x.lock.waited > x.lock.patience_cycles
                      or (x.lock.was_locked and not x.lock.locked)):
        x.culprit = -1
        return FAULT_CLOCK
    return NONE


cdef Fault judge(ExchangeState *x, int good, Fault command_fault) noexcept nogil:
    """Decide the consequences of this cycle's findings."""
    cdef Fault of_slaves
    cdef Fault of_data = NONE
    cdef int lost
    cdef int i
    x.level = bus_level_after(good, x.level, x.leak, x.brim)
    if not x.in_service:
        return NONE
    lost = bus_is_lost(good, x.level, x.brim)
    of_slaves = fault_of_slaves(x)
    if of_slaves == NONE:
        if good:
            of_data = fault_of_data(x)
        elif lost:
            for i in range(x.n_drives):
                drive_forget(&x.drives[i])
    return <Fault> bus_fault(good, lost, of_slaves, x.cause, of_data, x.fault, command_fault)


cdef void hold(ExchangeState *x) noexcept nogil:
    """A fault while a command was acting: it does not act again by itself. The mode of a drive, and the fault of one
    that has a guard of its own, hold that drive alone."""
    cdef int i
    for i in range(x.n_drives):
        drive_hold(&x.drives[i])
    if x.fault == NONE:
        return
    for i in range(x.n_drives):
        if x.drives[i].moved:
            x.held = x.held_outputs = 1
    for i in range(x.n_terminals):
        if x.terminals[i].moved and not x.terminals[i].resumes:
            x.held = x.held_outputs = 1


cdef int exchange(ExchangeState *x, int64_t t_ns) noexcept nogil:
    """One cycle. Bounded by the budget; returns the fault code."""
    cdef int64_t begin = monotonic_ns()
    cdef Fault command_fault = <Fault> pack(x, t_ns)
    cdef int64_t lost = x.frames.lost
    cdef int good = 0
    # the time of the frame, for a segment whose clock is the cycle's own: nominal, as it was steered
    if frames_exchange(&x.frames, t_ns + <int64_t> x.lock.total_ns, begin + x.budget_ns):
        good = receive(x)
    else:
        receive_nothing(x)
    x.cycles += 1
    x.frames_moved += 2 * x.frames.n - (<int64_t> x.frames.lost - lost)
    x.fault = judge(x, good, command_fault)
    hold(x)
    x.writes[BUS_LOST][0] = <double> x.frames.lost
    x.writes[BUS_LATE][0] = <double> x.frames.late
    x.writes[BUS_DUPLICATED][0] = <double> x.frames.duplicated
    x.writes[BUS_VALID][0] = good
    x.writes[BUS_SENT][0] = <double> x.frames.sent_ns
    if x.lock.on:
        x.writes[BUS_DC_ERROR][0] = x.lock.error_ns
        x.writes[BUS_DC_LOCKED][0] = x.lock.locked
        x.writes[BUS_DC_STEER][0] = x.lock.steer_ns
    if x.frames.transport.ring != NULL:
        x.writes[BUS_RING_OPEN][0] = x.frames.transport.ring.open
        x.writes[BUS_RING_NEAR][0] = x.frames.transport.ring.near
        x.writes[BUS_RING_BREAKS][0] = <double> x.frames.transport.ring.breaks
    x.writes[BUS_EXCHANGE][0] = <double> (monotonic_ns() - begin)
    return x.fault


cdef void mark_invalid(ExchangeState *x) noexcept nogil:
    cdef int i
    x.writes[BUS_VALID][0] = 0.0
    for i in range(x.n_slaves):
        x.slaves[i].writes[VALID][0] = 0.0


cdef int miss(ExchangeState *x, int holder) noexcept nogil:
    """A cycle without its frames. Lent ones are a bad cycle as lost ones are; a keeper judges its own, and after the
    watchdog nothing leaves any more."""
    mark_invalid(x)
    if holder != BESIDE:
        return NONE
    x.cause = FAULT_LOST
    x.culprit = -1
    x.fault = judge(x, 0, NONE)
    hold(x)
    return x.fault


cdef int exchange_step(void *self, int64_t t_ns) noexcept nogil:
    """BlockView.step. Who has the frames costs this cycle its inputs, never time."""
    cdef ExchangeState *x = <ExchangeState *> self
    cdef int holder, fault
    if not x.ready:
        mark_invalid(x)
        return FAULT_NOT_READY
    set_flag(&x.stop_keeper, 1)
    holder = holder_or_take(&x.owner, CYCLE)
    if holder:
        return miss(x, holder)
    if x.new_phase:
        x.new_phase = 0
        lock_reset(&x.lock)
    fault = exchange(x, t_ns)
    release(&x.owner)
    return fault


cdef int exchange_safe(void *self, int64_t t_ns) noexcept nogil:
    """Send outputs of zero torque and disable in place of a cycle that stands still; the watchdog's.

    The frames are taken from the cycle for good: if the cycle continues after all, it finds its inputs
    invalid and sends nothing. Replies are thrown away, so no cell is touched that the cycle may be
    reading. Return 0 when the frames have left; else the cycle stands in the middle of its exchange, and
    only the frames that it was sending leave.
    """
    cdef ExchangeState *x = <ExchangeState *> self
    cdef TerminalIo *t
    cdef SlaveIo *s
    cdef int i
    if not x.ready or (not owns(&x.owner, WATCHDOG) and not take(&x.owner, WATCHDOG)):
        return FAULT_NOT_READY
    for i in range(x.n_drives):
        drive_pack_safe(&x.drives[i], sent_data(&x.frames, x.slaves[x.drives[i].slave].outputs_at))
    for i in range(x.n_terminals):
        t = &x.terminals[i]
        s = &x.slaves[t.slave]
        if s.outputs_at:
            terminal_pack(t, sent_data(&x.frames, s.outputs_at),
                          get16(x.frames.tx + s.outputs_at + 6) & 0x07FF, 0)
    x.frames.transport.drain(x.frames.transport.self, 0)
    return frames_send(&x.frames, t_ns)


cdef void exchange_keep(ExchangeState *x, int64_t period_ns) noexcept nogil:
    """Exchange with safe outputs at a period, steered by the lock, until asked to stop. Own thread, no
    Python."""
    cdef int64_t begin = monotonic_ns()
    cdef int64_t next_ns = begin
    cdef timespec wake
    while not flag_up(&x.stop_keeper):
        if take(&x.owner, KEEPER):
            x.new_phase = 1         # the cycle that comes after has another one
            # nominal, as a task counts: the exchange adds the steering of the lock
            exchange(x, next_ns - begin - <int64_t> x.lock.total_ns)
            release(&x.owner)
        # first a period: a steer that is longer than the exchange took is not a deadline of its own
        next_ns += period_ns
        if x.lock.on:
            next_ns += <int64_t> x.lock.steer_ns
        while next_ns <= monotonic_ns():
            next_ns += period_ns        # whole periods, so that the phase stays
        wake.tv_sec = next_ns // A_SECOND_NS
        wake.tv_nsec = next_ns % A_SECOND_NS
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &wake, NULL)

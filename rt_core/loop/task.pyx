"""The thread of one task: deadlines, skipping, and everything around the blocks of a cycle."""
from libc.stdint cimport int64_t, uint32_t

from rt_core.lateness.cause cimport NONE, Cause, Facts, begun_late
from rt_core.loop.clock cimport now_ns, thread_cpu_ns, wait_until
from rt_core.loop.cycle cimport (
    BUS_NS, CAUSE, CYCLE, ELAPSED, FAULT, FAULT_BLOCK, LATE_CYCLES, LATE_NS, OFF_CORE,
    OVERRUN_LEVEL, OVERRUN_TRIP, OVERRUNS, OVERRUNS_LATE_WAKE, SKIPPED, SPIN_NS, STEP_NS, STOP,
    CycleState, publish_image, refresh_mirrors, step_stages_timed,
)
from rt_core.loop.explain cimport Usual, explain_cycle, learn, look_at_faults
from rt_core.lateness.histogram cimport record
from rt_core.lateness.policy cimport SAFE, STOP_LOOP, count_overrun
from rt_core.shared cimport load_acquire, push_ring, store_relaxed, store_release
from rt_core.loop.spinning cimport Spun, wait_awake
from rt_core.loop.thread cimport join_thread, settle_thread, start_thread
from rt_core.lateness.trace cimport STAGES, Record, brief, trace_cycle
from rt_core.lateness.untold cimport Surplus
from rt_core.loop.warm cimport Warm

cdef extern from "<sched.h>" nogil:
    int sched_getcpu()

cdef enum:
    OFF_CORE_EVERY = 1000        # cycles between two looks at the core; plan.OFF_CORE_EVERY
    FAULT_POLICY = 1             # plan.FAULT_POLICY, plan.FAULT_OFF_CORE
    FAULT_OFF_CORE = 2
    SPIN_DUTY = 85               # percent of the period: beyond 95 the kernel takes real time away for a while
    STEER_SHARE = 100            # of a period: most that a deadline is moved in a cycle
    SHORT_NS = 20000             # wall time of a cycle below which its CPU time is not looked up

cdef inline void _steer(Thread *thread) noexcept nogil:
    # move the common zero, so that all tasks keep their phase to each other; bounded in every cycle
    cdef double most = <double>(thread.period_ns // STEER_SHARE)
    cdef double part = thread.steer[0]
    cdef int64_t whole
    if not part == part:
        return
    part = max(-most, min(most, part)) + thread.steer_rest_ns
    whole = <int64_t>part
    thread.steer_rest_ns = part - whole
    store_release(&thread.shared.shift_ns, thread.shared.shift_ns + whole)


cdef inline void _count_overrun(Thread *thread, double *image, int64_t k, int64_t skipped,
                                Cause cause) noexcept nogil:
    cdef int level
    image[OVERRUNS] += 1
    image[SKIPPED] += <double>skipped
    if cause != NONE:
        # in the order of Cause
        image[OVERRUNS_LATE_WAKE + <int>cause - 1] += 1
    level = count_overrun(&thread.policy, k, cause)
    if image[OVERRUN_TRIP] != 0:
        return                   # the level stays as it was when the policy acted
    image[OVERRUN_LEVEL] = level
    if level >= thread.policy.limit:
        if thread.policy.action == SAFE or thread.policy.action == STOP_LOOP:
            image[OVERRUN_TRIP] = image[CYCLE] + 1
        if thread.policy.action == STOP_LOOP:
            store_release(&thread.shared.stop, 1)


cdef inline void _trace(Thread *thread, const Facts *f, Cause cause) noexcept nogil:
    cdef CycleState *cycle = thread.cycle
    cdef Record seen
    cdef int i
    seen.cycle = <int64_t>cycle.image[CYCLE]
    seen.deadline_ns = f.deadline_ns - thread.shared.start_ns
    seen.cause = <uint32_t><int>cause
    seen.elapsed = brief(<int64_t>cycle.image[ELAPSED])
    seen.late_ns = brief(f.begin_ns - f.deadline_ns)
    seen.slept_ns = brief(f.woke_ns - f.deadline_ns)
    seen.wall_ns = brief(f.end_ns - f.begin_ns)
    seen.cpu_ns = brief(f.cpu_ns)
    seen.faults = brief(thread.explainer.new_faults)
    seen.denormals = 0
    for i in range(STAGES):
        seen.stage_ns[i] = seen.stage_work[i] = 0
    for i in range(cycle.n_stages):
        seen.stage_ns[min(i, STAGES - 1)] += brief(cycle.stages[i].took_ns)
        seen.stage_work[min(i, STAGES - 1)] += brief(cycle.stages[i].did)
        seen.denormals |= <uint32_t>cycle.stages[i].denormal << min(i, STAGES - 1)
    trace_cycle(&thread.trace, &seen)


cdef inline Cause _explain(Thread *thread, Facts *f, const Spun *spun, int64_t told_ns, Cause begun) noexcept nogil:
    # why the cycle outlived its period, NONE if it did not; `begun` is why it was begun late
    cdef int64_t deadline_ns = f.deadline_ns
    cdef Cause outlived
    # whole periods lost before its begin are an overrun of their own, which has its cause already
    f.deadline_ns = f.limit_ns - thread.period_ns
    outlived = explain_cycle(&thread.explainer, thread.cycle, f, spun, told_ns)
    f.deadline_ns = deadline_ns
    _trace(thread, f, begun if outlived == NONE else outlived)
    return outlived


cdef inline double _own_fault(Thread *thread, double *image) noexcept nogil:
    # faults that the loop itself finds in its task, before any block does
    if (
        thread.core >= 0 and <int64_t>image[CYCLE] % OFF_CORE_EVERY == 0
        and sched_getcpu() != thread.core
    ):
        image[OFF_CORE] += 1
    if thread.policy.action == SAFE and image[OVERRUN_TRIP] != 0:
        return FAULT_POLICY
    if thread.off_core_is_fault and image[OFF_CORE] != 0:
        return FAULT_OFF_CORE
    return 0


cdef inline int64_t _spare_spin(Thread *thread) noexcept nogil:
    # the rest of the wanted spin beside the usual work: beyond it the kernel ends the process, or stops the thread
    cdef Usual *usual = &thread.explainer.usual
    cdef int64_t work_ns = <int64_t>(usual.own_ns + usual.bus_ns + usual.rest_ns)
    return min(thread.spin_ns, max(thread.period_ns * SPIN_DUTY // 100 - work_ns, 0))


cdef void *_run(void *arg) noexcept nogil:
    cdef Thread *thread = <Thread *>arg
    cdef Shared *shared = thread.shared
    cdef CycleState *cycle = thread.cycle
    cdef double *image = cycle.image
    cdef int64_t period_ns = thread.period_ns
    cdef int64_t start_ns, now, late_ns, began_ns
    cdef int64_t explained_ns = 0
    cdef int64_t told_ns = 0     # stolen time of the spin before this cycle, as the CPU clock shows it
    cdef int64_t spin_ns
    cdef int64_t k = 0           # number of this period since the common zero
    cdef int64_t last = -1       # number of the last executed cycle
    cdef Cause outlived = NONE   # why that one outlived its period
    cdef Cause cause
    cdef Facts f
    cdef Spun spun
    cdef Surplus start
    cdef Warm warm               # a copy of its own, in this thread's stack
    cdef bint is_last = False

    spin_ns = _spare_spin(thread)
    if thread.warm != NULL:
        warm = thread.warm[0]
        warm.stack = <char *>&warm
    # the time of the start belongs to no cycle
    look_at_faults(&thread.explainer, &start)
    f.cpu_ns, f.end_ns, f.bus_wait_ns = 0, 0, thread.bus_wait_ns
    settle_thread()
    store_release(&thread.ready, 1)
    while load_acquire(&shared.start_ns) == 0:
        wait_until(now_ns() + 100000, 0)
    is_last = shared.start_ns == NEVER

    while not is_last:
        start_ns = shared.start_ns + load_acquire(&shared.shift_ns)
        f.deadline_ns = start_ns + k * period_ns
        store_release(&thread.beat_ns, f.deadline_ns)
        f.woke_ns = f.end_ns
        now = wait_awake(f.deadline_ns, spin_ns, &f.woke_ns, &warm if thread.warm != NULL else NULL,
                         thread.explains, &spun)
        f.begin_ns = now
        if thread.explains:
            f.cpu_ns = thread_cpu_ns()
            told_ns = (now - spun.begin_ns) - (f.cpu_ns - spun.cpu_ns) if spun.gap_ns > 0 else 0
            explained_ns = now_ns() - now
        late_ns = now - f.deadline_ns
        # woken periods too late: those are lost, t_ns stays with the clock
        k += late_ns // period_ns
        f.limit_ns = start_ns + (k + 1) * period_ns

        is_last = load_acquire(&shared.end) != 0
        cause = NONE
        if thread.explains and (late_ns > thread.late_limit_ns or late_ns >= period_ns):
            cause = begun_late(&f)
            image[LATE_CYCLES] += 1
        if k > last + 1:
            # the cycle before outlived its period, or else this one was begun too late
            if outlived == NONE:
                outlived = cause
            image[CAUSE] = <double><int>outlived
            _count_overrun(thread, image, k, k - last - 1, outlived)
        elif cause != NONE:
            image[CAUSE] = <double><int>cause
        image[CYCLE] += 1
        store_relaxed(&thread.beat_cycle, <int64_t>image[CYCLE])
        image[ELAPSED] = <double>(k - last)
        image[LATE_NS] = <double>late_ns
        image[SPIN_NS] = <double>spin_ns
        image[STOP] = <double>load_acquire(&shared.stop)
        image[FAULT] = _own_fault(thread, image)
        image[FAULT_BLOCK] = 0
        last = k

        refresh_mirrors(cycle)
        step_stages_timed(cycle, k * period_ns)
        if thread.steer != NULL:
            _steer(thread)
        publish_image(cycle)
        push_ring(thread.ring, thread.slots, k * period_ns, <const int64_t *>image, cycle.cells)

        f.end_ns = now_ns()
        record(thread.late, late_ns)
        record(thread.step, <int64_t>image[STEP_NS])
        record(thread.bus, <int64_t>image[BUS_NS])
        record(thread.total, f.end_ns - now)
        outlived = NONE
        if thread.explains:
            began_ns = now_ns()
            # of a short cycle nothing was taken that matters: the system call is spared
            f.cpu_ns = thread_cpu_ns() - f.cpu_ns if f.end_ns - now > SHORT_NS else f.end_ns - now
            outlived = _explain(thread, &f, &spun, told_ns, cause)
            record(thread.spin, spun.spun_ns)
            record(thread.explain, explained_ns + now_ns() - began_ns)
        else:
            f.bus_ns = <int64_t>image[BUS_NS]
            f.blocks_ns = f.bus_ns + <int64_t>image[STEP_NS]
            if f.end_ns < f.limit_ns:
                learn(&thread.explainer, cycle, &f)
        spin_ns = _spare_spin(thread)
        # the next whole period; later than k + 1 when this cycle outlived its own
        k = max(k + 1, (f.end_ns - start_ns) // period_ns + 1)

    store_release(&thread.ended, 1)
    return NULL


cdef int spawn(Thread *thread, object task, bint fifo) except -1:
    start_thread(
        &thread.id, _run, thread, f"rt:{task.name}", task.priority if fifo else 0, task.core
    )
    thread.created = True
    return 0


cdef void join(Thread *thread) noexcept:
    join_thread(thread.id)
    thread.created = False

"""Faults on purpose, from inside the cycle; a run without them has none of this in it."""
import os

from libc.stdint cimport int64_t, uintptr_t

from rt_core.cycle_block cimport CycleBlock
from rt_core.loop.clock cimport now_ns, relax, wait_until
from rt_core.shared cimport load_acquire, load_relaxed, store_relaxed, store_release
from rt_core.loop.thread cimport join_thread, pthread_t, settle_thread, start_thread


cdef extern from "<semaphore.h>" nogil:
    ctypedef struct sem_t:
        pass
    int sem_init(sem_t *semaphore, int shared, unsigned int value)
    int sem_post(sem_t *semaphore)
    int sem_wait(sem_t *semaphore)
    int sem_destroy(sem_t *semaphore)

cdef extern from "<sched.h>" nogil:
    ctypedef struct cpu_set_t:
        pass
    void CPU_ZERO(cpu_set_t *cpus)
    void CPU_SET(int cpu, cpu_set_t *cpus)
    int sched_setaffinity(int pid, size_t size, const cpu_set_t *cpus)

cdef enum:
    MOST_CELLS = 8

READS = ("arm", "own_cycle")
WRITES = ("cycle", "acting")

cdef struct Thief:               # the thread that takes the core
    pthread_t id
    bint created
    sem_t wanted
    int64_t end
    int64_t from_ns
    int64_t until_ns

cdef struct Injection:
    int act
    int64_t at_ns                # after arming
    int64_t cycles               # acting; 0: to the end
    int64_t every
    double value
    int64_t half_period_ns
    int other_core
    double *order
    const double *arm
    const double *own_cycle
    double *cycle                # in which it began
    double *acting
    double *cells[MOST_CELLS]
    double kept[MOST_CELLS]
    int n_cells
    int64_t arming               # the one that it strikes in; 0: the first, and from there on for good
    int64_t armings              # seen
    bint arm_is_up
    bint armed
    int64_t armed_ns
    int64_t n                    # cycles since it began
    Thief thief


cdef void *_take_the_core(void *arg) noexcept nogil:
    cdef Thief *thief = <Thief *>arg
    settle_thread()
    while True:
        sem_wait(&thief.wanted)
        if load_acquire(&thief.end):
            return NULL
        wait_until(load_relaxed(&thief.from_ns), 0)
        while now_ns() < load_relaxed(&thief.until_ns):
            relax()


cdef void _burn(int64_t burn_ns) noexcept nogil:
    cdef int64_t until = now_ns() + burn_ns
    while now_ns() < until:
        relax()


cdef void _call_thief(Injection *x, int64_t delay_ns) noexcept nogil:
    cdef int64_t begin = now_ns() + delay_ns
    store_relaxed(&x.thief.from_ns, begin)
    store_relaxed(&x.thief.until_ns, begin + <int64_t>x.value)
    sem_post(&x.thief.wanted)


cdef void _move(int core) noexcept nogil:
    cdef cpu_set_t cpus
    CPU_ZERO(&cpus)
    CPU_SET(core, &cpus)
    sched_setaffinity(0, sizeof(cpu_set_t), &cpus)


cdef int _act(Injection *x) noexcept nogil:
    cdef int i
    if x.act == SET:
        for i in range(x.n_cells):
            x.cells[i][0] = x.value
    elif x.act == ADD:
        for i in range(x.n_cells):
            x.cells[i][0] += x.value
    elif x.act == SCALE:
        for i in range(x.n_cells):
            x.cells[i][0] *= x.value
    elif x.act == KEEP:
        for i in range(x.n_cells):
            x.cells[i][0] = x.kept[i]
    elif x.act == BURN:
        _burn(<int64_t>x.value)
    elif x.act == HANG:
        while True:
            relax()
    elif x.act == FAIL:
        return <int>x.value
    elif x.act == MOVE:
        _move(x.other_core)
    elif x.act == STEAL:
        _call_thief(x, 0)
    elif x.act == HOLD_CORE:
        _call_thief(x, x.half_period_ns)
    elif x.act == ORDER:
        x.order[0] = x.value
    return 0


cdef void _follow_arm(Injection *x, int64_t t_ns) noexcept nogil:
    cdef bint up = x.arm[0] > 0.5
    if up and not x.arm_is_up:
        x.armings += 1
        if x.armings == (x.arming if x.arming else 1):
            x.armed = True
            x.armed_ns = t_ns
    elif not up and x.arming:
        x.armed = False
    x.arm_is_up = up


cdef int step_injection(void *self, int64_t t_ns) noexcept nogil:
    cdef Injection *x = <Injection *>self
    cdef bint acts
    cdef int i
    _follow_arm(x, t_ns)
    acts = (
        x.armed and t_ns - x.armed_ns >= x.at_ns and (x.cycles == 0 or x.n < x.cycles)
    )
    # orders of other faults stay
    if x.act == ORDER and x.acting[0] != 0:
        x.order[0] = 0
    x.acting[0] = 0
    if not acts:
        return 0
    if x.n == 0:
        x.cycle[0] = x.own_cycle[0]
        for i in range(x.n_cells):
            x.kept[i] = x.cells[i][0]
    x.n += 1
    if (x.n - 1) % x.every:
        return 0
    x.acting[0] = 1
    return _act(x)


cdef class InjectionBlock(CycleBlock):
    """See inject.pyi."""

    cdef readonly object act
    cdef object _task
    cdef object _keep
    cdef Injection injection

    def __init__(self, name, act, *, task, arm, own_cycle, at_s, cycles=1, every=1, value=0.0, cells=(),
                 order=0, keep=None, arming=0):
        mistakes = []
        if not 0 <= at_s < 1e6:
            mistakes.append(f"at_s = {at_s}: 0 to 1e6 s after arming")
        if cycles < 0 or every < 1:
            mistakes.append(f"cycles = {cycles}, every = {every}: at least 0 and 1")
        if arming < 0:
            mistakes.append(f"arming = {arming}: at least 0")
        if act in (Act.SET, Act.ADD, Act.KEEP, Act.SCALE) and not 1 <= len(cells) <= MOST_CELLS:
            mistakes.append(f"{len(cells)} cells: 1 to {MOST_CELLS}")
        if act == Act.ORDER and not order:
            mistakes.append("an order needs the address of a cell")
        if act in (Act.BURN, Act.STEAL, Act.HOLD_CORE) and not 0 < value <= 1e10:
            mistakes.append(f"value = {value}: above 0 and at most 1e10 ns")
        if act in (Act.MOVE, Act.STEAL, Act.HOLD_CORE) and task.core is None:
            mistakes.append(f"task {task.name} has no core of its own")
        others = sorted(os.sched_getaffinity(0) - {task.core})
        if act == Act.MOVE and not others:
            mistakes.append("this process has one core only")
        if mistakes:
            raise ValueError("\n".join(f"{name}: {mistake}" for mistake in mistakes))
        self.name = name
        self.act = act
        self.reads = {"arm": arm, "own_cycle": own_cycle}
        self.reads |= {f"cell{i}": path for i, path in enumerate(cells)}
        self.writes = {port: f"{name}/{port}" for port in WRITES}
        self._task = task
        self._keep = keep
        cdef Injection *x = &self.injection
        x.act = act
        x.at_ns = <int64_t>(at_s * 1e9)
        x.cycles = cycles
        x.every = every
        x.arming = arming
        x.value = value
        x.n_cells = len(cells)
        x.half_period_ns = task.period_ns // 2
        x.other_core = others[0] if others else 0
        x.order = <double *><uintptr_t>order
        self.run_by(step_injection, x, 0)

    def bind(self, reads, writes):
        cdef Injection *x = &self.injection
        cdef uintptr_t address
        cdef int i
        address = reads[0]
        x.arm = <const double *>address
        address = reads[1]
        x.own_cycle = <const double *>address
        # the cells of others: this block exists to write to them
        for i in range(x.n_cells):
            address = reads[2 + i]
            x.cells[i] = <double *>address
        address = writes[0]
        x.cycle = <double *>address
        address = writes[1]
        x.acting = <double *>address
        if self.act in (Act.STEAL, Act.HOLD_CORE) and not x.thief.created:
            sem_init(&x.thief.wanted, 0, 0)
            start_thread(
                &x.thief.id, _take_the_core, &x.thief, f"inj:{self.name}", self._task.priority + 1,
                self._task.core,
            )
            x.thief.created = True

    def __dealloc__(self):
        cdef Thief *thief = &self.injection.thief
        if thief.created:
            store_release(&thief.end, 1)
            sem_post(&thief.wanted)
            with nogil:
                join_thread(thief.id)
            sem_destroy(&thief.wanted)

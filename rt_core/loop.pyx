"""The live loop: one GIL-free POSIX thread a task, absolute deadlines from one common zero."""
import atexit
import errno
import os

from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport int64_t
from libc.stdlib cimport calloc, free

from rt_core.clock cimport now_ns, wait_until
from rt_core.cycle cimport (
    BUS_NS, CYCLE, ELAPSED, FAULT, FAULT_BLOCK, LATE_NS, OVERRUNS, SKIPPED, STEP_NS, STOP,
    Cycle, CycleState, publish_image, refresh_mirrors, step_stages_timed, wire_cycle,
)
from rt_core.histogram cimport record
from rt_core.shared cimport load_acquire, push_ring, store_release
from rt_core.table cimport SignalTable

from rt_core.layout import TableError

cdef extern from "<pthread.h>" nogil:
    ctypedef unsigned long pthread_t
    ctypedef struct pthread_attr_t:
        pass
    ctypedef struct sigset_t:
        pass
    ctypedef struct cpu_set_t:
        pass
    cdef struct sched_param:
        int sched_priority
    const int SCHED_FIFO
    const int PTHREAD_EXPLICIT_SCHED
    const int SIG_SETMASK
    void CPU_ZERO(cpu_set_t *cpus)
    void CPU_SET(int cpu, cpu_set_t *cpus)
    int pthread_attr_init(pthread_attr_t *attr)
    int pthread_attr_destroy(pthread_attr_t *attr)
    int pthread_attr_setstacksize(pthread_attr_t *attr, size_t size)
    int pthread_attr_setschedpolicy(pthread_attr_t *attr, int policy)
    int pthread_attr_setschedparam(pthread_attr_t *attr, const sched_param *param)
    int pthread_attr_setinheritsched(pthread_attr_t *attr, int inherit)
    int pthread_attr_setaffinity_np(pthread_attr_t *attr, size_t size, const cpu_set_t *cpus)
    int pthread_create(pthread_t *thread, const pthread_attr_t *attr,
                       void *(*run)(void *) noexcept nogil, void *arg)
    int pthread_join(pthread_t thread, void **result)
    int pthread_setname_np(pthread_t thread, const char *name)
    int pthread_sigmask(int how, const sigset_t *new, sigset_t *old)

cdef extern from "<signal.h>" nogil:
    int sigfillset(sigset_t *signals)

cdef extern from "<sys/prctl.h>" nogil:
    const int PR_SET_TIMERSLACK
    int prctl(int option, unsigned long value)

cdef extern from *:
    """
    #define STACK_BYTES (1 << 20)
    #define STACK_TOUCHED (512 << 10)
    /* touch the stack that a cycle may use, so that no cycle faults a page in */
    static __attribute__((noinline)) void touch_stack(void) {
        volatile char stack[STACK_TOUCHED];
        for (long i = 0; i < STACK_TOUCHED; i += 4096) stack[i] = 0;
    }
    """
    const size_t STACK_BYTES
    void touch_stack() noexcept nogil

# overrun policies
cdef enum:
    SKIP = 0
    LATCH_FAULT = 1
    STOP_LOOP = 2

cdef enum:
    NEVER = -1                   # a start_ns: some thread could not be made, so none steps

cdef struct Shared:              # what the threads of a loop and its owner tell each other
    int64_t start_ns             # common time zero; 0: not yet
    int64_t stop                 # ramp out
    int64_t end                  # this cycle is the last

cdef struct Thread:
    pthread_t id
    bint created
    int64_t ready
    int64_t ended
    Shared *shared
    CycleState *cycle
    int64_t period_ns
    int64_t spin_ns
    int overrun
    int64_t overrun_limit
    int64_t *ring
    int64_t slots
    int64_t *late
    int64_t *step
    int64_t *bus
    int64_t *total


cdef void *_run(void *arg) noexcept nogil:
    cdef Thread *thread = <Thread *>arg
    cdef Shared *shared = thread.shared
    cdef CycleState *cycle = thread.cycle
    cdef double *image = cycle.image
    cdef int64_t period_ns = thread.period_ns
    cdef int64_t start_ns, now, late_ns, end_ns
    cdef int64_t k = 0           # number of this period since the common zero
    cdef int64_t last = -1       # that of the last executed cycle
    cdef int64_t in_row = 0      # overruns in cycles on end
    cdef bint is_last = False
    cdef double fault = 0

    touch_stack()
    prctl(PR_SET_TIMERSLACK, 1)
    store_release(&thread.ready, 1)
    while load_acquire(&shared.start_ns) == 0:
        wait_until(now_ns() + 100000, 0)
    start_ns = shared.start_ns
    is_last = start_ns == NEVER

    while not is_last:
        now = wait_until(start_ns + k * period_ns, thread.spin_ns)
        late_ns = now - (start_ns + k * period_ns)
        # woken periods too late: those are lost, t_ns stays with the clock
        k += late_ns // period_ns

        is_last = load_acquire(&shared.end) != 0
        in_row = in_row + 1 if k > last + 1 else 0
        if k > last + 1:
            image[OVERRUNS] += 1
            image[SKIPPED] += <double>(k - last - 1)
            if in_row >= thread.overrun_limit:
                if thread.overrun == LATCH_FAULT:
                    fault = 1
                elif thread.overrun == STOP_LOOP:
                    store_release(&shared.stop, 1)
        image[CYCLE] += 1
        image[ELAPSED] = <double>(k - last)
        image[LATE_NS] = <double>late_ns
        image[STOP] = <double>load_acquire(&shared.stop)
        image[FAULT] = fault
        image[FAULT_BLOCK] = 0
        last = k

        refresh_mirrors(cycle)
        step_stages_timed(cycle, k * period_ns)
        publish_image(cycle)
        push_ring(thread.ring, thread.slots, k * period_ns, <const int64_t *>image, cycle.cells)

        end_ns = now_ns()
        record(thread.late, late_ns)
        record(thread.step, <int64_t>image[STEP_NS])
        record(thread.bus, <int64_t>image[BUS_NS])
        record(thread.total, end_ns - now)
        # the next whole period; later than k + 1 when this cycle outlived its own
        k = max(k + 1, (end_ns - start_ns) // period_ns + 1)

    store_release(&thread.ended, 1)
    return NULL


# loops with living threads, which use memory that must not go away; also those that could not be
# ended
_running = set()


@atexit.register
def _stop_all():
    for loop in list(_running):
        loop.stop()


cdef class Loop:
    """See loop.pyi."""

    cdef readonly object plan
    cdef readonly SignalTable table
    cdef readonly bint fifo
    cdef readonly double stop_timeout_s
    cdef object _safe            # where the signal is that says the output is at rest
    cdef list _cycles
    cdef Thread *_threads
    cdef int _n
    cdef Shared _shared
    cdef bint _started

    def __cinit__(self):
        self._cycles = []

    def __init__(self, plan, SignalTable table, *, fifo=False, safe=None, stop_timeout_s=1.0):
        if not table.writable:
            raise TableError(f"{table.path}: attached for reading; attach with writable=True")
        if table.producers != plan.producers:
            raise TableError(f"{table.path}: made from another plan than this loop's")
        self.plan = plan
        self.table = table
        self.fifo = fifo
        self.stop_timeout_s = stop_timeout_s
        self._safe = None if safe is None else _find(plan, safe)
        self._threads = <Thread *>calloc(len(plan.tasks), sizeof(Thread))
        if self._threads == NULL:
            raise MemoryError()
        for task in plan.tasks:
            self._add(task)

    cdef int _add(self, object task) except -1:
        cdef Cycle cycle = wire_cycle(task, self.table.layout, self.table.words, True)
        cdef Thread *thread = &self._threads[self._n]
        cdef int64_t *words = self.table.words
        area = cycle.area
        thread.shared = &self._shared
        thread.cycle = &cycle.state
        thread.period_ns = task.period_ns
        thread.spin_ns = task.spin_ns
        thread.overrun = {"skip": SKIP, "fault": LATCH_FAULT, "stop": STOP_LOOP}[task.overrun]
        thread.overrun_limit = task.overrun_limit
        thread.ring = words + <int64_t>area.ring
        thread.slots = task.slots
        thread.late = words + <int64_t>area.histograms["late"]
        thread.step = words + <int64_t>area.histograms["step"]
        thread.bus = words + <int64_t>area.histograms["bus"]
        thread.total = words + <int64_t>area.histograms["total"]
        self._cycles.append(cycle)
        self._n += 1
        return 0

    def __dealloc__(self):
        free(self._threads)

    @property
    def start_ns(self):
        return self._shared.start_ns

    @property
    def running(self):
        cdef int i
        for i in range(self._n):
            if self._threads[i].created and not load_acquire(&self._threads[i].ended):
                return True
        return False

    @property
    def stop_requested(self):
        return load_acquire(&self._shared.stop) != 0

    def start(self):
        if self._started:
            raise RuntimeError("a loop starts once; make a new one")
        self._started = True
        self.table.hold()
        _running.add(self)
        cdef int i
        try:
            for i in range(self._n):
                _spawn(&self._threads[i], self.plan.tasks[i], self.fifo)
            for i in range(self._n):
                self._await(&self._threads[i].ready, 10.0, "start")
        except BaseException:
            self._release(NEVER)
            self.finish()
            raise
        self._release(now_ns() + 1000000)

    cdef void _release(self, int64_t start_ns) noexcept:
        store_release(&self._shared.start_ns, start_ns)

    cdef int _await(self, const int64_t *flag, double timeout_s, str what) except -1:
        # bounded, and without signal handlers: a second Ctrl-C must not cut the way out short
        cdef int64_t until = now_ns() + <int64_t>(timeout_s * 1e9)
        while not load_acquire(flag):
            if now_ns() > until:
                raise TimeoutError(f"a task thread did not {what} within {timeout_s} s")
            with nogil:
                wait_until(now_ns() + 1000000, 0)
        return 0

    def request_stop(self):
        store_release(&self._shared.stop, 1)

    def wait(self, double timeout_s):
        cdef int64_t until = now_ns() + <int64_t>(timeout_s * 1e9)
        cdef int64_t pause
        while self.running and not self.stop_requested:
            pause = min(until, now_ns() + 20000000)
            if now_ns() >= until:
                return False
            with nogil:
                wait_until(pause, 0)
            PyErr_CheckSignals()
        return True

    def stop(self):
        self.request_stop()
        at_rest = self._await_safe()
        self.finish()
        return at_rest

    def _await_safe(self):
        # the output leaves with the exchange of the cycle after the guard said so: wait two more
        # cycles
        if self._safe is None or not self.running:
            return True
        producer, safe, cycle = self._safe
        cdef int64_t until = now_ns() + <int64_t>(self.stop_timeout_s * 1e9)
        rest_cycle = None
        while now_ns() < until and self.running:
            image = self.table.latest(producer)
            if not image[safe] > 0.5:
                rest_cycle = None
            elif rest_cycle is None:
                rest_cycle = image[cycle]
            elif image[cycle] >= rest_cycle + 2:
                return True
            with nogil:
                wait_until(now_ns() + 500000, 0)
        return False

    def finish(self, double timeout_s=1.0):
        cdef int i
        if self not in _running:
            return
        store_release(&self._shared.end, 1)
        for i in range(self._n):
            if self._threads[i].created:
                self._await(&self._threads[i].ended, timeout_s, "end (a block hangs)")
                pthread_join(self._threads[i].id, NULL)
                self._threads[i].created = False
        self.table.users -= 1
        _running.discard(self)

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *exc):
        self.stop()


def _find(plan, str safe):
    for task in plan.tasks:
        paths = plan.producer(task.name).signals
        if safe in paths:
            return task.name, paths.index(safe), CYCLE
    raise KeyError(f"safe = {safe!r}: no task writes this signal")


cdef int _spawn(Thread *thread, object task, bint fifo) except -1:
    cdef pthread_attr_t attr
    cdef sched_param param
    cdef cpu_set_t cpus
    cdef sigset_t every, before
    cdef int status
    name = f"rt:{task.name}".encode()[:15]
    pthread_attr_init(&attr)
    pthread_attr_setstacksize(&attr, STACK_BYTES)
    if fifo:
        param.sched_priority = task.priority
        pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED)
        pthread_attr_setschedpolicy(&attr, SCHED_FIFO)
        pthread_attr_setschedparam(&attr, &param)
    if task.core is not None:
        CPU_ZERO(&cpus)
        CPU_SET(task.core, &cpus)
        pthread_attr_setaffinity_np(&attr, sizeof(cpu_set_t), &cpus)
    # signals are for the main thread: none may cut a wait short
    sigfillset(&every)
    pthread_sigmask(SIG_SETMASK, &every, &before)
    status = pthread_create(&thread.id, &attr, _run, thread)
    pthread_sigmask(SIG_SETMASK, &before, NULL)
    pthread_attr_destroy(&attr)
    if status:
        raise OSError(
            status,
            f"task {task.name!r}: no thread with "
            f"{f'FIFO priority {task.priority}' if fifo else 'ordinary priority'}, "
            f"core {task.core}: {os.strerror(status)}"
            + ("; see the rights report" if status == errno.EPERM else "")
            + ("; is the core online?" if status == errno.EINVAL else ""),
        )
    thread.created = True
    pthread_setname_np(thread.id, name)
    return 0

"""The thread of one task: deadlines, skipping, and everything around the blocks of a cycle."""
import errno
import os

from libc.stdint cimport int64_t

from rt_core.clock cimport now_ns, wait_until
from rt_core.cycle cimport (
    BUS_NS, CYCLE, ELAPSED, FAULT, FAULT_BLOCK, LATE_NS, OVERRUNS, SKIPPED, STEP_NS, STOP,
    CycleState, publish_image, refresh_mirrors, step_stages_timed,
)
from rt_core.histogram cimport record
from rt_core.shared cimport load_acquire, push_ring, store_release

cdef extern from "<pthread.h>" nogil:
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


cdef int spawn(Thread *thread, object task, bint fifo) except -1:
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


cdef void join(Thread *thread) noexcept:
    pthread_join(thread.id, NULL)
    thread.created = False

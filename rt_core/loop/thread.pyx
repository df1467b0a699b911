"""Starting and joining threads; see thread.pxd."""
import errno
import os

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
    const int SIGBUS
    int sigfillset(sigset_t *signals)
    int sigdelset(sigset_t *signals, int number)

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


cdef void settle_thread() noexcept nogil:
    # called by the thread itself, before its first cycle
    touch_stack()
    prctl(PR_SET_TIMERSLACK, 1)


cdef int start_thread(
    pthread_t *id, thread_fn run, void *arg, str name, int priority, object core
) except -1:
    # priority 0: an ordinary thread. core None: any
    cdef pthread_attr_t attr
    cdef sched_param param
    cdef cpu_set_t cpus
    cdef sigset_t every, before
    cdef int status
    pthread_attr_init(&attr)
    pthread_attr_setstacksize(&attr, STACK_BYTES)
    if priority:
        param.sched_priority = priority
        pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED)
        pthread_attr_setschedpolicy(&attr, SCHED_FIFO)
        pthread_attr_setschedparam(&attr, &param)
    if core is not None:
        CPU_ZERO(&cpus)
        CPU_SET(core, &cpus)
        pthread_attr_setaffinity_np(&attr, sizeof(cpu_set_t), &cpus)
    # signals are for the main thread: none may cut a wait short
    sigfillset(&every)
    # a fault of its own: blocked, it would end the process past the handler of mapped_file.pyx
    sigdelset(&every, SIGBUS)
    pthread_sigmask(SIG_SETMASK, &every, &before)
    status = pthread_create(id, &attr, run, arg)
    pthread_sigmask(SIG_SETMASK, &before, NULL)
    pthread_attr_destroy(&attr)
    if status:
        raise OSError(
            status,
            f"thread {name!r}: none with "
            f"{f'FIFO priority {priority}' if priority else 'ordinary priority'}, "
            f"core {core}: {os.strerror(status)}"
            + ("; see the rights report" if status == errno.EPERM else "")
            + ("; is the core online?" if status == errno.EINVAL else ""),
        )
    pthread_setname_np(id[0], name.encode()[:15])
    return 0


cdef void join_thread(pthread_t id) noexcept nogil:
    pthread_join(id, NULL)

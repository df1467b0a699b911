"""CLOCK_MONOTONIC in nanoseconds, and waiting for a moment of it."""
from libc.stdint cimport int64_t

cdef extern from "<time.h>" nogil:
    ctypedef long time_t
    ctypedef int clockid_t
    cdef struct timespec:
        time_t tv_sec
        long tv_nsec
    const clockid_t CLOCK_MONOTONIC
    const clockid_t CLOCK_THREAD_CPUTIME_ID
    const int TIMER_ABSTIME
    int clock_gettime(clockid_t clock, timespec *now)
    int clock_nanosleep(clockid_t clock, int flags, const timespec *until, timespec *remain)

cdef extern from *:
    """
    #if defined(__x86_64__) || defined(__i386__)
    #define RT_CORE_RELAX() __builtin_ia32_pause()
    #else
    #define RT_CORE_RELAX() ((void)0)
    #endif
    """
    void relax "RT_CORE_RELAX"() noexcept nogil


cdef inline int64_t now_ns() noexcept nogil:
    cdef timespec t
    clock_gettime(CLOCK_MONOTONIC, &t)
    return <int64_t>t.tv_sec * 1000000000 + t.tv_nsec


cdef inline int64_t thread_cpu_ns() noexcept nogil:
    # CPU time of the calling thread: a system call of half a microsecond that never blocks
    cdef timespec t
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t)
    return <int64_t>t.tv_sec * 1000000000 + t.tv_nsec


cdef inline int64_t sleep_until(int64_t until_ns, int64_t *woke_ns) noexcept nogil:
    # returns the moment it came back; `woke_ns` is the same, and stays as it was if there was no time for a sleep
    cdef int64_t now = now_ns()
    cdef timespec t
    if now < until_ns:
        t.tv_sec = <time_t>(until_ns // 1000000000)
        t.tv_nsec = <long>(until_ns % 1000000000)
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL)
        now = now_ns()
        woke_ns[0] = now
    return now


cdef inline int64_t wait_until(int64_t deadline_ns, int64_t spin_ns) noexcept nogil:
    # sleep, then spin the last `spin_ns`; returns the moment it came back, never before the deadline
    cdef int64_t woke_ns
    cdef int64_t now = sleep_until(deadline_ns - spin_ns, &woke_ns)
    while now < deadline_ns:
        relax()
        now = now_ns()
    return now

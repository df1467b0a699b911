"""The watchdog thread; what it does is in watchdog.pxd."""
from libc.stdint cimport int64_t

from rt_core.clock cimport now_ns, wait_until
from rt_core.shared cimport load_acquire, load_relaxed, store_release
from rt_core.task cimport NEVER, Thread
from rt_core.thread cimport join_thread, settle_thread, start_thread


cdef void _forget(Watchdog *watchdog) noexcept nogil:
    cdef int i
    for i in range(watchdog.n):
        watchdog.seen[i] = NEVER


cdef void _look(Watchdog *watchdog, int64_t now) noexcept nogil:
    cdef Thread *thread
    cdef int64_t beat_ns
    cdef int i
    for i in range(watchdog.n):
        thread = &watchdog.threads[i]
        beat_ns = load_acquire(&thread.beat_ns)
        if beat_ns == 0 or load_acquire(&thread.ended):
            continue
        if beat_ns == watchdog.seen[i] and now - beat_ns > thread.stall_ns:
            watchdog.stalled_cycle = load_relaxed(&thread.beat_cycle)
            watchdog.stalled_ns = now - beat_ns
            store_release(&watchdog.stalled, i + 1)
            store_release(&watchdog.shared.stop, 1)
            return
        watchdog.seen[i] = beat_ns


cdef void *_watch(void *arg) noexcept nogil:
    cdef Watchdog *watchdog = <Watchdog *>arg
    cdef int64_t next_ns, now
    settle_thread()
    store_release(&watchdog.ready, 1)
    _forget(watchdog)
    next_ns = now_ns()
    while not load_acquire(&watchdog.end):
        next_ns += TICK_NS
        now = wait_until(next_ns, 0)
        if now - next_ns > TICK_NS:
            _forget(watchdog)
            next_ns = now
        elif watchdog.stalled == 0:
            _look(watchdog, now)
        # also at the tick that found it; a frame that cannot leave now leaves at the next
        if watchdog.stalled != 0 and watchdog.stalled - 1 == watchdog.guarded:
            if watchdog.safe.step(watchdog.safe.self, now - watchdog.shared.start_ns) == 0:
                store_release(&watchdog.sent, watchdog.sent + 1)
    return NULL


cdef int spawn_watchdog(Watchdog *watchdog, bint fifo, object core) except -1:
    start_thread(&watchdog.id, _watch, watchdog, "rt-watchdog", PRIORITY if fifo else 0, core)
    watchdog.created = True
    return 0


cdef void end_watchdog(Watchdog *watchdog) noexcept:
    if watchdog.created:
        store_release(&watchdog.end, 1)
        with nogil:
            join_thread(watchdog.id)
        watchdog.created = False

"""The watchdog thread; watchdog.pxd describes it."""
from libc.stdint cimport int64_t
from libc.string cimport memset

from rt_core.loop.clock cimport now_ns, wait_until
from rt_core.shared cimport load_acquire, load_relaxed, store_release
from rt_core.loop.task cimport NEVER, Thread
from rt_core.loop.thread cimport join_thread, settle_thread, start_thread

from typing import NamedTuple

cdef extern from "<signal.h>" nogil:
    ctypedef struct sigset_t:
        pass
    enum:
        SIGINT
        SIGTERM
    int sigpending(sigset_t *set)
    int sigismember(const sigset_t *set, int number)


class Tick(NamedTuple):
    """See watchdog.pyi."""

    from_ns: int
    stalled: int | None
    cycle: int
    for_ns: int
    stop: bool
    sent: int
    called_ns: tuple
    kept_ns: int


cdef enum:                        # of `watched`
    MOST_TICKS = 64
    MOST_TASKS = 4


cdef void _forget(Watchdog *watchdog) noexcept nogil:
    cdef int i
    for i in range(watchdog.n):
        watchdog.seen[i] = NEVER


cdef void _note_late(Watchdog *watchdog, int64_t due_ns, int64_t now) noexcept nogil:
    # of tasks whose time was over meanwhile
    cdef int64_t over_ns
    cdef int i
    for i in range(watchdog.n):
        over_ns = now - watchdog.before[i] - watchdog.threads[i].stall_ns
        if watchdog.before[i] == load_acquire(&watchdog.threads[i].beat_ns) and over_ns > 0:
            watchdog.kept_ns[i] += min(now - due_ns, over_ns) + TICK_NS


cdef void _look(Watchdog *watchdog, int64_t now) noexcept nogil:
    cdef Thread *thread
    cdef int64_t beat_ns
    cdef int i, k
    for i in range(watchdog.n):
        thread = &watchdog.threads[i]
        beat_ns = load_acquire(&thread.beat_ns)
        if beat_ns == 0 or load_acquire(&thread.ended):
            continue
        if beat_ns != watchdog.before[i]:
            watchdog.before[i] = beat_ns
            watchdog.kept_ns[i] = 0
        if beat_ns == watchdog.seen[i] and now - beat_ns > thread.stall_ns:
            if watchdog.stalled == 0:
                watchdog.stalled_cycle = load_relaxed(&thread.beat_cycle)
                watchdog.stalled_ns = now - beat_ns
                watchdog.stalled_kept_ns = watchdog.kept_ns[i]
                store_release(&watchdog.stalled, i + 1)
                store_release(&watchdog.shared.stop, 1)
            for k in range(watchdog.n_guarded):
                watchdog.guarded[k].taken = watchdog.guarded[k].taken or watchdog.guarded[k].task == i
        watchdog.seen[i] = beat_ns


cdef bint _is_asked_to_end() noexcept nogil:
    # of a process whose threads block these signals: they stay with it until its main thread has time for them
    cdef sigset_t pending
    return sigpending(&pending) == 0 and (sigismember(&pending, SIGTERM) == 1 or sigismember(&pending, SIGINT) == 1)


cdef int64_t _tick(Watchdog *watchdog, int64_t due_ns, int64_t now) noexcept nogil:
    # the work of the tick that was due at due_ns and comes at now. Returns the time from which the next one counts
    cdef Guarded *guarded
    cdef int i
    if watchdog.life != NULL and load_relaxed(watchdog.life) & OWNER_DIED:
        store_release(&watchdog.orphaned, 1)
        store_release(&watchdog.shared.stop, 1)
    if _is_asked_to_end():
        store_release(&watchdog.shared.stop, 1)
    if now - due_ns > TICK_NS:
        _note_late(watchdog, due_ns, now)
        _forget(watchdog)
        due_ns = now
    else:
        _look(watchdog, now)
    # also at the tick that found it; a frame that cannot leave now leaves at the next
    for i in range(watchdog.n_guarded):
        guarded = &watchdog.guarded[i]
        if guarded.taken and guarded.safe.step(guarded.safe.self, now - watchdog.shared.start_ns) == 0:
            store_release(&guarded.sent, guarded.sent + 1)
            store_release(&watchdog.sent, watchdog.sent + 1)
    return due_ns


cdef void *_watch(void *arg) noexcept nogil:
    cdef Watchdog *watchdog = <Watchdog *>arg
    cdef int64_t next_ns = now_ns()
    settle_thread()
    store_release(&watchdog.ready, 1)
    while not load_acquire(&watchdog.end):
        next_ns += TICK_NS
        next_ns = _tick(watchdog, next_ns, wait_until(next_ns, 0))
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


cdef struct Calls:                # of a safe entry that keeps the times at which it is called
    int refused                   # number of times that it cannot send
    int n
    int64_t t_ns[MOST_TICKS]


cdef int _keep_call(void *self, int64_t t_ns) noexcept nogil:
    cdef Calls *calls = <Calls *>self
    calls.t_ns[calls.n] = t_ns
    calls.n += 1
    return calls.n <= calls.refused


def watched(ticks, *, stall_ns, guarded=None, refused=0, start_ns=0, life=None):
    ticks = [(due_ns, now_ns, list(beats)) for due_ns, now_ns, beats in ticks]
    n = {len(beats) for _, _, beats in ticks}
    if len(ticks) > MOST_TICKS or len(n) != 1 or not 1 <= min(n) <= MOST_TASKS:
        raise ValueError(f"at most {MOST_TICKS} ticks of one to {MOST_TASKS} tasks each")
    cdef Shared shared
    cdef Thread[MOST_TASKS] threads
    cdef int64_t[MOST_TASKS] seen, before, kept_ns
    cdef int64_t word = 0
    cdef Watchdog watchdog
    cdef BlockView safe
    cdef Calls calls
    cdef int i
    memset(&shared, 0, sizeof(Shared))
    memset(&watchdog, 0, sizeof(Watchdog))
    calls.refused, calls.n, shared.start_ns = refused, 0, start_ns
    safe.step, safe.self = _keep_call, &calls
    watchdog.shared, watchdog.threads, watchdog.seen = &shared, threads, seen
    watchdog.before, watchdog.kept_ns, watchdog.life = before, kept_ns, &word
    memset(before, 0, sizeof(before))
    memset(kept_ns, 0, sizeof(kept_ns))
    watchdog.n, watchdog.n_guarded = min(n), guarded is not None
    watchdog.guarded[0].safe, watchdog.guarded[0].task = &safe, guarded or 0
    _forget(&watchdog)
    found = []
    for tick, (due_ns, now, beats) in enumerate(ticks):
        word = life[tick] if life is not None else 0
        for i, (beat_ns, ended) in enumerate(beats):
            threads[i].stall_ns, threads[i].beat_ns, threads[i].ended = stall_ns, beat_ns, ended
            threads[i].beat_cycle = beat_ns // 1000
        from_ns = _tick(&watchdog, due_ns, now)
        stalled = watchdog.stalled - 1 if watchdog.stalled else None
        found.append(Tick(from_ns, stalled, watchdog.stalled_cycle, watchdog.stalled_ns, bool(shared.stop),
                          watchdog.sent, tuple(calls.t_ns[i] for i in range(calls.n)),
                          watchdog.stalled_kept_ns))
    return found

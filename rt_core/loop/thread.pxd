"""POSIX threads with a priority and a core, for work that knows no Python."""

cdef extern from "<pthread.h>" nogil:
    ctypedef unsigned long pthread_t

ctypedef void *(*thread_fn)(void *) noexcept nogil

cdef int start_thread(
    pthread_t *id, thread_fn run, void *arg, str name, int priority, object core
) except -1
cdef void settle_thread() noexcept nogil
cdef void join_thread(pthread_t id) noexcept nogil

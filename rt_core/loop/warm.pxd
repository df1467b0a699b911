"""Warm-touch: the pages of a cycle, touched while its thread spins anyway.

A host may take a page of a guest away and give it back at the next touch, though the guest has locked it: a hole in
the cycle that touches first, of tens of microseconds, that nobody reports. So a thread that spins before its deadline
touches the memory that its cycle will use: by a write that changes nothing (an atomic or with 0, so that nobody's
concurrent write is lost), or a read where it may not write. It ends MARGIN_NS before the deadline: a hole that it meets
then is over. At most MOST_PAGES in one spin, the next ones in the next; no system call.
"""
from libc.stdint cimport int64_t, uintptr_t

from rt_core.loop.clock cimport now_ns
from rt_core.shared cimport RING_HEAD_WORDS, WRITTEN, load_relaxed

cdef enum:
    MARGIN_NS = 50000
    MOST_PAGES = 1024
    PAGE_BYTES = 4096
    STACK_PAGES = 8              # below the thread's first frame

cdef extern from *:
    """
    #include <stdint.h>
    /* of each page another line, so that they do not all fall into one set of the cache */
    #define WARM_LINE(page, i) ((char *)(page) + (((uintptr_t)(i) * 64) & 4032))
    #if defined(__x86_64__)
    #define WARM_WRITE(at) __asm__ volatile("lock; orq $0, %0" : "+m"(*(uint64_t *)(at)) : : "cc")
    #else
    #define WARM_WRITE(at) ((void)__atomic_fetch_or((uint64_t *)(at), 0, __ATOMIC_RELAXED))
    #endif
    #define WARM_READ(at) ((void)*(volatile const char *)(at))
    """
    char *warm_line "WARM_LINE"(void *page, int64_t i) noexcept nogil
    void warm_write "WARM_WRITE"(char *at) noexcept nogil
    void warm_read "WARM_READ"(const char *at) noexcept nogil

cdef struct Warm:
    uintptr_t *pages             # first those that may be written, then those that are read only
    int64_t n_write
    int64_t n
    int64_t next
    int64_t *ring                # its next slots are touched too
    int64_t slots
    int64_t slot_words
    char *stack


cdef inline void _touch_moving(Warm *warm) noexcept nogil:
    # parts that lie elsewhere in each cycle: the ring's next slot; and the stack
    cdef int64_t *slot
    cdef int64_t i, words
    if warm.ring != NULL:
        words = warm.slot_words
        slot = warm.ring + RING_HEAD_WORDS + (load_relaxed(warm.ring + WRITTEN) & (warm.slots - 1)) * words
        for i in range(0, min(words, <int64_t>MOST_PAGES), 512):
            warm_write(<char *>(slot + i))
        warm_write(<char *>(slot + words - 1))
    for i in range(STACK_PAGES):
        warm_write(<char *>((<uintptr_t>warm.stack - i * PAGE_BYTES) & ~<uintptr_t>7))


cdef inline int64_t touch(Warm *warm, int64_t now, int64_t deadline_ns) noexcept nogil:
    # returns the moment of its end
    cdef int64_t until = deadline_ns - MARGIN_NS
    cdef int64_t left = min(warm.n, <int64_t>MOST_PAGES)
    cdef int64_t i
    if now >= until:
        return now
    _touch_moving(warm)
    now = now_ns()
    while left > 0 and now < until:
        i = warm.next
        if i < warm.n_write:
            warm_write(warm_line(<void *>warm.pages[i], i))
        else:
            warm_read(warm_line(<void *>warm.pages[i], i))
        warm.next = i + 1 if i + 1 < warm.n else 0
        left -= 1
        now = now_ns()
    return now


cdef class WarmPages:
    cdef Warm warm
    cdef object _array
    cdef object _write
    cdef object _read
    cdef void add(self, const void *begin, int64_t size) noexcept
    cdef void add_code(self, object maps, const void *address) noexcept
    cdef int settle(self, object maps) except -1

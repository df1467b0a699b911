"""The two ways an image crosses to another thread or process; both are wait-free for the writer.

Latest: one word `sequence`, then two slots. Image number s goes to slot s & 1 and is valid from the
moment `sequence` is s until image s + 2 begins, so that a reader never waits for a writer that was
preempted.

Ring: `written` and `dropped` (writer's line), `consumed`, `unwritten` and why (reader's line), then slots
of t_ns and image. A full ring drops the newest; produced = written + dropped.

All words of a latest image are copied with relaxed atomics between the fences that the C11 model
asks for.

Source: H.-J. Boehm, Can seqlocks get along with programming language memory models?, 2012.
"""
from libc.stdint cimport int64_t, uint64_t

cdef extern from *:
    """
    #include <stdint.h>
    #define LOAD_RELAXED(p) __atomic_load_n((p), __ATOMIC_RELAXED)
    #define LOAD_ACQUIRE(p) __atomic_load_n((p), __ATOMIC_ACQUIRE)
    #define STORE_RELAXED(p, v) __atomic_store_n((p), (v), __ATOMIC_RELAXED)
    #define STORE_RELEASE(p, v) __atomic_store_n((p), (v), __ATOMIC_RELEASE)
    #define FENCE_ACQUIRE() __atomic_thread_fence(__ATOMIC_ACQUIRE)
    #define FENCE_RELEASE() __atomic_thread_fence(__ATOMIC_RELEASE)
    """
    int64_t load_relaxed "LOAD_RELAXED"(const int64_t *word) noexcept nogil
    int64_t load_acquire "LOAD_ACQUIRE"(const int64_t *word) noexcept nogil
    void store_relaxed "STORE_RELAXED"(int64_t *word, int64_t value) noexcept nogil
    void store_release "STORE_RELEASE"(int64_t *word, int64_t value) noexcept nogil
    void fence_acquire "FENCE_ACQUIRE"() noexcept nogil
    void fence_release "FENCE_RELEASE"() noexcept nogil

# same values as in layout.py, which a test compares
cdef enum:
    LINE_WORDS = 8
    RING_HEAD_WORDS = 24
    WRITTEN = 0
    DROPPED = 1
    CONSUMED = 8
    UNWRITTEN = 9                # cycles that the reader took and could not write, and the errno of it
    UNWRITTEN_WHY = 10
    READ_TRIES = 4


cdef inline void publish_latest(
    int64_t *latest, int64_t stride, const int64_t *image, int64_t cells
) noexcept nogil:
    cdef int64_t s = load_relaxed(latest) + 1
    cdef int64_t *slot = latest + LINE_WORDS + (s & 1) * stride
    cdef int64_t i
    # whoever reads a word of image s in this slot also sees that image s - 2 is over
    fence_release()
    for i in range(cells):
        store_relaxed(slot + i, image[i])
    store_release(latest, s)


cdef inline int64_t read_latest(
    const int64_t *latest, int64_t stride, const int64_t *pick, int64_t n, int64_t *out
) noexcept nogil:
    # copy the cells `pick` (all n of them when NULL) of the newest image. Returns its number,
    # 0 when there is none yet, -1 when the writer was too fast READ_TRIES times: then `out` is not
    # valid
    cdef int64_t s, i
    cdef const int64_t *slot
    for _ in range(READ_TRIES):
        s = load_acquire(latest)
        if s == 0:
            return 0
        slot = latest + LINE_WORDS + (s & 1) * stride
        if pick == NULL:
            for i in range(n):
                out[i] = load_relaxed(slot + i)
        else:
            for i in range(n):
                out[i] = load_relaxed(slot + pick[i])
        fence_acquire()
        if load_relaxed(latest) == s:
            return s
    return -1


cdef inline void push_ring(
    int64_t *ring, int64_t slots, int64_t t_ns, const int64_t *image, int64_t cells
) noexcept nogil:
    # `slots` is a power of two of the writer's own: nothing that a reader writes can lead outside
    # the ring
    cdef int64_t written = load_relaxed(ring + WRITTEN)
    cdef int64_t *slot
    cdef int64_t i
    if <uint64_t>(written - load_acquire(ring + CONSUMED)) >= <uint64_t>slots:
        store_relaxed(ring + DROPPED, load_relaxed(ring + DROPPED) + 1)
        return
    slot = ring + RING_HEAD_WORDS + (written & (slots - 1)) * (1 + cells)
    slot[0] = t_ns
    for i in range(cells):
        slot[1 + i] = image[i]
    store_release(ring + WRITTEN, written + 1)

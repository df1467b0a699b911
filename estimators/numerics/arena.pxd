"""Arrays in one piece of memory: a layout is written once, and run twice, to count and then to place.

    cdef void lay_out(State *s, Arena *arena) noexcept:
        s.x = doubles(arena, s.n)
        s.cov = doubles(arena, s.n * s.n)
"""
from libc.stdint cimport int64_t
from libc.stdlib cimport calloc

cdef struct Arena:
    char *memory        # NULL: only counted
    size_t used         # bytes


cdef inline void *room(Arena *arena, size_t bytes) noexcept:
    # of 8 bytes each, so that every kind of cell is aligned
    cdef size_t at = arena.used
    arena.used += (bytes + 7) & ~<size_t>7
    return NULL if arena.memory == NULL else arena.memory + at


cdef inline double *doubles(Arena *arena, size_t count) noexcept:
    return <double *>room(arena, count * sizeof(double))


cdef inline int64_t *integers(Arena *arena, size_t count) noexcept:
    return <int64_t *>room(arena, count * sizeof(int64_t))


cdef inline int *places(Arena *arena, size_t count) noexcept:
    return <int *>room(arena, count * sizeof(int))


cdef inline void **pointers(Arena *arena, size_t count) noexcept:
    return <void **>room(arena, count * sizeof(void *))


cdef inline void *reserve(Arena *arena) except NULL:
    # zeros for all that was counted; the caller frees them
    arena.memory = <char *>calloc(1, arena.used + 8)
    arena.used = 0
    if arena.memory == NULL:
        raise MemoryError
    return arena.memory

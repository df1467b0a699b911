"""Own work, or a hole that nobody reported: the second decision on the cause of a cycle.

A host that takes the core and does not report it leaves no trace in a thread's CPU time: the stolen time looks like
work of the block that it hit. Four facts separate the two, each only after the time itself has shown a surplus:

witness
    The block counts its work (iterations, frames ...). More than usual explains its share of the surplus.
page faults
    Of the thread itself, by the kernel's count.
denormals
    The flags that the processor raises where an operand or a result was one, in a block that usually has none.
recurrence
    Own causes come again in the same block; holes fall on all that a thread does, each place as often as time is
    spent there. With n holes at least half as long seen elsewhere in the time E, the number in a block with the
    time e follows a negative binomial distribution (a Poisson number whose rate is known from n and E). More than
    that lets be likely are the block's own.

The rest is untold. The first holes of a fresh run are judged by the rate that such a host is known for,
`prior_per_s` for holes of HOLE_NS and half of it for each doubling, which counts as half a hole already seen.
"""
from libc.math cimport pow
from libc.stdint cimport int64_t

cdef enum:
    HOLE_NS = 32000              # surpluses below are not looked at; nor is the CPU time of much shorter cycles
    SIZES = 12                   # classes of holes by octaves: 32 µs, 64 µs ... 65 ms and more
    FAULT_NS = 25000             # most that a page fault without a disk takes
    DEARER = 4                   # times the usual price of a unit of work
    LEARNT = 16                  # cycles before anything is usual
    MOST_COUNT = 1000            # more of the same add nothing

cdef extern from *:
    """
    #define RT_CORE_PRIOR_HOLES 0.5
    #define RT_CORE_UNLIKELY 1e-3
    #define RT_CORE_SELDOM 0.05
    """
    const double PRIOR "RT_CORE_PRIOR_HOLES"
    const double UNLIKELY "RT_CORE_UNLIKELY"
    const double SELDOM "RT_CORE_SELDOM"

cdef struct Holes:               # surpluses that nothing explains, and the time in which they came
    double exposure_ns
    int64_t count[SIZES]

cdef struct Surplus:             # of one block in one cycle
    int64_t ns                   # beyond the usual, minus the part that the CPU clock shows
    double usual_ns
    int64_t work                 # by the witness; -1: it has none
    double usual_work
    int64_t minor_faults         # of the thread
    int64_t major_faults
    bint denormal                # flags were raised
    double usual_denormal        # share of cycles with raised flags


cdef inline int size_of(int64_t ns) noexcept nogil:
    cdef int size = 0
    while size < SIZES - 1 and ns >= (<int64_t>HOLE_NS << (size + 1)):
        size += 1
    return size


cdef inline int64_t explained(const Surplus *s) noexcept nogil:
    # how much of it the block's own facts account for
    cdef double more
    cdef int64_t ns = 0
    if s.major_faults > 0 or (s.denormal and s.usual_denormal < SELDOM):
        return s.ns
    if s.work >= 0:
        more = s.work - s.usual_work
        if more >= 1.0 and s.usual_work < 0.5:
            return s.ns
        if more > 0.0:
            ns = <int64_t>(min(DEARER * more / s.usual_work * s.usual_ns, 1e15))
    return min(s.ns, ns + min(s.minor_faults, <int64_t>1000000) * FAULT_NS)


cdef inline double as_many(
    int64_t here, double here_ns, int64_t elsewhere, double elsewhere_ns, double prior_per_s
) noexcept nogil:
    # probability of at least `here` holes in a block if they fall as they do elsewhere
    cdef double shape = elsewhere + PRIOR
    cdef double time = elsewhere_ns + 1e9 * PRIOR / prior_per_s
    cdef double p = here_ns / (here_ns + time)
    cdef double term = pow(1.0 - p, shape)
    cdef double below = 0.0
    cdef int64_t k
    for k in range(min(here, <int64_t>MOST_COUNT)):
        below += term
        term *= p * (k + shape) / (k + 1)
    return max(1.0 - below, 0.0)


cdef inline bint recurs(
    const Holes *here, const Holes *all_, int64_t ns, double prior_per_s
) noexcept nogil:
    # whether surpluses of half the size or more come more often in this block than holes do; `all_` has those of the
    # block too
    cdef int first = size_of(ns)
    cdef int64_t mine = 0, total = 0
    cdef int i
    first = max(first - 1, 0)
    for i in range(first, SIZES):
        mine += here.count[i]
        total += all_.count[i]
    return as_many(mine, here.exposure_ns, max(total - mine, <int64_t>0),
                   max(all_.exposure_ns - here.exposure_ns, 0.0),
                   prior_per_s / (1 << first)) < UNLIKELY


cdef inline void count_hole(Holes *holes, int64_t ns) noexcept nogil:
    cdef int size = size_of(ns)
    holes.count[size] = min(holes.count[size] + 1, <int64_t>MOST_COUNT)

"""Explain why a cycle outlived its period, from the thread's own times of recent cycles; no allocation, no lock."""
from libc.stdint cimport int64_t

from rt_core.lateness.cause cimport BUS, NONE, OWN, UNTOLD, Cause, Facts, attribute
from rt_core.loop.cycle cimport BUS_NS, STEP_NS, CycleState, Stage
from rt_core.lateness.histogram cimport record
from rt_core.loop.spinning cimport Spun
from rt_core.lateness.untold cimport HOLE_NS, LEARNT, Holes, Surplus, count_hole, explained, recurs

cdef extern from "<sys/resource.h>" nogil:
    struct rusage:
        long ru_minflt
        long ru_majflt
    const int RUSAGE_THREAD
    int getrusage(int who, rusage *usage)

cdef enum:
    MEAN_OVER = 64               # cycles that the usual times are the mean of, roughly

cdef struct Usual:               # running means of cycles that kept their period
    int64_t n
    double own_ns
    double bus_ns
    double rest_ns

cdef struct Explainer:
    Usual usual
    Holes everywhere             # of all blocks, the spin and the loop's own code
    double prior_per_s           # holes that such a host is known for
    int64_t minor_faults         # of the thread, at the last look
    int64_t major_faults
    int64_t new_faults           # seen at the look of this cycle; 0: it did not look
    int64_t *hole                # histograms of untold times: outside of blocks
    int64_t *untold              # and in them


cdef inline void learn(Explainer *e, CycleState *cycle, const Facts *f) noexcept nogil:
    cdef Usual *usual = &e.usual
    cdef Stage *stage
    cdef double part
    cdef int i
    usual.n = min(usual.n + 1, <int64_t>MEAN_OVER)
    part = 1.0 / usual.n
    usual.own_ns += (f.blocks_ns - f.bus_ns - usual.own_ns) * part
    usual.bus_ns += (f.bus_ns - usual.bus_ns) * part
    usual.rest_ns += (f.end_ns - f.begin_ns - f.blocks_ns - usual.rest_ns) * part
    for i in range(cycle.n_stages):
        stage = &cycle.stages[i]
        stage.usual_ns += (stage.took_ns - stage.usual_ns) * part
        stage.usual_work += (stage.did - stage.usual_work) * part
        stage.usual_denormal += (stage.denormal - stage.usual_denormal) * part
        if stage.usual_denormal < 1e-9:
            stage.usual_denormal = 0     # before it becomes a denormal number itself


cdef inline void look_at_faults(Explainer *e, Surplus *s) noexcept nogil:
    cdef rusage usage
    if getrusage(RUSAGE_THREAD, &usage) != 0:
        return
    s.minor_faults = usage.ru_minflt - e.minor_faults
    s.major_faults = usage.ru_majflt - e.major_faults
    e.minor_faults, e.major_faults = usage.ru_minflt, usage.ru_majflt
    e.new_faults = s.minor_faults + s.major_faults


cdef inline void _note_spin(Explainer *e, const Spun *spun, int64_t told_ns) noexcept nogil:
    # in the spin nothing is done: time that is missing there and not reported is a hole
    cdef int64_t hole = spun.gap_ns - max(told_ns, <int64_t>0)
    e.everywhere.exposure_ns += spun.spun_ns - (spun.gap_ns if spun.gap_ns > HOLE_NS else 0)
    if spun.gap_ns > HOLE_NS and hole > HOLE_NS:
        count_hole(&e.everywhere, hole)
        record(e.hole, hole)


cdef inline Stage *_longest(CycleState *cycle, bint bus_too, int64_t *ns) noexcept nogil:
    # the block with the greatest surplus
    cdef Stage *found = NULL
    cdef Stage *stage
    cdef int i
    ns[0] = 0
    for i in range(cycle.n_stages):
        stage = &cycle.stages[i]
        if (bus_too or not stage.is_bus) and stage.took_ns - <int64_t>stage.usual_ns > ns[0]:
            found, ns[0] = stage, stage.took_ns - <int64_t>stage.usual_ns
    return found


cdef inline bint _is_untold(Explainer *e, Stage *stage, int64_t ns) noexcept nogil:
    # whether the block has no explanation for a surplus of its own; counts it then
    cdef Surplus s
    cdef int64_t rest
    s.ns, s.usual_ns = ns, stage.usual_ns
    s.work = stage.did if stage.work != NULL else -1
    s.usual_work = stage.usual_work
    s.denormal, s.usual_denormal = stage.denormal, stage.usual_denormal
    s.minor_faults = s.major_faults = 0
    look_at_faults(e, &s)
    rest = ns - explained(&s)
    if 2 * rest <= ns:
        return False
    count_hole(&stage.holes, rest)
    count_hole(&e.everywhere, rest)
    record(e.untold, rest)
    return not recurs(&stage.holes, &e.everywhere, rest, e.prior_per_s)


cdef inline Cause explain_cycle(
    Explainer *e, CycleState *cycle, Facts *f, const Spun *spun, int64_t told_ns
) noexcept nogil:
    # the cause if the cycle reached beyond `f.limit_ns`, else NONE; `f` has the moments and CPU time, and gets the
    # rest. `told_ns`: stolen time of the spin before, as the CPU clock shows it
    cdef int64_t wall = f.end_ns - f.begin_ns
    cdef int64_t off = max(wall - f.cpu_ns, 0)
    cdef bint bus_waits = f.bus_wait_ns > 0
    cdef bint untold = False
    cdef int64_t surplus, outside
    cdef Cause cause = NONE
    cdef Stage *longest
    cdef Stage *stage
    cdef int i
    e.new_faults = 0
    f.bus_ns = <int64_t>cycle.image[BUS_NS]
    f.blocks_ns = f.bus_ns + <int64_t>cycle.image[STEP_NS]
    f.usual_own_ns = <int64_t>e.usual.own_ns
    f.usual_bus_ns = <int64_t>e.usual.bus_ns
    f.usual_rest_ns = <int64_t>e.usual.rest_ns
    longest = NULL
    if e.usual.n >= LEARNT:
        _note_spin(e, spun, told_ns)
        e.everywhere.exposure_ns += e.usual.rest_ns
        for i in range(cycle.n_stages):
            stage = &cycle.stages[i]
            if not (stage.is_bus and bus_waits):
                stage.holes.exposure_ns += min(<double>stage.took_ns, stage.usual_ns + HOLE_NS)
                e.everywhere.exposure_ns += min(<double>stage.took_ns, stage.usual_ns + HOLE_NS)
        if wall > HOLE_NS:
            outside = wall - f.blocks_ns - f.usual_rest_ns - off
            if outside > HOLE_NS:
                count_hole(&e.everywhere, outside)
                record(e.hole, outside)
            longest = _longest(cycle, not bus_waits, &surplus)
            surplus -= off
            if longest != NULL and surplus > HOLE_NS:
                untold = _is_untold(e, longest, surplus)
    if f.end_ns < f.limit_ns:
        learn(e, cycle, f)
        return NONE
    cause = attribute(f)
    # a hole falls into one block; a surplus that is spread over many is not a hole
    if untold and (
        (cause == OWN and not longest.is_bus and 2 * surplus > f.blocks_ns - f.bus_ns - f.usual_own_ns - off)
        or (cause == BUS and longest.is_bus)
    ):
        cause = UNTOLD
    return cause

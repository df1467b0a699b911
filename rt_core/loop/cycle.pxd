"""One cycle of one task as plain C: the same code for the live loop and for offline stepping."""
from libc.stdint cimport int64_t

from rt_core.block cimport step_fn
from rt_core.lateness.untold cimport Holes

# places of the loop's own signals in an image: the order of plan.LOOP_SIGNALS, which a test
# compares
cdef enum:
    CYCLE = 0
    ELAPSED = 1
    LATE_NS = 2
    STOP = 3
    FAULT = 4
    FAULT_BLOCK = 5
    STEP_NS = 6
    BUS_NS = 7
    OVERRUNS = 8
    SKIPPED = 9
    TORN = 10
    LATE_CYCLES = 11
    CAUSE = 12
    OVERRUNS_LATE_WAKE = 13
    OVERRUNS_STOLEN = 14
    OVERRUNS_OWN = 15
    OVERRUNS_BUS = 16
    OVERRUNS_UNTOLD = 17
    OVERRUN_LEVEL = 18
    OVERRUN_TRIP = 19
    OFF_CORE = 20
    SPIN_NS = 21

cdef struct Stage:
    step_fn step
    void *self
    int64_t bytes                # of the memory at `self`
    bint is_bus
    int64_t *histogram           # NULL offline
    const int64_t *work          # witness, NULL: none
    int64_t worked               # its count before the last cycle
    # of the last cycle
    int64_t took_ns
    int64_t did                  # by the witness; -1: it has none
    bint denormal                # met denormal numbers
    # means of cycles that kept their period
    double usual_ns
    double usual_work
    double usual_denormal        # share
    Holes holes                  # surpluses that nothing explains

cdef struct Source:              # a producer that this task mirrors
    int64_t *latest
    int64_t stride
    int64_t n
    int64_t *pick                # cells of the source's image
    int64_t *scratch             # so that a torn read leaves the mirror as it was
    int64_t *mirror              # cells of this task's image

cdef struct CycleState:
    double *image
    int64_t cells
    Stage *stages
    int n_stages
    Source *sources
    int n_sources
    int64_t *latest
    int64_t stride


cdef class Cycle:
    """A task's image, its mirrors and its blocks, bound to their cells; owns all its C memory."""

    cdef readonly object task
    cdef readonly object area
    cdef readonly object image_array
    cdef CycleState state
    cdef object _keep            # blocks, capsules and arrays that `state` points into


cdef Cycle wire_cycle(object task, object layout, int64_t *words, bint timed)
cdef void refresh_mirrors(CycleState *state) noexcept nogil
cdef void step_stages(CycleState *state, int64_t t_ns) noexcept nogil
cdef int64_t step_stages_timed(CycleState *state, int64_t t_ns) noexcept nogil
cdef void publish_image(CycleState *state) noexcept nogil

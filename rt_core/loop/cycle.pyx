"""One cycle of one task: mirrors, blocks, publication."""
import numpy as np

from cpython.pycapsule cimport PyCapsule_GetPointer, PyCapsule_IsValid
from libc.stdint cimport int64_t, uintptr_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy

from rt_core.block cimport BlockView
from rt_core.loop.clock cimport now_ns
from rt_core.lateness.histogram cimport record
from rt_core.shared cimport load_relaxed, publish_latest, read_latest

cdef extern from *:
    """
    /* flags that stay up once an operand or a result was a denormal number: read and cleared */
    #if defined(__SSE2__)
    #include <xmmintrin.h>
    static inline int denormal_met(void) {
        const unsigned met = _mm_getcsr();
        if (!(met & 0x12u)) return 0;
        _mm_setcsr(met & ~0x12u);
        return 1;
    }
    #else
    static inline int denormal_met(void) { return 0; }
    #endif
    """
    bint denormal_met() noexcept nogil

from rt_core.block import BLOCK_ABI, BLOCK_CAPSULE
from rt_core.plan import histogram_of


cdef class Cycle:
    def __cinit__(self):
        self._keep = []

    def __dealloc__(self):
        free(self.state.stages)
        free(self.state.sources)


cdef int64_t *_cells(Cycle cycle, object values):
    # an int64 array that lives as long as the cycle
    cdef int64_t[::1] array = np.ascontiguousarray(values, np.int64)
    cycle._keep.append(array.base)
    return &array[0]


cdef Cycle wire_cycle(object task, object layout, int64_t *words, bint timed):
    """Allocate the image of `task`, resolve its mirrors and bind its blocks to their cells."""
    cdef Cycle cycle = Cycle.__new__(Cycle)
    cdef CycleState *state = &cycle.state
    cdef Source *source
    area = layout.areas[task.name]
    cycle.task = task
    cycle.area = area
    cycle.image_array = np.zeros(area.cells)
    cdef double[::1] image = cycle.image_array
    state.image = &image[0]
    state.cells = image.shape[0]
    state.latest = words + <int64_t>area.latest
    state.stride = area.stride

    # mirrors of one source are neighbours in the image
    names = list(dict.fromkeys(mirror.producer for mirror in area.producer.mirrors))
    state.sources = <Source *>calloc(max(1, len(names)), sizeof(Source))
    state.stages = <Stage *>calloc(max(1, len(task.blocks)), sizeof(Stage))
    if state.sources == NULL or state.stages == NULL:
        raise MemoryError()
    cdef int64_t cell = len(area.producer.signals)
    for name in names:
        paths = [mirror.path for mirror in area.producer.mirrors if mirror.producer == name]
        other = layout.areas[name]
        source = &state.sources[state.n_sources]
        source.latest = words + <int64_t>other.latest
        source.stride = other.stride
        source.n = len(paths)
        source.pick = _cells(cycle, [other.producer.signals.index(path) for path in paths])
        source.scratch = _cells(cycle, np.zeros(len(paths)))
        source.mirror = <int64_t *>state.image + cell
        cell += len(paths)
        state.n_sources += 1

    first = <uintptr_t>state.image
    address = {path: first + 8 * i for i, path in enumerate(area.producer.paths)}
    for block in task.blocks:
        block.bind(
            [address[path] for path in block.reads.values()],
            [address[path] for path in block.writes.values()],
        )
        _add_stage(cycle, block, words if timed else NULL)
    return cycle


cdef int _add_stage(Cycle cycle, object block, int64_t *words) except -1:
    capsule = block.capsule()
    name = BLOCK_CAPSULE.encode()
    if not PyCapsule_IsValid(capsule, name):
        raise TypeError(f"block {block.name!r}: capsule() gave no {BLOCK_CAPSULE!r} capsule")
    cdef BlockView *view = <BlockView *>PyCapsule_GetPointer(capsule, name)
    if view.abi != BLOCK_ABI or view.step == NULL:
        raise TypeError(
            f"block {block.name!r}: block ABI {view.abi}, this loop steps ABI {BLOCK_ABI}; "
            "rebuild it"
        )
    cdef Stage *stage = &cycle.state.stages[cycle.state.n_stages]
    stage.step = view.step
    stage.self = view.self
    stage.bytes = view.bytes
    stage.work = view.work
    stage.did = -1
    stage.is_bus = block.name in cycle.task.bus
    if words != NULL:
        stage.histogram = words + <int64_t>cycle.area.histograms[
            histogram_of(cycle.task, cycle.state.n_stages)
        ]
    cycle._keep.append((block, capsule))
    cycle.state.n_stages += 1
    return 0


cdef void refresh_mirrors(CycleState *state) noexcept nogil:
    # the last images of the others become visible, whole images at a time
    cdef int i
    cdef Source *source
    cdef int64_t number
    for i in range(state.n_sources):
        source = &state.sources[i]
        number = read_latest(source.latest, source.stride, source.pick, source.n, source.scratch)
        if number > 0:
            memcpy(source.mirror, source.scratch, source.n * sizeof(int64_t))
        elif number < 0:
            state.image[TORN] += 1


cdef inline void _note(CycleState *state, int i, int status) noexcept nogil:
    # the first fault of a cycle is its cause; later ones may be its consequences
    if status != 0 and state.image[FAULT] == 0:
        state.image[FAULT] = status
        state.image[FAULT_BLOCK] = i + 1


cdef void step_stages(CycleState *state, int64_t t_ns) noexcept nogil:
    # a fault does not end the cycle: the guard is still to come
    cdef int i
    for i in range(state.n_stages):
        _note(state, i, state.stages[i].step(state.stages[i].self, t_ns))


cdef int64_t step_stages_timed(CycleState *state, int64_t t_ns) noexcept nogil:
    # as step_stages, with one clock read a stage; returns the moment the last stage ended
    cdef int i
    cdef Stage *stage
    cdef int64_t step_ns = 0, bus_ns = 0, end, begin = now_ns()
    denormal_met()               # a flag that the loop itself met is not a block's
    for i in range(state.n_stages):
        stage = &state.stages[i]
        _note(state, i, stage.step(stage.self, t_ns))
        end = now_ns()
        stage.took_ns = end - begin
        stage.denormal = denormal_met()
        if stage.work != NULL:
            stage.did = load_relaxed(stage.work) - stage.worked
            stage.worked += stage.did
        record(stage.histogram, end - begin)
        if stage.is_bus:
            bus_ns += end - begin
        else:
            step_ns += end - begin
        begin = end
    state.image[STEP_NS] = <double>step_ns
    state.image[BUS_NS] = <double>bus_ns
    return begin


cdef void publish_image(CycleState *state) noexcept nogil:
    publish_latest(state.latest, state.stride, <const int64_t *>state.image, state.cells)

"""Rehearsal: the cycles of a plan one after the other, without threads, each part timed."""
import numpy as np

from libc.stdint cimport int64_t
from libc.stdlib cimport calloc, free

from rt_core.lateness.histogram cimport record
from rt_core.loop.clock cimport now_ns, thread_cpu_ns
from rt_core.loop.cycle cimport (
    CYCLE, ELAPSED, FAULT, FAULT_BLOCK, Cycle, CycleState, publish_image, refresh_mirrors,
    step_stages_timed, wire_cycle,
)
from rt_core.shared cimport publish_latest, push_ring

from rt_core.names import SUPERVISOR
from rt_core.signals.layout import lay_out

cdef enum:
    RECORDS = 6                  # histograms that a live cycle writes beside those of its blocks
    LOOKS = 3                    # at the CPU clock: before, in and after a live cycle

cdef struct Part:                # one task
    CycleState *cycle
    int64_t every                # cycles of the fastest task from one of its own to the next
    int64_t period_ns
    int64_t done
    int64_t *took                # row i: of each stage, and last of all that is around them
    int64_t *ring
    int64_t slots
    int64_t *histogram


cdef void _step(Part *part, int64_t t_ns) noexcept nogil:
    # as the live loop does it, but for waiting and explaining
    cdef CycleState *cycle = part.cycle
    cdef double *image = cycle.image
    cdef int64_t *row = part.took + part.done * (cycle.n_stages + 1)
    cdef int64_t begin = now_ns(), blocks = 0
    cdef int i
    image[CYCLE] += 1
    image[ELAPSED] = 1
    image[FAULT] = 0
    image[FAULT_BLOCK] = 0
    refresh_mirrors(cycle)
    step_stages_timed(cycle, t_ns)
    publish_image(cycle)
    push_ring(part.ring, part.slots, t_ns, <const int64_t *>image, cycle.cells)
    for _ in range(RECORDS):
        record(part.histogram, begin & 0xFFFFF)
    for _ in range(LOOKS):
        thread_cpu_ns()
    for i in range(cycle.n_stages):
        row[i] = cycle.stages[i].took_ns
        blocks += row[i]
    row[cycle.n_stages] = now_ns() - begin - blocks
    part.done += 1


cdef class Rehearsal:
    """See rehearse.pyi."""

    cdef readonly object plan
    cdef readonly object layout
    cdef list _cycles
    cdef int64_t[::1] _words
    cdef Part *_parts
    cdef int64_t _base

    def __init__(self, plan):
        self.plan = plan
        self.layout = lay_out(plan.producers)
        # the same places as in a table file, in memory of our own, whose pages are all there
        self._words = np.full(self.layout.total_bytes // 8, 0, np.int64)
        self._cycles = [wire_cycle(task, self.layout, &self._words[0], True) for task in plan.tasks]
        self._parts = <Part *>calloc(max(1, len(plan.tasks)), sizeof(Part))
        if self._parts == NULL:
            raise MemoryError()
        fastest = min(task.period_ns for task in plan.tasks)
        cdef Cycle cycle
        cdef int k
        for k in range(len(plan.tasks)):
            task = plan.tasks[k]
            cycle = self._cycles[k]
            self._parts[k].cycle = &cycle.state
            self._parts[k].every = task.period_ns // fastest
            self._parts[k].period_ns = fastest
            self._parts[k].ring = &self._words[0] + <int64_t>cycle.area.ring
            self._parts[k].slots = task.slots
            self._parts[k].histogram = &self._words[0] + <int64_t>cycle.area.histograms["total"]

    def __dealloc__(self):
        free(self._parts)

    def run(self, n, given):
        cdef int64_t k, i, count = n, base = self._base
        cdef int n_tasks = len(self._cycles)
        cdef Cycle cycle
        cdef int64_t[:, ::1] rows
        self._show({path: value for path, value in given.items() if path.startswith(f"{SUPERVISOR}/")})
        took = {}
        for k in range(n_tasks):
            cycle = self._cycles[k]
            paths = cycle.area.producer.paths
            for path, value in given.items():
                if path in cycle.task.inputs:
                    cycle.image_array[<int64_t>paths.index(path)] = value
            # one row more than there can be cycles
            rows = np.zeros((count // self._parts[k].every + 1, cycle.state.n_stages + 1), np.int64)
            self._parts[k].took = &rows[0, 0]
            self._parts[k].done = 0
            took[cycle.task.name] = np.asarray(rows)
        with nogil:
            for i in range(base, base + count):
                for k in range(n_tasks):
                    if i % self._parts[k].every == 0:
                        _step(&self._parts[k], i * self._parts[k].period_ns)
        self._base += count
        for k in range(n_tasks):
            name = self.plan.tasks[k].name
            took[name] = took[name][:self._parts[k].done]
        return took

    cdef int _show(self, dict given) except -1:
        # what the supervisor says
        area = self.layout.areas[SUPERVISOR]
        cdef double[::1] image = np.zeros(max(1, area.cells))
        for path, value in given.items():
            image[<int64_t>area.producer.paths.index(path)] = value
        publish_latest(
            &self._words[0] + <int64_t>area.latest, area.stride, <const int64_t *>&image[0], area.cells)
        return 0

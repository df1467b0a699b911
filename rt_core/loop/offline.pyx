"""Offline stepping: the blocks of a plan, without threads and clock, as fast as they go.

A replay finds which fast cycle each slow cycle saw and from which fast cycle on its result was
visible.
With the same inputs the images are those of the live loop, bit for bit: both step through
cycle.pyx.
"""
import numpy as np

from libc.stdint cimport int64_t

from rt_core.loop.clock cimport now_ns
from rt_core.loop.cycle cimport (
    CYCLE, ELAPSED, FAULT, FAULT_BLOCK, OVERRUNS, SKIPPED,
    Cycle, CycleState, publish_image, refresh_mirrors, step_stages, wire_cycle,
)
from rt_core.shared cimport publish_latest

from rt_core.signals.layout import lay_out

cdef struct Track:               # inputs and records of one task
    CycleState *cycle
    int64_t period_ns
    int64_t last                 # period number of the last cycle
    const int64_t *t_ns
    int64_t n_forced
    const int64_t *forced_cell
    const double *forced         # row i for cycle i
    double *images


cdef void _step(Track *track, int64_t i) noexcept nogil:
    # one cycle except its publication
    cdef CycleState *cycle = track.cycle
    cdef double *image = cycle.image
    cdef int64_t k = track.t_ns[i] // track.period_ns
    cdef int64_t j
    image[CYCLE] += 1
    image[ELAPSED] = <double>(k - track.last)
    if k > track.last + 1:
        image[OVERRUNS] += 1
        image[SKIPPED] += <double>(k - track.last - 1)
    image[FAULT] = 0
    image[FAULT_BLOCK] = 0
    track.last = k
    refresh_mirrors(cycle)
    for j in range(track.n_forced):
        image[track.forced_cell[j]] = track.forced[i * track.n_forced + j]
    step_stages(cycle, track.t_ns[i])


cdef inline void _record(Track *track, int64_t i) noexcept nogil:
    cdef int64_t j
    if track.images != NULL:
        for j in range(track.cycle.cells):
            track.images[i * track.cycle.cells + j] = track.cycle.image[j]


cdef void _run(
    Track *fast, int64_t n, Track *slow, int64_t m, const int64_t *after, const int64_t *visible
) noexcept nogil:
    cdef int64_t i = 0           # fast cycles done
    cdef int64_t stepped = 0     # slow cycles
    cdef int64_t out = 0         # slow cycles published
    while True:
        while stepped < m and after[stepped] <= i:
            _step(slow, stepped)
            _record(slow, stepped)
            stepped += 1
        # from the record, because the next slow cycle may begin before this one is seen
        while out < stepped and visible[out] <= i:
            publish_latest(
                slow.cycle.latest, slow.cycle.stride,
                <const int64_t *>(slow.images + out * slow.cycle.cells), slow.cycle.cells,
            )
            out += 1
        if i == n:
            return
        _step(fast, i)
        publish_image(fast.cycle)
        _record(fast, i)
        i += 1


cdef class Offline:
    """See offline.pyi."""

    cdef readonly object plan
    cdef readonly object layout
    cdef readonly double wall_s
    cdef dict _cycles
    cdef dict _last
    cdef int64_t[::1] _words

    def __init__(self, plan):
        self.plan = plan
        self.layout = lay_out(plan.producers)
        # the same places as in a table file, in memory of our own
        self._words = np.zeros(self.layout.total_bytes // 8, np.int64)
        self._cycles = {
            task.name: wire_cycle(task, self.layout, &self._words[0], False) for task in plan.tasks
        }
        self._last = dict.fromkeys(self._cycles, -1)

    def paths(self, str task):
        return self.layout.areas[task].producer.paths

    def run(self, fast, t_ns, *, forced=None, slow=None, slow_t_ns=(), slow_after=(),
            slow_visible=None, slow_forced=None, record=True):
        cdef Track fast_track, slow_track
        cdef int64_t[::1] after = np.ascontiguousarray(slow_after, np.int64)
        cdef int64_t[::1] visible = np.ascontiguousarray(
            slow_after if slow_visible is None else slow_visible, np.int64
        )
        cdef int64_t n = len(t_ns)
        cdef int64_t m = len(slow_t_ns)
        cdef int64_t begin
        if slow is None and m:
            raise ValueError("slow_t_ns is given, but no slow task")
        _check_schedule(n, m, np.asarray(after), np.asarray(visible))
        images = {}
        keep = [self._track(&fast_track, fast, t_ns, forced, record, images)]
        if slow is not None:
            keep.append(self._track(&slow_track, slow, slow_t_ns, slow_forced, True, images))
        with nogil:
            begin = now_ns()
            _run(&fast_track, n, &slow_track, m, &after[0], &visible[0])
            begin = now_ns() - begin
        self.wall_s = begin * 1e-9
        self._last[fast] = fast_track.last
        if slow is not None:
            self._last[slow] = slow_track.last
        return images

    cdef object _track(self, Track *track, str task, t_ns, forced, bint record, dict images):
        # fill `track`; returns the objects that keep its pointers alive
        if task not in self._cycles:
            raise KeyError(f"no task {task!r}; there are: {', '.join(self._cycles)}")
        cdef Cycle cycle = self._cycles[task]
        cdef const int64_t[::1] times = np.ascontiguousarray(t_ns, np.int64)
        cdef Py_ssize_t n = times.shape[0]
        cdef const int64_t[::1] cells
        cdef const double[:, ::1] columns
        cdef double[:, ::1] rows
        paths = self.paths(task)
        forced = dict(forced or {})
        mistakes = [f"{path!r} is no cell of task {task!r}" for path in forced if path not in paths]
        mistakes += [
            f"{path!r} has shape {np.shape(column)}, the schedule of task {task!r} needs ({n},)"
            for path, column in forced.items() if np.shape(column) != (n,)
        ]
        periods = np.asarray(times) // cycle.task.period_ns
        if np.any(np.diff(periods, prepend=self._last[task]) <= 0):
            mistakes.append(
                f"t_ns of task {task!r} must rise by its period or more, also from run to run"
            )
        if mistakes:
            raise ValueError("\n".join(mistakes))
        index = {path: i for i, path in enumerate(paths)}
        cells = np.array([index[path] for path in forced], np.int64)
        columns = np.ascontiguousarray(
            np.column_stack([np.asarray(column, float) for column in forced.values()])
            if forced else np.zeros((n, 0))
        )
        track.cycle = &cycle.state
        track.period_ns = cycle.task.period_ns
        track.last = self._last[task]
        track.t_ns = &times[0]
        track.n_forced = len(forced)
        track.forced_cell = &cells[0]
        track.forced = &columns[0, 0]
        track.images = NULL
        if record:
            # touched here, so that the pages are there when the clock runs
            rows = np.full((n, cycle.state.cells), np.nan)
            track.images = &rows[0, 0]
            images[task] = np.asarray(rows)
        return times, cells, columns


def _check_schedule(n, m, after, visible):
    mistakes = []
    if after.shape != (m,) or visible.shape != (m,):
        mistakes.append(
            f"slow_after and slow_visible have shapes {after.shape} and {visible.shape}, "
            f"slow_t_ns has ({m},)"
        )
    elif m:
        if np.any(np.diff(after) < 0) or after[0] < 0 or after[-1] > n:
            mistakes.append(f"slow_after must rise within 0 and the {n} fast cycles")
        if np.any(visible < after) or np.any(np.diff(visible) < 0):
            mistakes.append("slow_visible must rise, and not lie before its slow_after")
    if mistakes:
        raise ValueError("\n".join(mistakes))

"""Offline stepping: the blocks of a plan, without threads and clock, as fast as they go.

A record says which image of each other task every cycle saw. So a cycle can be stepped as soon as these images are
there, and just before it they are published: whatever the order in which tasks are stepped, each cycle sees what it
saw live, and the images are those of the live loop, bit for bit. Both step through cycle.pyx.
"""
import numpy as np

from libc.stdint cimport int64_t
from libc.string cimport memcpy

from rt_core.loop.clock cimport now_ns
from rt_core.loop.cycle cimport (
    CYCLE, ELAPSED, FAULT, FAULT_BLOCK, OVERRUNS, SKIPPED,
    Cycle, CycleState, Stage, refresh_mirrors, step_stages, wire_cycle,
)
from rt_core.shared cimport publish_latest

from rt_core.steps import Steps
from rt_core.signals.layout import lay_out

cdef enum:
    MOST_TASKS = 64

cdef struct Track:               # inputs and records of one task
    CycleState *cycle
    int64_t period_ns
    int64_t last                 # period number of the last cycle
    const int64_t *t_ns
    int64_t n                    # cycles that are asked for, and done of these
    int64_t done
    const int64_t *seen          # row i: of each track the image that cycle i saw, as the number of its cycles; or any
    int64_t n_forced
    const int64_t *forced_cell
    const double *forced         # row i for cycle i
    double *images               # row i: the image at the end of cycle i
    int64_t stride               # numbers from row to row
    bint is_timed                # before each image stands its time
    int64_t before               # cycles before these
    const double *kept           # the images of the last of them, which may still be seen
    int64_t first_kept           # number of the first of them
    int64_t published            # number of the image that the others see now

cdef enum:
    ANY = -1                     # this cycle reads nothing of that task
    NONE_SHOWN = -2


cdef inline bint _is_due(const Track *tracks, int n, int k) noexcept nogil:
    cdef const Track *track = &tracks[k]
    cdef int j
    if track.done == track.n:
        return False
    for j in range(n):
        if track.seen[track.done * n + j] > tracks[j].before + tracks[j].done:
            return False
    return True


cdef inline void _show(Track *tracks, int n, int k) noexcept nogil:
    # the images that the next cycle of track k saw
    cdef Track *other
    cdef int64_t number
    cdef const double *image
    cdef int j
    for j in range(n):
        other = &tracks[j]
        number = tracks[k].seen[tracks[k].done * n + j]
        if number == ANY or number == other.published:
            continue
        if number > other.before:
            image = other.images + (number - 1 - other.before) * other.stride
        else:
            image = other.kept + (number - other.first_kept) * other.cycle.cells
        publish_latest(
            other.cycle.latest, other.cycle.stride, <const int64_t *>image, other.cycle.cells)
        other.published = number


cdef void _step(Track *track) noexcept nogil:
    cdef CycleState *cycle = track.cycle
    cdef double *image = cycle.image
    cdef double *row
    cdef int64_t i = track.done
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
    row = track.images + i * track.stride
    if track.is_timed:
        (<int64_t *>row)[-1] = track.t_ns[i]
    memcpy(row, image, cycle.cells * sizeof(double))
    track.done += 1


cdef void _run(Track *tracks, int n) noexcept nogil:
    # until all is done, or nothing that is left has seen what there is
    cdef int k
    cdef bint moved = True
    while moved:
        moved = False
        for k in range(n):
            while _is_due(tracks, n, k):
                _show(tracks, n, k)
                _step(&tracks[k])
                moved = True


cdef list _memory(Cycle cycle):
    # the words of the state of each block
    cdef Stage *stage
    cdef int64_t[::1] words
    cdef int i
    found = []
    for i in range(cycle.state.n_stages):
        stage = &cycle.state.stages[i]
        words = np.zeros(stage.bytes // 8, np.int64)
        if words.shape[0]:
            memcpy(&words[0], stage.self, 8 * words.shape[0])
        found.append(np.asarray(words))
    return found


cdef class Offline:
    """See offline.pyi."""

    cdef readonly object plan
    cdef readonly object layout
    cdef readonly double wall_s
    cdef dict _cycles
    cdef dict _last              # by task: period number of its last cycle, how many, and which images may be seen yet
    cdef dict _done
    cdef dict _kept
    cdef dict _published
    cdef dict _fresh             # by task: the memory of its blocks before the first cycle, addresses and all
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
        self._done = dict.fromkeys(self._cycles, 0)
        self._published = dict.fromkeys(self._cycles, 0)
        # number of the first one, and the images: before its first cycle a task is all zeros
        self._kept = {task: (0, np.zeros((1, len(self.paths(task))))) for task in self._cycles}
        self._fresh = {task: _memory(cycle) for task, cycle in self._cycles.items()}

    def paths(self, str task):
        return self.layout.areas[task].producer.paths

    @property
    def place(self):
        cdef Cycle cycle
        cdef int i
        found = {}
        for task, cycle in self._cycles.items():
            for i in range(cycle.state.n_stages):
                if cycle.state.stages[i].bytes == 0 or cycle.state.stages[i].bytes % 8:
                    raise ValueError(f"block {cycle.task.blocks[i].name!r} does not say how large its state is")
            changed = []
            for fresh, now in zip(self._fresh[task], _memory(cycle)):
                where = np.flatnonzero(fresh != now)
                changed.append([len(now), where, now[where]])
            first, kept = self._kept[task]
            found[task] = {
                "last": int(self._last[task]), "done": int(self._done[task]), "first_kept": int(first),
                "kept": kept, "image": np.array(cycle.image_array), "blocks": changed,
            }
        return found

    def put_back(self, place):
        cdef Cycle cycle
        cdef Stage *stage
        cdef const int64_t[::1] words
        cdef int i
        if set(place) != set(self._cycles) or any(self._done.values()):
            raise ValueError("put_back: a place of other tasks, or cycles were stepped already")
        for task, cycle in self._cycles.items():
            given = place[task]
            sizes = [len(fresh) for fresh in self._fresh[task]]
            if [n for n, _, _ in given["blocks"]] != sizes or np.shape(given["image"]) != (cycle.state.cells,):
                raise ValueError(f"put_back: the blocks of task {task!r} have other states")
        for task, cycle in self._cycles.items():
            given = place[task]
            cycle.image_array[:] = given["image"]
            for i, (_, where, values) in enumerate(given["blocks"]):
                # words that no cycle changed stay: among them are the addresses
                now = self._fresh[task][i].copy()
                now[where] = values
                words = now
                stage = &cycle.state.stages[i]
                if words.shape[0]:
                    memcpy(stage.self, &words[0], 8 * words.shape[0])
            self._last[task], self._done[task] = given["last"], given["done"]
            self._kept[task] = (given["first_kept"], np.ascontiguousarray(given["kept"]))
            self._published[task] = NONE_SHOWN

    def run(self, task, t_ns, *, forced=None):
        return self.run_together({task: Steps(t_ns, {}, forced or {})})

    def run_together(self, steps, *, rows=None):
        cdef Track tracks[MOST_TASKS]
        cdef int n = len(steps), k
        cdef int64_t begin
        if n > MOST_TASKS:
            raise ValueError(f"{n} tasks, at most {MOST_TASKS}")
        unknown = [task for task in steps if task not in self._cycles]
        if unknown:
            raise KeyError(f"no task {unknown[0]!r}; there are: {', '.join(self._cycles)}")
        mistakes, images, keep = [], {}, []
        for k, (task, given) in enumerate(steps.items()):
            room = None if rows is None else rows[task]
            keep.append(self._track(&tracks[k], task, given, [*steps], room, images, mistakes))
        if mistakes:
            raise ValueError("\n".join(mistakes))
        with nogil:
            begin = now_ns()
            _run(tracks, n)
            begin = now_ns() - begin
        self.wall_s = begin * 1e-9
        for k, task in enumerate(steps):
            images[task] = images[task][:tracks[k].done]
            self._last[task] = tracks[k].last
            self._published[task] = tracks[k].published
            self._done[task] += tracks[k].done
        for task in steps:
            self._keep(task, steps, images)
        return images

    cdef object _track(
        self, Track *track, str task, given, list together, room, dict images, list mistakes
    ):
        # fill `track`; returns the objects that keep its pointers alive
        cdef Cycle cycle = self._cycles[task]
        cdef const int64_t[::1] times = np.ascontiguousarray(given.t_ns, np.int64)
        cdef Py_ssize_t n = times.shape[0]
        cdef const int64_t[::1] cells
        cdef const int64_t[:, ::1] seen
        cdef const double[:, ::1] columns, kept
        cdef double[:, ::1] rows
        cdef int first = room is not None
        paths = self.paths(task)
        forced = dict(given.forced)
        bad = [f"{path!r} is no cell of task {task!r}" for path in forced if path not in paths]
        bad += [
            f"{path!r} has shape {np.shape(column)}, the schedule of task {task!r} needs ({n},)"
            for path, column in forced.items() if np.shape(column) != (n,)
        ]
        periods = np.asarray(times) // cycle.task.period_ns
        if np.any(np.diff(periods, prepend=self._last[task]) <= 0):
            bad.append(f"t_ns of task {task!r} must rise by its period or more, also from run to run")
        bad += self._wrong_views(task, given.seen, n, together)
        shape = np.shape(room) if first else (n, 1 + len(paths))
        if len(shape) != 2 or shape[0] < n or shape[1] != 1 + len(paths):
            bad.append(f"rows of task {task!r} have shape {shape}, the schedule needs ({n}, {1 + len(paths)}) at least")
        mistakes += bad
        if bad:
            return None
        index = {path: i for i, path in enumerate(paths)}
        cells = np.array([index[path] for path in forced], np.int64)
        columns = np.ascontiguousarray(
            np.column_stack([np.asarray(column, float) for column in forced.values()])
            if forced else np.zeros((n, 0))
        )
        seen = np.ascontiguousarray(np.column_stack([
            np.asarray(given.seen[other], np.int64) if other in given.seen else np.full(n, <int>ANY)
            for other in together
        ]), np.int64)
        # touched here, so that the pages are there when the clock runs
        rows = room if first else np.full((n, cycle.state.cells), np.nan)
        first_kept, images_kept = self._kept[task]
        kept = images_kept
        track.cycle = &cycle.state
        track.period_ns = cycle.task.period_ns
        track.last = self._last[task]
        track.t_ns = &times[0]
        track.n, track.done = n, 0
        track.seen = &seen[0, 0]
        track.n_forced = len(forced)
        track.forced_cell = &cells[0]
        track.forced = &columns[0, 0]
        track.images = &rows[0, first]
        track.stride, track.is_timed = rows.shape[1], first
        track.before = self._done[task]
        track.kept, track.first_kept = &kept[0, 0], first_kept
        track.published = self._published[task]
        images[task] = np.asarray(rows)[:n, first:]
        return times, cells, columns, seen, kept

    def _wrong_views(self, task, seen, n, together):
        reads = {mirror.producer for mirror in self.plan.producer(task).mirrors}
        bad = [
            f"task {task!r} reads of {other!r}: `seen` has to say which of its cycles"
            for other in together if other in reads and other not in seen
        ]
        for other, column in seen.items():
            numbers = np.asarray(column)
            if other not in together or other == task:
                bad.append(f"seen of task {task!r}: {other!r} is no other task that is stepped with it")
            elif numbers.shape != (n,):
                bad.append(f"seen of task {task!r}: {other!r} has shape {numbers.shape}, needs ({n},)")
            elif n and (np.any(np.diff(numbers) < 0) or not numbers[0] >= self._kept[other][0]):
                bad.append(
                    f"seen of task {task!r}: the cycles of {other!r} must rise from "
                    f"{self._kept[other][0]} on")
        return bad

    def _keep(self, task, steps, images):
        # what may be seen yet: from the image on that the slowest reader saw last; without a reader the last one
        first, kept = self._kept[task]
        before = self._done[task] - len(images[task])
        readers = [
            other for other in self._cycles
            if other != task and any(m.producer == task for m in self.plan.producer(other).mirrors)
        ]
        oldest = self._done[task]
        for other in readers:
            done = len(images[other]) if other in steps else 0
            if done:
                oldest = min(oldest, int(np.asarray(steps[other].seen[task])[done - 1]))
            elif other in steps and len(steps[other]):
                oldest = min(oldest, int(np.asarray(steps[other].seen[task])[0]))
            elif other in steps:
                oldest = min(oldest, first)
        rows = kept[max(0, oldest - first):before - first + 1]
        self._kept[task] = (
            min(oldest, self._done[task]),
            np.ascontiguousarray(np.vstack([rows, images[task][max(0, oldest - before - 1):]])),
        )

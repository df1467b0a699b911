"""The live loop: starts the tasks' threads from one common zero, and brings them to rest."""
import atexit
from collections import namedtuple
from contextlib import suppress

from cpython.exc cimport PyErr_CheckSignals
from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.stdint cimport int64_t
from libc.stdlib cimport calloc, free

from rt_core.block cimport BlockView
from rt_core.loop.clock cimport now_ns, wait_until
from rt_core.loop.cycle cimport CYCLE, Cycle, CycleState, Source, Stage, publish_image, wire_cycle
from rt_core.shared cimport LINE_WORDS, RING_HEAD_WORDS, load_acquire, store_release
from rt_core.signals.table cimport SignalTable
from rt_core.lateness.policy cimport SAFE, SKIP, STOP_LOOP
from rt_core.loop.task cimport NEVER, Shared, Thread, join, spawn
from rt_core.loop.warm cimport WarmPages
from rt_core.loop.watchdog cimport MOST_SAFE, Guarded, Watchdog, end_watchdog, spawn_watchdog

from rt_core.block import BLOCK_CAPSULE
from rt_core.lateness.histogram import HISTOGRAM_WORDS
from rt_core.host.facts import Host
from rt_core.signals.layout import TableError
from rt_core.lateness.untold import PRIOR_METAL, PRIOR_VIRTUAL
from rt_core.loop.warm import mappings

cdef enum:
    FOREVER = 0x7FFFFFFFFFFFFFFF


Stall = namedtuple("Stall", ("task", "cycle", "for_ns", "sent", "kept_ns"))

# loops whose threads live, even against their will: the memory they use must not go away
_running = set()


@atexit.register
def _stop_all():
    for loop in list(_running):
        loop.stop()


cdef class Loop:
    """See loop.pyi."""

    cdef readonly object plan
    cdef readonly SignalTable table
    cdef readonly bint fifo
    cdef readonly bint explains
    cdef readonly double stop_timeout_s
    cdef readonly double start_timeout_s
    cdef readonly bint at_rest
    cdef list _safe              # where the signals are that say that an output is at rest
    cdef list _cycles
    cdef list _warm
    cdef Thread *_threads
    cdef int _n
    cdef Shared _shared
    cdef Watchdog _watchdog
    cdef list _safe_blocks       # keeps the objects that the watchdog calls
    cdef bint _started

    def __cinit__(self):
        self._cycles = []
        self._warm = []
        self._safe_blocks = []

    def __init__(self, plan, SignalTable table, *, fifo=False, safe=(), stop_timeout_s=1.0,
                 start_timeout_s=10.0, explains=True):
        if not table.writable:
            raise TableError(f"{table.path}: attached for reading; attach with writable=True")
        if table.producers != plan.producers:
            raise TableError(f"{table.path}: made from another plan than this loop's")
        self.plan = plan
        self.table = table
        self.fifo = fifo
        self.explains = explains
        self.stop_timeout_s = stop_timeout_s
        self.start_timeout_s = start_timeout_s
        self._safe = [_find(plan, path) for path in ((safe,) if isinstance(safe, str) else safe)]
        self._threads = <Thread *>calloc(len(plan.tasks), sizeof(Thread))
        self._watchdog.seen = <int64_t *>calloc(3 * len(plan.tasks), sizeof(int64_t))
        if self._threads == NULL or self._watchdog.seen == NULL:
            raise MemoryError()
        self._watchdog.before = self._watchdog.seen + len(plan.tasks)
        self._watchdog.kept_ns = self._watchdog.before + len(plan.tasks)
        self._watchdog.life = table.words + <int64_t>table.layout.life
        for task in plan.tasks:
            self._add(task)
        self._watchdog.shared = &self._shared
        self._watchdog.threads = self._threads
        self._watchdog.n = self._n

    cdef int _add(self, object task) except -1:
        cdef Cycle cycle = wire_cycle(task, self.table.layout, self.table.words, True)
        cdef Thread *thread = &self._threads[self._n]
        cdef WarmPages pages
        cdef Guarded *guarded
        cdef int64_t *words = self.table.words
        area = cycle.area
        thread.shared = &self._shared
        thread.cycle = &cycle.state
        thread.period_ns = task.period_ns
        if task.steer is not None:
            paths = self.plan.producer(task.name).paths
            thread.steer = &cycle.state.image[<int64_t>paths.index(task.steer)]
        thread.spin_ns = task.spin_ns
        if task.warm_touch and task.spin_ns > 0:
            pages = _pages_of(cycle, self.table, area, task)
            self._warm.append(pages)
            thread.warm = &pages.warm
        thread.stall_ns = (
            FOREVER if task.stall_cycles is None else task.stall_cycles * task.period_ns
        )
        thread.late_limit_ns = (
            task.period_ns if task.late_limit_ns is None else task.late_limit_ns
        )
        thread.bus_wait_ns = FOREVER if task.bus_wait_ns is None else task.bus_wait_ns
        thread.core = -1 if task.core is None else task.core
        thread.off_core_is_fault = task.off_core == "safe"
        thread.explains = self.explains
        thread.policy.action = {"skip": SKIP, "safe": SAFE, "stop": STOP_LOOP}[task.overrun]
        thread.policy.limit = task.overrun_limit
        thread.policy.window = task.overrun_window
        thread.policy.ignore_stolen = not task.count_stolen
        thread.trace.words = words + <int64_t>area.trace
        thread.ring = words + <int64_t>area.ring
        thread.slots = task.slots
        thread.late = words + <int64_t>area.histograms["late"]
        thread.step = words + <int64_t>area.histograms["step"]
        thread.bus = words + <int64_t>area.histograms["bus"]
        thread.spin = words + <int64_t>area.histograms["spin"]
        thread.explainer.hole = words + <int64_t>area.histograms["hole"]
        thread.explainer.untold = words + <int64_t>area.histograms["untold"]
        thread.explainer.prior_per_s = PRIOR_VIRTUAL if Host().is_virtual() else PRIOR_METAL
        thread.explain = words + <int64_t>area.histograms["explain"]
        thread.total = words + <int64_t>area.histograms["total"]
        for block in task.blocks:
            if hasattr(block, "safe_capsule"):
                if self._watchdog.n_guarded == MOST_SAFE:
                    raise ValueError(f"block {block.name!r}: a loop has at most {MOST_SAFE} bus blocks")
                guarded = &self._watchdog.guarded[self._watchdog.n_guarded]
                capsule = block.safe_capsule()
                self._safe_blocks.append((block, capsule))
                guarded.safe = <BlockView *>PyCapsule_GetPointer(capsule, BLOCK_CAPSULE.encode())
                guarded.task = self._n
                self._watchdog.n_guarded += 1
        self._cycles.append(cycle)
        self._n += 1
        return 0

    def __dealloc__(self):
        free(self._threads)
        free(self._watchdog.seen)

    @property
    def start_ns(self):
        return self._shared.start_ns

    @property
    def running(self):
        cdef int i
        for i in range(self._n):
            if self._threads[i].created and not load_acquire(&self._threads[i].ended):
                return True
        return False

    @property
    def stop_requested(self):
        return load_acquire(&self._shared.stop) != 0

    @property
    def stall(self):
        cdef int64_t stalled = load_acquire(&self._watchdog.stalled)
        if not stalled:
            return None
        return Stall(
            self.plan.tasks[stalled - 1].name, self._watchdog.stalled_cycle,
            self._watchdog.stalled_ns, load_acquire(&self._watchdog.sent), self._watchdog.stalled_kept_ns,
        )

    @property
    def orphaned(self):
        return load_acquire(&self._watchdog.orphaned) != 0

    def start(self):
        if self._started:
            raise RuntimeError("a loop starts once; make a new one")
        self._started = True
        self.table.hold()
        _running.add(self)
        cdef int i
        try:
            for i in range(self._n):
                spawn(&self._threads[i], self.plan.tasks[i], self.fifo)
            for i in range(self._n):
                self._await(&self._threads[i].ready, self.start_timeout_s,
                            f"start (task {self.plan.tasks[i].name})")
            if any(task.stall_cycles is not None for task in self.plan.tasks):
                # its looks disturb the task with the fewest cycles
                slowest = max(self.plan.tasks, key=lambda task: task.period_ns)
                spawn_watchdog(&self._watchdog, self.fifo, slowest.core)
                self._await(&self._watchdog.ready, self.start_timeout_s, "start (the watchdog)")
        except BaseException:
            self._release(NEVER)
            with suppress(TimeoutError):
                # a task that could not start cannot end; the first error has the reason
                self.finish()
            raise
        self._release(now_ns() + 1000000)

    cdef void _release(self, int64_t start_ns) noexcept:
        store_release(&self._shared.start_ns, start_ns)

    cdef int _await(self, const int64_t *flag, double timeout_s, str what) except -1:
        # bounded, and without signal handlers: a second Ctrl-C must not cut the way out short
        cdef int64_t until = now_ns() + <int64_t>(timeout_s * 1e9)
        while not load_acquire(flag):
            if now_ns() > until:
                raise TimeoutError(f"a task thread did not {what} within {timeout_s} s")
            with nogil:
                wait_until(now_ns() + 1000000, 0)
        return 0

    def request_stop(self):
        store_release(&self._shared.stop, 1)

    def wait(self, double timeout_s):
        cdef int64_t until = now_ns() + <int64_t>(timeout_s * 1e9)
        cdef int64_t pause
        while self.running and not self.stop_requested:
            pause = min(until, now_ns() + 20000000)
            if now_ns() >= until:
                return False
            with nogil:
                wait_until(pause, 0)
            PyErr_CheckSignals()
        return True

    def stop(self):
        self.request_stop()
        try:
            self.at_rest = self._await_safe()
        finally:
            self.finish()
        return self.at_rest

    def _await_safe(self):
        # an output leaves with the exchange of the cycle after its guard said so: wait two more
        # cycles
        if not self._safe or not self.running:
            return True
        cdef int64_t until = now_ns() + <int64_t>(self.stop_timeout_s * 1e9)
        rest_cycles = [None] * len(self._safe)
        while now_ns() < until and self.running:
            if all([self._rests(i, rest_cycles) for i in range(len(self._safe))]):
                return True
            with nogil:
                wait_until(now_ns() + 500000, 0)
        return False

    cdef bint _rests(self, int i, list rest_cycles) except -1:
        producer, safe, cycle = self._safe[i]
        if self._is_taken(producer):
            # its guard no longer acts: only outputs of the watchdog leave
            return True
        image = self.table.read_image(producer)[1]
        if not image[safe] > 0.5:
            rest_cycles[i] = None
        elif rest_cycles[i] is None:
            rest_cycles[i] = image[cycle]
        return rest_cycles[i] is not None and image[cycle] >= rest_cycles[i] + 2

    cdef bint _is_taken(self, str task):
        # whether safe outputs of the watchdog have left on every bus of a task
        cdef int i
        sent = [load_acquire(&self._watchdog.guarded[i].sent) for i in range(self._watchdog.n_guarded)
                if self.plan.tasks[self._watchdog.guarded[i].task].name == task]
        return bool(sent) and all(sent)

    def finish(self, double timeout_s=1.0):
        cdef int i
        if self not in _running:
            return
        store_release(&self._shared.end, 1)
        try:
            for i in range(self._n):
                if self._threads[i].created:
                    self._await(&self._threads[i].ended, timeout_s, "end (a block hangs)")
                    join(&self._threads[i])
        finally:
            end_watchdog(&self._watchdog)
        self.table.users -= 1
        _running.discard(self)

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *exc):
        self.stop()


cdef WarmPages _pages_of(Cycle cycle, SignalTable table, object area, object task):
    # memory that a cycle of this task is going to touch; blocks say themselves how large they are
    cdef WarmPages pages = WarmPages()
    cdef CycleState *state = &cycle.state
    cdef int64_t *words = table.words
    cdef int i
    pages.add(state.image, state.cells * sizeof(double))
    pages.add(state.stages, state.n_stages * sizeof(Stage))
    pages.add(state.sources, state.n_sources * sizeof(Source))
    pages.add(state.latest, <int64_t>(LINE_WORDS + 2 * area.stride) * sizeof(int64_t))
    for word in area.histograms.values():
        pages.add(words + <int64_t>word, <int64_t>HISTOGRAM_WORDS * sizeof(int64_t))
    pages.add(words + <int64_t>area.trace, 8192)
    pages.add(words + <int64_t>area.ring, RING_HEAD_WORDS * sizeof(int64_t))
    maps = mappings()
    pages.add_code(maps, <const void *>publish_image)
    pages.add_code(maps, <const void *>join)
    for i in range(state.n_stages):
        pages.add(state.stages[i].self, state.stages[i].bytes)
        pages.add(state.stages[i].work, sizeof(int64_t))
        pages.add_code(maps, <const void *>state.stages[i].step)
    for i in range(state.n_sources):
        # another's latest image: only read here, but this process may write all of the table
        pages.add(state.sources[i].latest, <int64_t>(LINE_WORDS + 2 * state.sources[i].stride) * sizeof(int64_t))
    pages.settle(maps)
    pages.warm.ring = words + <int64_t>area.ring
    pages.warm.slots = task.slots
    pages.warm.slot_words = 1 + state.cells
    return pages


def _find(plan, str safe):
    for task in plan.tasks:
        paths = plan.producer(task.name).signals
        if safe in paths:
            return task.name, paths.index(safe), CYCLE
    raise KeyError(f"safe = {safe!r}: no task writes this signal")

"""A look into a task's ring beside its one consumer: rows are copied, checked, and stay where they are."""
import numpy as np

from libc.stdint cimport int64_t

from rt_core.shared cimport RING_HEAD_WORDS, WRITTEN, fence_acquire, load_acquire, load_relaxed
from rt_core.signals.table cimport SignalTable

from rt_core.signals.layout import TableError


cdef enum:
    # newest overwritten slots that may not be counted yet: the slot in work, and stores that a processor shows early
    IN_WORK = 8


cdef class RingView:
    """See ring_view.pyi."""

    def __init__(self, SignalTable table, str task, paths=None):
        area = table.area(task)
        if not area.producer.ring_slots:
            raise TableError(f"{table.path}: {task!r} has no ring")
        cells = {path: cell for cell, path in enumerate(area.producer.paths)}
        chosen = tuple(cells) if paths is None else tuple(paths)
        missing = [path for path in chosen if path not in cells]
        if missing:
            raise KeyError(f"{table.path}: the rows of {task!r} have no signal {missing[0]!r}")
        self.words = np.array([0, *(1 + cells[path] for path in chosen)], np.int64)
        self.dtype = np.dtype([("t_ns", "<i8"), *((path, "<f8") for path in chosen)])
        self.slots = area.producer.ring_slots
        self.slot_words = 1 + <int64_t>area.cells
        table.hold()
        self.ring = table.words + <int64_t>area.ring
        self.table = table
        self.next_row = max(0, load_acquire(self.ring + WRITTEN) - self.slots + IN_WORK)

    def take(self):
        if self.ring == NULL:
            raise TableError("the view of the ring is closed")
        cdef int64_t written = load_acquire(self.ring + WRITTEN)
        cdef int64_t first = max(self.next_row, written - self.slots + IN_WORK)
        self.table.require_whole()
        if written < self.next_row:
            raise TableError(f"{self.table.path}: ring with {written} rows after {self.next_row}: corrupt")
        rows = np.empty(max(0, written - first), self.dtype)
        cdef int64_t[:, ::1] out
        cdef int64_t kept = first
        if len(rows):
            out = rows.view(np.int64).reshape(len(rows), len(self.words))
            with nogil:
                kept = self.copy_rows(first, written, out)
        self.table.require_whole()
        lost = min(kept, written) - self.next_row
        self.next_row = written
        return rows[kept - first:], lost

    cdef int64_t copy_rows(self, int64_t first, int64_t end, int64_t[:, ::1] out) noexcept nogil:
        # returns the first row that nobody wrote over meanwhile
        cdef int64_t row, k
        cdef const int64_t *slot
        for row in range(first, end):
            slot = self.ring + RING_HEAD_WORDS + (row & (self.slots - 1)) * self.slot_words
            for k in range(self.words.shape[0]):
                out[row - first, k] = load_relaxed(slot + self.words[k])
        fence_acquire()
        return max(first, load_relaxed(self.ring + WRITTEN) - self.slots + IN_WORK)

    def close(self):
        if self.ring != NULL:
            self.ring = NULL
            self.table.users -= 1

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()

    def __dealloc__(self):
        if self.ring != NULL and self.table is not None:
            self.table.users -= 1

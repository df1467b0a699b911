"""The signal table: a shared-memory file that describes itself, and the reader of its rings."""
import errno
import fcntl
import mmap
import os
import stat

import numpy as np

from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcpy

from rt_core.signals.mapped_file cimport guard_range, is_cut, release_range
from rt_core.shared cimport (
    CONSUMED, DROPPED, RING_HEAD_WORDS, UNWRITTEN, UNWRITTEN_WHY, WRITTEN,
    load_acquire, load_relaxed, publish_latest, read_latest, store_release,
)

from rt_core.lateness.histogram import HISTOGRAM_WORDS, Histogram
from rt_core.signals.layout import (
    HEADER, MAGIC, MAX_BYTES, TABLE_ABI, WORD, CutError, TableError, describe, lay_out, read_layout, unknown_signal,
)
from rt_core.names import BESIDE, SUPERVISOR
from rt_core.lateness.trace import TRACE_SIZE, read_events


cdef int64_t FIRST_WORD = int.from_bytes(MAGIC, "little", signed=True)


cdef class SignalTable:
    """See table.pyi."""

    def __init__(self):
        raise TypeError("use SignalTable.create or SignalTable.attach")

    @classmethod
    def create(cls, path, plan, *, run=""):
        path = os.fspath(path)
        layout = lay_out(plan.producers, describe(plan.producers, run))
        # built under another name and linked, so that nobody ever attaches to half a table
        building = f"{path}.{os.getpid()}"
        fd = _own_file(building)
        try:
            # fails here when the memory is not there, not with SIGBUS in the loop
            os.posix_fallocate(fd, 0, layout.total_bytes)
            head = HEADER.pack(MAGIC, TABLE_ABI, layout.total_bytes, len(layout.description))
            os.pwrite(fd, head + layout.description, 0)
            try:
                os.link(building, path)
            except FileExistsError:
                raise TableError(f"{path}: taken: {_whose(path)}; remove it, or wait for its run")
            return _map_table(path, fd, layout, True)
        finally:
            os.close(fd)
            os.unlink(building)

    @property
    def cut(self):
        return self.place >= 0 and is_cut(self.place)

    @classmethod
    def attach(cls, path, *, writable=False):
        path = os.fspath(path)
        flags = os.O_RDWR if writable else os.O_RDONLY
        # whoever may write into /dev/shm can put something under a name that is known beforehand
        try:
            fd = os.open(path, flags | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW)
        except OSError as error:
            if error.errno == errno.ELOOP:
                raise TableError(f"{path}: a symbolic link, so no signal table") from None
            raise
        try:
            status = os.fstat(fd)
            if not stat.S_ISREG(status.st_mode):
                raise TableError(f"{path}: not a regular file, so no signal table")
            if status.st_uid != os.geteuid() or status.st_mode & 0o022:
                raise TableError(
                    f"{path}: {_whose(path)}, mode {stat.S_IMODE(status.st_mode):04o}: a signal table "
                    "is one's own, and nobody else may write it"
                )
            if status.st_size > MAX_BYTES:
                raise TableError(f"{path}: {status.st_size} bytes, more than any signal table")
            head = os.pread(fd, HEADER.size, 0)
            if len(head) == HEADER.size:
                length = HEADER.unpack(head)[3]
                if 0 < length <= status.st_size:
                    head += os.pread(fd, length, HEADER.size)
            layout = read_layout(path, head, status.st_size)
            return _map_table(path, fd, layout, writable)
        finally:
            os.close(fd)

    @property
    def producers(self):
        return tuple(area.producer for area in self.layout.areas.values())

    def paths(self, str producer):
        return self.area(producer).producer.paths

    def latest(self, str producer):
        return self.latest_with_number(producer)[1]

    def latest_with_number(self, str producer):
        found = self.read_image(producer)
        self.require_whole()
        return found

    cdef tuple read_image(self, str producer):
        # of a file that was cut short, too: the process that writes an image goes on with it in memory of its own
        area = self.area(producer)
        cdef int64_t latest = area.latest
        cdef int64_t stride = area.stride
        cdef int64_t n = area.cells
        image = np.zeros(n)
        cdef double[::1] cells = image
        cdef int64_t number = -1
        cdef int tries = 0
        if n == 0:
            return 0, image
        while number < 0 and tries < 1000:
            number = read_latest(self.words + latest, stride, NULL, n, <int64_t *>&cells[0])
            tries += 1
        if number < 0:
            self.require_whole()
            # no writer is that fast
            raise TableError(
                f"{self.path}: the image of {producer!r} never stands still: the signal table was written over "
                "by something else"
            )
        return number, image

    def value(self, str path):
        for area in self.layout.areas.values():
            if path in area.producer.signals:
                return float(self.latest(area.producer.name)[area.producer.signals.index(path)])
        raise unknown_signal(path, [known for area in self.layout.areas.values() for known in area.producer.signals])

    def publish(self, signals, str producer=SUPERVISOR):
        area = self.area(producer)
        if not self.writable:
            raise TableError(f"{self.path}: attached for reading; attach with writable=True")
        if producer not in BESIDE:
            raise ValueError(f"{self.path}: the loop itself publishes the images of {producer!r}")
        unknown = [path for path in signals if path not in area.producer.signals]
        if unknown:
            raise KeyError(f"the producer {producer!r} has no signal {', '.join(map(repr, unknown))}")
        self._published.update(signals)
        cdef double[::1] image = np.array(
            [self._published.get(path, 0.0) for path in area.producer.signals], float
        )
        if image.shape[0]:
            publish_latest(
                self.words + <int64_t>area.latest, area.stride,
                <const int64_t *>&image[0], image.shape[0],
            )
        self.require_whole()

    def histograms(self, str task):
        area = self.area(task)
        found = {}
        for name, word in area.histograms.items():
            words = np.frombuffer(self._bytes, np.int64, HISTOGRAM_WORDS, word * WORD)
            found[name] = Histogram.from_words(words)
        self.require_whole()
        return found

    def late_events(self, str task):
        area = self.area(task)
        if not area.producer.ring_slots:
            raise TableError(f"{self.path}: {task!r} is no task, so it is never late")
        found = read_events(np.frombuffer(self._bytes, np.int64, TRACE_SIZE, area.trace * WORD))
        self.require_whole()
        return found

    def close(self, *, unlink=False):
        if self.users:
            raise RuntimeError(f"{self.path}: in use by {self.users} loop(s) or reader(s)")
        self.words = NULL
        self._release()
        if self._bytes is not None:
            self._bytes.release()
            self._bytes = None
            self._map.close()
        if unlink and os.path.lexists(self.path):
            os.unlink(self.path)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.close()

    cdef object area(self, str producer):
        if self.words == NULL:
            raise TableError(f"{self.path}: closed")
        if producer not in self.layout.areas:
            raise KeyError(
                f"{self.path}: no producer {producer!r}; there are: {', '.join(self.layout.areas)}"
            )
        return self.layout.areas[producer]

    cdef int require_whole(self) except -1:
        # after a read, not before it: what was cut off in between has read as zeros
        if self.place >= 0 and is_cut(self.place):
            raise CutError(self.path)
        # whatever writes over a table hits its first word in all likelihood
        if self.words[0] != FIRST_WORD:
            raise TableError(f"{self.path}: the signal table was written over by something else")
        return 0

    cdef void _release(self) noexcept:
        if self.place >= 0:
            release_range(self.place)
            self.place = -1

    def __dealloc__(self):
        self._release()

    cdef int hold(self) except -1:
        if self.words == NULL:
            raise TableError(f"{self.path}: closed")
        self.users += 1
        return 0


def _own_file(str path):
    # a lock from the first moment on: whoever clears up tables that nobody owns looks for it, in whatever container
    # that shares the folder; it lasts as long as the map does
    while True:
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(fd, fcntl.LOCK_SH)
            if os.fstat(fd).st_nlink:
                return fd
        except BaseException:
            os.close(fd)
            raise
        # cleared away before it was locked
        os.close(fd)


def _whose(path):
    try:
        owner = os.lstat(path).st_uid
    except OSError:
        return "already gone"
    return "your own" if owner == os.geteuid() else f"of another user (uid {owner})"


cdef SignalTable _map_table(str path, int fd, object layout, bint writable):
    # MAP_POPULATE: every page is there before the first cycle
    cdef SignalTable table = SignalTable.__new__(SignalTable)
    cdef Py_buffer buffer
    prot = mmap.PROT_READ | (mmap.PROT_WRITE if writable else 0)
    table.place = -1
    table._map = mmap.mmap(fd, layout.total_bytes, mmap.MAP_SHARED | mmap.MAP_POPULATE, prot)
    table._bytes = memoryview(table._map)
    table.path = path
    table.writable = writable
    table.layout = layout
    table._published = {}
    PyObject_GetBuffer(table._bytes, &buffer, PyBUF_SIMPLE)
    table.words = <int64_t *>buffer.buf
    PyBuffer_Release(&buffer)
    table.place = guard_range(table.words, layout.total_bytes)
    return table


cdef class RingReader:
    """See table.pyi."""

    cdef readonly SignalTable table
    cdef readonly object dtype
    cdef int64_t *ring
    cdef int64_t slots
    cdef int64_t slot_words

    def __init__(self, SignalTable table, str task):
        area = table.area(task)
        if not area.producer.ring_slots:
            raise TableError(f"{table.path}: {task!r} has no ring")
        if not table.writable:
            raise TableError(f"{table.path}: attached for reading; attach with writable=True")
        names = area.producer.paths
        self.dtype = np.dtype([("t_ns", "<i8"), *((name, "<f8") for name in names)])
        self.slots = area.producer.ring_slots
        self.slot_words = 1 + <int64_t>area.cells
        self.ring = table.words + <int64_t>area.ring
        table.hold()
        self.table = table

    def counters(self):
        # consumed before written: never more consumed than produced
        cdef int64_t consumed = load_acquire(self._open() + CONSUMED)
        cdef int64_t written = load_acquire(self.ring + WRITTEN)
        cdef int64_t dropped = load_relaxed(self.ring + DROPPED)
        return {
            "produced": written + dropped, "consumed": consumed, "dropped": dropped,
            "unwritten": load_relaxed(self.ring + UNWRITTEN),
            "unwritten_errno": load_relaxed(self.ring + UNWRITTEN_WHY),
        }

    def tell_unwritten(self, int64_t cycles, int64_t why):
        cdef int64_t *ring = self._open()
        store_release(ring + UNWRITTEN_WHY, why)
        store_release(ring + UNWRITTEN, cycles)

    def drain(self, most=None):
        rows = self.peek(most)
        self.advance(len(rows))
        return rows

    def advance(self, int64_t n):
        cdef int64_t *ring = self._open()
        cdef int64_t consumed = load_relaxed(ring + CONSUMED)
        if not 0 <= n <= load_acquire(ring + WRITTEN) - consumed:
            raise ValueError(f"{n} cycles are not in the ring")
        store_release(ring + CONSUMED, consumed + n)

    def peek(self, most=None):
        cdef int64_t *ring = self._open()
        cdef int64_t consumed = load_relaxed(ring + CONSUMED)
        cdef int64_t n = load_acquire(ring + WRITTEN) - consumed
        self.table.require_whole()
        if <uint64_t>n > <uint64_t>self.slots:
            raise TableError(f"{self.table.path}: ring with {n} of {self.slots} slots: corrupt")
        if most is not None:
            n = min(n, <int64_t>max(0, most))
        rows = np.empty(n, self.dtype)
        cdef const unsigned char[::1] out
        cdef int64_t first = consumed & (self.slots - 1)
        cdef int64_t head = min(n, self.slots - first)
        cdef int64_t size = self.slot_words * sizeof(int64_t)
        cdef unsigned char *data = <unsigned char *>(ring + RING_HEAD_WORDS)
        if n:
            out = rows.view(np.uint8)
            memcpy(<void *>&out[0], data + first * size, head * size)
            if n > head:
                memcpy(<void *>(&out[0] + head * size), data, (n - head) * size)
        self.table.require_whole()
        return rows

    def close(self):
        if self.ring != NULL:
            self.ring = NULL
            self.table.users -= 1

    def __dealloc__(self):
        if self.ring != NULL and self.table is not None:
            self.table.users -= 1

    cdef int64_t *_open(self) except NULL:
        if self.ring == NULL:
            raise TableError("the ring reader is closed")
        return self.ring

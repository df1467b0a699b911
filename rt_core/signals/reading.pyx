"""Signals of a running loop by path, for programs that look on."""
import numpy as np

cimport cython
from libc.stdint cimport int64_t

from rt_core.shared cimport read_latest
from rt_core.signals.table cimport SignalTable

from rt_core.signals.layout import TableError, unknown_signal


cdef enum:
    TRIES = 1000                 # of READ_TRIES each: no writer is that fast
    MOST_SELECTIONS = 64


@cython.final
cdef class Place:
    """A signal's cell in the image of its writer."""

    cdef int64_t latest, stride, cell


@cython.final
cdef class Selection:
    """Some signals, by writer: where they lie in its image, and where in the array."""

    cdef int64_t[:, ::1] images  # latest, stride, first, end
    cdef int64_t[::1] cells      # within the image, writer by writer
    cdef int64_t[::1] order      # of the signal in the array
    cdef double[::1] found       # values by cell


cdef inline int _read(SignalTable table, int64_t latest, int64_t stride, const int64_t *cells, int64_t n,
                      double *out) except -1:
    cdef int _try
    for _try in range(TRIES):
        if read_latest(table.words + latest, stride, cells, n, <int64_t *>out) >= 0:
            table.require_whole()
            return 0
    table.require_whole()
    raise TableError(f"{table.path}: an image never stands still: the signal table was written over by something else")


cdef class SignalReader:
    """See reading.pyi."""

    def __init__(self, SignalTable table):
        cdef Place place
        table.hold()
        self.table, self._is_open = table, True
        self._places, self._selections = {}, {}
        for area in table.layout.areas.values():
            for cell, path in enumerate(area.producer.signals):
                place = Place.__new__(Place)
                place.latest, place.stride, place.cell = area.latest, area.stride, cell
                self._places[path] = place

    def __getitem__(self, path):
        cdef double value = 0.0
        found = self._places.get(path)
        if found is None:
            raise unknown_signal(path, self._places)
        self.require_open()
        cdef Place place = <Place>found
        _read(self.table, place.latest, place.stride, &place.cell, 1, &value)
        return value

    def read(self, paths):
        cdef int64_t i, at, first, end
        key = paths if type(paths) is tuple else tuple(paths)
        selection = self._selections.get(key)
        if selection is None:
            selection = self._selected(key)
        self.require_open()
        cdef Selection chosen = <Selection>selection
        cdef int64_t n = chosen.cells.shape[0]
        values = np.zeros(n)
        if n == 0:
            return values
        cdef double[::1] out = values
        cdef double[::1] found = chosen.found
        for i in range(chosen.images.shape[0]):
            first, end = chosen.images[i, 2], chosen.images[i, 3]
            _read(
                self.table, chosen.images[i, 0], chosen.images[i, 1], &chosen.cells[first], end - first, &found[first],
            )
        for at in range(n):
            out[chosen.order[at]] = found[at]
        return values

    def _selected(self, paths):
        cdef Selection selection = Selection.__new__(Selection)
        cdef Place place
        by_image = {}
        for at, path in enumerate(paths):
            found = self._places.get(path)
            if found is None:
                raise unknown_signal(path, self._places)
            place = <Place>found
            by_image.setdefault((place.latest, place.stride), []).append((place.cell, at))
        images, cells, order = [], [], []
        for (latest, stride), those in by_image.items():
            images.append((latest, stride, len(cells), len(cells) + len(those)))
            cells += [cell for cell, _ in those]
            order += [at for _, at in those]
        selection.images = np.array(images, np.int64).reshape(-1, 4)
        selection.cells, selection.order = np.array(cells, np.int64), np.array(order, np.int64)
        selection.found = np.zeros(len(cells))
        if len(self._selections) >= MOST_SELECTIONS:
            self._selections.clear()
        self._selections[paths] = selection
        return selection

    def __contains__(self, path):
        return path in self._places

    def __iter__(self):
        return iter(self._places)

    def __len__(self):
        return len(self._places)

    def keys(self):
        return self._places.keys()

    def close(self):
        if self._is_open:
            self._is_open = False
            self.table.users -= 1

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()

    def __dealloc__(self):
        if self._is_open and self.table is not None:
            self.table.users -= 1

    cdef int require_open(self) except -1:
        if not self._is_open:
            raise TableError(f"{self.table.path}: the reader is closed")
        return 0

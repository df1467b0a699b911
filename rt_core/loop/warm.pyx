"""Collecting the pages of a task; see warm.pxd."""
import bisect

import numpy as np

from libc.stdint cimport int64_t, uintptr_t

cdef enum:
    MOST_CODE = 128              # pages of one module's text and tables around a function
    MOST_BYTES = 16 << 20        # of one piece

MARGIN_US = MARGIN_NS / 1000


def mappings():
    found = []
    with open("/proc/self/maps") as maps:
        for line in maps:
            span, rights, _, _, inode, *path = line.split(None, 5)
            begin, end = (int(word, 16) for word in span.split("-"))
            found.append((begin, end, rights, path[0].strip() if inode != "0" and path else ""))
    return found


def code_pages(maps, address):
    # of the file that the function is from: all pages that may be read, or the nearest ones
    name = next((path for begin, end, _, path in maps if begin <= address < end), "")
    pages = [
        page for begin, end, rights, path in maps if path == name and name and rights.startswith("r")
        for page in range(begin, end, PAGE_BYTES)
    ]
    pages.sort(key=lambda page: abs(page - address))
    return pages[:MOST_CODE]


def sorted_by_rights(maps, write, read):
    # the memory that a block names is checked: a page is written only where this process may, and left out where
    # there is none
    begins = [begin for begin, _, _, _ in maps]
    found = [], []
    for page in sorted(write | read):
        i = bisect.bisect_right(begins, page) - 1
        if i < 0 or page >= maps[i][1] or not maps[i][2].startswith("r"):
            continue
        found[0 if page in write and maps[i][2].startswith("rw") else 1].append(page)
    return found


cdef class WarmPages:
    """The pages of one task, as `touch` takes them; owns their list."""

    def __cinit__(self):
        self._write, self._read = set(), set()

    cdef void add(self, const void *begin, int64_t size) noexcept:
        cdef uintptr_t page = <uintptr_t>begin & ~<uintptr_t>(PAGE_BYTES - 1)
        while begin != NULL and page < <uintptr_t>begin + max(min(size, <int64_t>MOST_BYTES), <int64_t>1):
            self._write.add(page)
            page += PAGE_BYTES

    cdef void add_code(self, object maps, const void *address) noexcept:
        # functions of a file that is known already add nothing
        if <uintptr_t>address & ~<uintptr_t>(PAGE_BYTES - 1) not in self._read:
            self._read.update(code_pages(maps, <uintptr_t>address))

    cdef int settle(self, object maps) except -1:
        cdef const uintptr_t[::1] pages
        write, read = sorted_by_rights(maps, self._write, self._read)
        self._array = np.array(write + read, np.uintp)
        self.warm.n_write, self.warm.n = len(write), len(self._array)
        self.warm.next = 0
        if self.warm.n:
            pages = self._array
            self.warm.pages = <uintptr_t *>&pages[0]
        return 0

    @property
    def n(self):
        return self.warm.n

"""See mapped_file.pxd."""
import gc
import os

from libc.stdint cimport uintptr_t

cdef extern from *:
    """
    #include <errno.h>
    #include <signal.h>
    #include <stdint.h>
    #include <sys/mman.h>
    #include <unistd.h>

    enum { MOST_RANGES = 256 };

    typedef struct {
        volatile uintptr_t begin, end;   /* none: both 0 */
        volatile sig_atomic_t cut;
    } guarded_range;

    static guarded_range ranges[MOST_RANGES];
    static struct sigaction action_before;
    static uintptr_t page_bytes;
    static int installed;

    static void on_bus_error(int number, siginfo_t *info, void *context)
    {
        int errno_before = errno;
        uintptr_t at = (uintptr_t)info->si_addr;
        (void)context;
        /* one that a process sends has no address */
        for (int i = 0; info->si_code > 0 && i < MOST_RANGES; i++) {
            uintptr_t end = ranges[i].end;
            if (at < ranges[i].begin || at >= end) continue;
            /* the file ends before this page, so all that follow are gone too */
            uintptr_t page = at & ~(page_bytes - 1);
            ranges[i].cut = 1;
            if (mmap((void *)page, end - page, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED) {
                errno = errno_before;
                return;
            }
        }
        sigaction(SIGBUS, &action_before, NULL);
        errno = errno_before;
        if (info->si_code <= 0) raise(number);
    }

    static int install_bus_handler(void)
    {
        struct sigaction action = {0};
        if (installed) return 0;
        page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
        action.sa_sigaction = on_bus_error;
        action.sa_flags = SA_SIGINFO | SA_RESTART;
        sigemptyset(&action.sa_mask);
        if (sigaction(SIGBUS, &action, &action_before)) return errno;
        installed = 1;
        return 0;
    }

    static int take_range(const void *begin, size_t size)
    {
        for (int i = 0; i < MOST_RANGES; i++) {
            if (ranges[i].begin) continue;
            ranges[i].cut = 0;
            ranges[i].end = (uintptr_t)begin + size;
            ranges[i].begin = (uintptr_t)begin;
            return i;
        }
        return -1;
    }

    static void leave_range(int i) { ranges[i].begin = 0; ranges[i].end = 0; }

    static int range_is_cut(int i) { return ranges[i].cut != 0; }
    """
    int install_bus_handler() nogil
    int take_range(const void *begin, size_t size) nogil
    void leave_range(int place) nogil
    bint range_is_cut(int place) nogil


cdef int guard_range(const void *begin, size_t size) except -1:
    cdef int status = install_bus_handler()
    cdef int place
    if status:
        raise OSError(status, os.strerror(status))
    place = take_range(begin, size)
    if place < 0:
        # maps that nothing refers to any more may still wait for the collector
        gc.collect()
        place = take_range(begin, size)
    if place < 0:
        raise OSError("too many files are mapped at once")
    return place


cdef bint is_cut(int place) noexcept nogil:
    return range_is_cut(place)


cdef void release_range(int place) noexcept nogil:
    leave_range(place)


def guard_memory(begin, size):
    return guard_range(<const void *><uintptr_t>begin, size)


def was_cut(place):
    return is_cut(place)


def release_memory(place):
    release_range(place)

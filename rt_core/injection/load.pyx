"""The load of benchmarks and of fault injection: a block that burns time, and one that looks at another thread."""
import os

from libc.stdint cimport int64_t, uintptr_t

from rt_core.cycle_block cimport CycleBlock
from rt_core.loop.clock cimport now_ns, relax, thread_cpu_ns, wait_until


cdef extern from "<unistd.h>" nogil:
    ssize_t pread(int file, void *to, size_t size, long offset)
    int close(int file)

cdef struct Burn:
    int64_t burn_ns
    int64_t every
    int64_t first
    bint sleeps
    bint of_cpu
    int64_t step
    double *burned_ns
    double *cpu_ns


cdef int step_burn(void *self, int64_t t_ns) noexcept nogil:
    cdef Burn *burn = <Burn *>self
    cdef int64_t begin = now_ns()
    cdef int64_t now = begin
    cdef int64_t cpu = 0
    if burn.step >= burn.first and (burn.step - burn.first) % burn.every == 0:
        cpu = thread_cpu_ns()
        if burn.sleeps:
            now = wait_until(begin + burn.burn_ns, 0)
        while now - begin < burn.burn_ns:
            relax()
            now = now_ns()
        while burn.of_cpu and thread_cpu_ns() - cpu < burn.burn_ns:
            relax()
        now = now_ns()
        cpu = thread_cpu_ns() - cpu
    burn.step += 1
    burn.burned_ns[0] = <double>(now - begin)
    burn.cpu_ns[0] = <double>cpu
    return 0


cdef class BusyBlock(CycleBlock):
    """See load.pyi."""

    cdef Burn burn

    def __init__(self, name, burn_ns, *, every=1, first=0, sleeps=False, of_cpu=False):
        if burn_ns < 0 or every < 1 or first < 0:
            raise ValueError(
                f"{name}: burn_ns = {burn_ns}, every = {every}, first = {first}: "
                "need burn_ns and first at least 0, every at least 1"
            )
        self.name = name
        self.reads = {}
        self.writes = {"burned_ns": f"{name}/burned_ns", "cpu_ns": f"{name}/cpu_ns"}
        self.burn.burn_ns = burn_ns
        self.burn.every = every
        self.burn.first = first
        self.burn.sleeps = sleeps
        self.burn.of_cpu = of_cpu
        self.run_by(step_burn, &self.burn, 0)

    def bind(self, reads, writes):
        cdef uintptr_t burned = writes[0], cpu = writes[1]
        self.burn.burned_ns = <double *>burned
        self.burn.cpu_ns = <double *>cpu


cdef struct Look:
    int file
    double *asleep


cdef int step_look(void *self, int64_t t_ns) noexcept nogil:
    # the state stands after the name in parentheses, which may itself have any
    cdef Look *look = <Look *>self
    cdef char text[256]
    cdef ssize_t i = -1
    if look.file >= 0:
        i = pread(look.file, text, sizeof(text), 0) - 3
    while i >= 0 and text[i] != b")":
        i -= 1
    look.asleep[0] = 1 if i >= 0 and text[i + 2] == b"S" else 0
    return 0


cdef class SleepProbe(CycleBlock):
    """See load.pyi."""

    cdef Look look

    def __cinit__(self):
        self.look.file = -1

    def __init__(self, name):
        self.name = name
        self.reads = {}
        self.writes = {"asleep": f"{name}/asleep"}
        self.run_by(step_look, &self.look, 0)

    def __dealloc__(self):
        if self.look.file >= 0:
            close(self.look.file)

    def watch(self, thread):
        self.look.file = os.open(f"/proc/self/task/{int(thread)}/stat", os.O_RDONLY | os.O_CLOEXEC)

    def bind(self, reads, writes):
        cdef uintptr_t asleep = writes[0]
        self.look.asleep = <double *>asleep

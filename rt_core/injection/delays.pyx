"""Delays of a known kind, for proofs: a block that takes longer for a reason of its own, and holes from outside."""
from libc.stdint cimport int64_t, uintptr_t

from rt_core.cycle_block cimport CycleBlock
from rt_core.loop.clock cimport now_ns, relax, thread_cpu_ns
from rt_core.loop.warm cimport warm_write


cdef extern from "<sys/mman.h>" nogil:
    const int PROT_READ
    const int PROT_WRITE
    const int MAP_PRIVATE
    const int MAP_ANONYMOUS
    const int MADV_DONTNEED
    void *mmap(void *at, size_t size, int protection, int flags, int file, long offset)
    int munmap(void *at, size_t size)
    int munlock(const void *at, size_t size)
    int madvise(void *at, size_t size, int advice)

cdef extern from *:
    """
    #include <pthread.h>
    #include <signal.h>
    #include <time.h>
    #include <unistd.h>
    #include <sys/syscall.h>
    #if defined(__x86_64__)
    #define FLUSH_LINE(p) __builtin_ia32_clflush(p)
    #else
    #define FLUSH_LINE(p) ((void)(p))
    #endif
    #define READ_LINE(p) (*(volatile const char *)(p))
    /* denormal operands in and out, in a chain so that nothing is taken out of the loop */
    static double denormal_chain(double x) {
        volatile double tiny = 4e-320;
        for (int i = 0; i < 64; i++) x = x * 0.5 + tiny;
        return x;
    }
    static double normal_chain(double x) {
        volatile double one = 1.0;
        for (int i = 0; i < 64; i++) x = x * 0.5 + one;
        return x;
    }
    /* a hole: the thread is held up inside a signal handler, and its CPU clock runs on as if it worked */
    static volatile long long hole_ns;
    static void make_hole(int number) {
        struct timespec t, begin;
        (void)number;
        clock_gettime(CLOCK_MONOTONIC, &begin);
        do clock_gettime(CLOCK_MONOTONIC, &t);
        while ((t.tv_sec - begin.tv_sec) * 1000000000LL + t.tv_nsec - begin.tv_nsec < hole_ns);
    }
    static void take_holes(void) {
        struct sigaction action = {0};
        sigset_t one;
        action.sa_handler = make_hole;
        sigaction(SIGRTMIN, &action, 0);
        sigemptyset(&one);
        sigaddset(&one, SIGRTMIN);
        pthread_sigmask(SIG_UNBLOCK, &one, 0);
    }
    static void ask_for_hole(int thread, long long ns) {
        hole_ns = ns;
        syscall(SYS_tgkill, getpid(), thread, SIGRTMIN);
    }
    """
    void flush_line "FLUSH_LINE"(const char *line) noexcept nogil
    char read_line "READ_LINE"(const char *line) noexcept nogil
    double denormal_chain(double x) noexcept nogil
    double normal_chain(double x) noexcept nogil
    void take_holes() noexcept nogil
    void ask_for_hole(int thread, long long ns)

cdef enum:
    ITERATIONS = 0
    DENORMALS = 1
    COLD = 2
    FAULTS = 3
    SLOW = 4
    PAGE = 4096
    COLD_BYTES = 64 << 20
    FAULT_BYTES = 16 << 20
    USUAL_WORK = 10

KINDS = ("iterations", "denormals", "cold caches", "page faults", "slow block")

cdef struct Delay:
    int kind
    int64_t work                 # the witness
    int64_t burn_ns
    int64_t every
    int64_t first
    int64_t step
    double x
    char *memory
    int64_t bytes
    int64_t at
    double *burned_ns
    double *cpu_ns


cdef inline void _go_on(Delay *d) noexcept nogil:
    # one unit of the work that takes so long
    if d.kind == ITERATIONS:
        d.x = normal_chain(d.x)
        d.work += 1
    elif d.kind == DENORMALS:
        d.x = denormal_chain(1e-310)
    elif d.kind == COLD:
        flush_line(d.memory + d.at)
        d.x += read_line(d.memory + d.at)
        d.at = (d.at + 1000003 * 64) % d.bytes
    elif d.kind == FAULTS:
        if d.at == 0:
            madvise(d.memory, d.bytes, MADV_DONTNEED)
        d.memory[d.at] = 1
        d.at = (d.at + PAGE) % d.bytes
    else:
        relax()


cdef int step_delay(void *self, int64_t t_ns) noexcept nogil:
    cdef Delay *d = <Delay *>self
    cdef int64_t begin = now_ns()
    cdef int64_t now = begin, cpu = thread_cpu_ns()
    cdef int _unit
    for _unit in range(USUAL_WORK):
        d.x = normal_chain(d.x)
        d.work += 1
    if d.step >= d.first and (d.step - d.first) % d.every == 0:
        while now - begin < d.burn_ns:
            _go_on(d)
            now = now_ns()
        d.x = 1.0                # nothing of it is left to the next step
    d.step += 1
    d.burned_ns[0] = <double>(now - begin)
    d.cpu_ns[0] = <double>(thread_cpu_ns() - cpu)
    return 0


cdef class DelayBlock(CycleBlock):
    """See delays.pyi."""

    cdef Delay delay

    def __init__(self, name, kind, burn_ns, *, every=1, first=0):
        if kind not in KINDS or burn_ns < 0 or every < 1 or first < 0:
            raise ValueError(f"{name}: kind = {kind!r} must be one of {', '.join(KINDS)}; burn_ns = {burn_ns} and "
                             f"first = {first} at least 0, every = {every} at least 1")
        self.name = name
        self.reads = {}
        self.writes = {"burned_ns": f"{name}/burned_ns", "cpu_ns": f"{name}/cpu_ns"}
        self.delay.kind = KINDS.index(kind)
        self.delay.burn_ns, self.delay.every, self.delay.first = burn_ns, every, first
        if self.delay.kind in (COLD, FAULTS):
            self.delay.bytes = COLD_BYTES if self.delay.kind == COLD else FAULT_BYTES
            self.delay.memory = <char *>mmap(
                NULL, self.delay.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
            if <int64_t>self.delay.memory == -1:
                self.delay.memory = NULL
                raise MemoryError()
            # memory that is locked can be given back only once it is not
            munlock(self.delay.memory, self.delay.bytes)
        self.run_by(step_delay, &self.delay, sizeof(Delay))
        self.view.work = &self.delay.work

    def __dealloc__(self):
        if self.delay.memory != NULL:
            munmap(self.delay.memory, self.delay.bytes)

    def bind(self, reads, writes):
        cdef uintptr_t burned = writes[0], cpu = writes[1]
        self.delay.burned_ns = <double *>burned
        self.delay.cpu_ns = <double *>cpu


cdef struct Pages:
    char *memory
    int64_t n
    bint touched_first
    double *done


cdef int step_memory(void *self, int64_t t_ns) noexcept nogil:
    cdef Pages pages = (<Pages *>self)[0]
    cdef int64_t i
    if pages.touched_first:
        for i in range(pages.n):
            warm_write(pages.memory + i * PAGE)
    # a line beyond that state in each page
    for i in range(pages.n):
        pages.memory[i * PAGE + 64 + ((i * 64) & 2047)] += 1
    pages.done[0] += 1
    return 0


cdef class PageBlock(CycleBlock):
    """See delays.pyi."""

    cdef Pages pages

    def __init__(self, name, n, *, known=True, touched_first=False):
        if not 1 <= n <= 65536:
            raise ValueError(f"{name}: n = {n} must be within 1 and 65536 pages")
        self.name = name
        self.reads = {}
        self.writes = {"done": f"{name}/done"}
        # its state lies at the head of its memory, so that the loop knows all of it
        self.pages.memory = <char *>mmap(
            NULL, n * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        if <int64_t>self.pages.memory == -1:
            self.pages.memory = NULL
            raise MemoryError()
        self.pages.n = n
        self.pages.touched_first = touched_first
        self.run_by(step_memory, self.pages.memory, n * PAGE if known else 0)

    def __dealloc__(self):
        if self.pages.memory != NULL:
            munmap(self.pages.memory, self.pages.n * PAGE)

    def bind(self, reads, writes):
        cdef uintptr_t done = writes[0]
        self.pages.done = <double *>done
        (<Pages *>self.pages.memory)[0] = self.pages


cdef struct Victim:
    bint ready


cdef int step_victim(void *self, int64_t t_ns) noexcept nogil:
    cdef Victim *victim = <Victim *>self
    if not victim.ready:
        victim.ready = True
        take_holes()
    return 0


cdef class HoleBlock(CycleBlock):
    """See delays.pyi."""

    cdef Victim victim

    def __init__(self, name):
        self.name, self.reads, self.writes = name, {}, {}
        self.run_by(step_victim, &self.victim, 0)

    def strike(self, int thread, int64_t ns):
        ask_for_hole(thread, ns)

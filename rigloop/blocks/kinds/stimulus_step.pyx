"""A stimulus: a compiled signal whose time begins on command or by a condition, added to a value; see the .pyi."""
from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.math cimport fabs
from libc.stdint cimport int64_t, uintptr_t

from rt_core.block cimport BlockView, step_fn
from rt_core.cycle_block cimport CycleBlock

from rt_core.block import BLOCK_ABI, BLOCK_CAPSULE

READS = ("number", "before")
WRITES = ("value", "added", "state", "begun")
OPERATORS = ("<", "<=", ">", ">=", "==", "!=")
MOST_COMPARISONS = 32

cdef enum:
    LESS, AT_MOST, MORE, AT_LEAST, EQUAL, OTHER          # the order of OPERATORS
    COMPARISONS = 32                                     # MOST_COMPARISONS
    OFF = 0
    WAITS = 1
    RUNS = 2

STATES = {OFF: "off", WAITS: "waits for its condition", RUNS: "runs"}

cdef struct Comparison:
    const double *cell
    double number
    int operator
    bint is_size
    bint begins_group            # one group has to hold, with all of its comparisons

cdef struct Memory:
    step_fn step                 # of the signal
    void *self
    double y                     # its output
    double unused                # its other outputs
    const double *number         # ± how often it was begun by a command; minus: ended
    const double *before
    double nothing
    double *value
    double *added
    double *state_cell
    double *begun_cell
    double limit
    int64_t duration_ns          # 0: no end
    int64_t begin_ns
    double seen
    double begun
    int state
    int n_when
    int n_until
    Comparison when[COMPARISONS]
    Comparison until[COMPARISONS]


cdef inline bint _compares(const Comparison *one) noexcept nogil:
    cdef double value = fabs(one.cell[0]) if one.is_size else one.cell[0]
    if one.operator == LESS:
        return value < one.number
    if one.operator == AT_MOST:
        return value <= one.number
    if one.operator == MORE:
        return value > one.number
    if one.operator == AT_LEAST:
        return value >= one.number
    if one.operator == EQUAL:
        return value == one.number
    return value != one.number


cdef inline bint _holds(const Comparison *condition, int n) noexcept nogil:
    cdef bint good = False
    cdef int i
    for i in range(n):
        if condition[i].begins_group:
            if good:
                return True
            good = True
        good = good and _compares(&condition[i])
    return good


cdef int step_stimulus(void *self, int64_t t_ns) noexcept nogil:
    cdef Memory *m = <Memory *>self
    cdef double number = m.number[0], y = 0.0
    cdef int fault = 0
    # whatever is no count is no command
    if number != m.seen and fabs(number) < 9007199254740992.0:
        m.seen = number
        m.state = OFF if number <= 0.0 else WAITS
    if m.state == WAITS and (m.n_when == 0 or _holds(m.when, m.n_when)):
        m.state = RUNS
        m.begin_ns = t_ns
        m.begun += 1.0
    if m.state == RUNS and (
        (m.n_until and _holds(m.until, m.n_until))
        or (m.duration_ns and t_ns - m.begin_ns >= m.duration_ns)
    ):
        m.state = OFF
    if m.state == RUNS:
        m.y = 0.0
        fault = m.step(m.self, t_ns - m.begin_ns)
        # a comparison with what is not a number is false
        if m.y > m.limit:
            y = m.limit
        elif m.y < -m.limit:
            y = -m.limit
        elif m.y == m.y:
            y = m.y
    m.added[0] = y
    m.value[0] = m.before[0] + y
    m.state_cell[0] = m.state
    m.begun_cell[0] = m.begun
    return fault


cdef class Stimulus(CycleBlock):
    """See stimulus_step.pyi."""

    cdef readonly object signal
    cdef object _capsule
    cdef Memory memory

    def __init__(self, name, signal, reads, writes=None, *, limit, when=(), until=(), duration_s=None,
                 waits=False):
        cdef BlockView *inner
        cdef uintptr_t y = <uintptr_t>&self.memory.y, unused = <uintptr_t>&self.memory.unused
        paths = {port: f"{name}/{port}" for port in WRITES} | dict(writes or {})
        conditions = {"when": when, "until": until}
        ports = {f"{key}/{i}" for key, condition in conditions.items()
                 for i in range(sum(map(len, condition)))}
        known = ports | set(READS)
        mistakes = [f"reads has no port {port!r}" for port in reads if port not in known]
        mistakes += [f"reads needs the port {port!r}" for port in sorted(ports | {"number"})
                     if port not in reads]
        mistakes += [f"{key} has more than {MOST_COMPARISONS} comparisons"
                     for key, condition in conditions.items()
                     if sum(map(len, condition)) > MOST_COMPARISONS]
        if set(paths) != set(WRITES):
            mistakes.append(f"writes has the ports {', '.join(paths)}, a stimulus has {', '.join(WRITES)}")
        if not limit > 0.0:
            mistakes.append(f"limit = {limit}: must be above 0")
        if mistakes:
            raise ValueError(f"stimulus {name}: " + "; ".join(mistakes))
        self.name, self.reads, self.writes, self.signal = name, dict(reads), paths, signal
        signal.bind([], [y if port == "y" else unused for port in signal.writes])
        self._capsule = signal.capsule()
        inner = <BlockView *>PyCapsule_GetPointer(self._capsule, BLOCK_CAPSULE.encode())
        if inner.abi != BLOCK_ABI:
            raise TypeError(f"stimulus {name}: block ABI {inner.abi}, not {BLOCK_ABI}")
        self.memory.step, self.memory.self = inner.step, inner.self
        self.memory.limit = limit
        self.memory.duration_ns = 0 if duration_s is None else max(1, round(duration_s * 1e9))
        self.memory.state = WAITS if waits else OFF
        self.memory.n_when = _fill(self.memory.when, when)
        self.memory.n_until = _fill(self.memory.until, until)
        self.memory.before = &self.memory.nothing
        self.run_by(step_stimulus, &self.memory, sizeof(Memory))

    def bind(self, reads, writes):
        cdef uintptr_t address
        cdef int i
        wired = dict(zip(self.reads, reads, strict=True))
        written = dict(zip(self.writes, writes, strict=True))
        address = wired["number"]
        self.memory.number = <const double *>address
        if "before" in wired:
            address = wired["before"]
            self.memory.before = <const double *>address
        for i in range(self.memory.n_when):
            address = wired[f"when/{i}"]
            self.memory.when[i].cell = <const double *>address
        for i in range(self.memory.n_until):
            address = wired[f"until/{i}"]
            self.memory.until[i].cell = <const double *>address
        address = written["value"]
        self.memory.value = <double *>address
        address = written["added"]
        self.memory.added = <double *>address
        address = written["state"]
        self.memory.state_cell = <double *>address
        address = written["begun"]
        self.memory.begun_cell = <double *>address


cdef int _fill(Comparison *places, object condition) except -1:
    cdef int n = 0
    for group in condition:
        for i, one in enumerate(group):
            places[n].number = one.number
            places[n].operator = OPERATORS.index(one.operator)
            places[n].is_size = one.is_size
            places[n].begins_group = i == 0
            n += 1
    return n

"""A slave that takes its time from one state to the next."""
from libc.stdint cimport int64_t

from io_bridge.emulator.controller.al_states cimport al_decide, al_state
from io_bridge.emulator.controller.memory cimport AL_LATER, AL_OP, AL_PREOP, AL_SAFEOP, REG_AL_CONTROL, Application
from io_bridge.emulator.quirks.quirk cimport Layer, Quirk, ask_below

from io_bridge.emulator.quirks.option import Option


cdef struct Slow:
    Layer layer
    int64_t delay_ns[9]        # by state
    int wanted                 # under way to it; 0 = to none
    int64_t due_ns


cdef int al_asked(void *self, int state) noexcept nogil:
    cdef Slow *s = <Slow *> self
    if s.wanted != state:
        if s.delay_ns[state] == 0:
            s.wanted = 0
            return ask_below(&s.layer, state)
        s.wanted = state
        s.due_ns = s.layer.esc.now_ns + s.delay_ns[state]
    return AL_LATER


cdef void advance(void *self, int64_t t_ns) noexcept nogil:
    cdef Slow *s = <Slow *> self
    cdef int wanted = s.wanted
    s.layer.below.advance(s.layer.below.self, t_ns)
    if wanted == 0 or t_ns < s.due_ns:
        return
    s.wanted = 0
    # a master that has changed its request meanwhile gets the last one
    if s.layer.esc.memory[REG_AL_CONTROL] & 0x0F == wanted and 2 * al_state(s.layer.esc) == wanted:
        al_decide(s.layer.esc, wanted, ask_below(&s.layer, wanted))


cdef void al_changed(void *self, int state, int code) noexcept nogil:
    cdef Slow *s = <Slow *> self
    s.wanted = 0
    s.layer.below.al_changed(s.layer.below.self, state, code)


cdef class SlowTransition(Quirk):
    """PREOP, SAFEOP and OP are reached after seconds only; until then the slave stays where it is."""

    cdef Slow slow

    OPTIONS = {
        "preop_s": Option(0.0, "from INIT to PREOP", 0.0, 3600.0),
        "safeop_s": Option(1.0, "from PREOP to SAFEOP", 0.0, 3600.0),
        "op_s": Option(0.0, "from SAFEOP to OP", 0.0, 3600.0),
    }

    def __init__(self, *, preop_s: float, safeop_s: float, op_s: float) -> None:
        self.slow.delay_ns[AL_PREOP] = <int64_t> (1e9 * preop_s)
        self.slow.delay_ns[AL_SAFEOP] = <int64_t> (1e9 * safeop_s)
        self.slow.delay_ns[AL_OP] = <int64_t> (1e9 * op_s)
        self.layer = &self.slow.layer

    cdef void install(self, Application *app):
        app.al_asked = al_asked
        app.advance = advance
        app.al_changed = al_changed

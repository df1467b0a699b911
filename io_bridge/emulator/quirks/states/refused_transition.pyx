"""A slave that refuses a state, once or always."""
from io_bridge.emulator.controller.memory cimport Application
from io_bridge.emulator.quirks.quirk cimport Layer, Quirk, ask_below

from io_bridge.emulator.quirks.option import Option

STATES = ("preop", "safeop", "op")


cdef struct Refusal:
    Layer layer
    int state
    int code
    int times
    int left


cdef int al_asked(void *self, int state) noexcept nogil:
    cdef Refusal *r = <Refusal *> self
    if state != r.state or r.times and r.left == 0:
        return ask_below(&r.layer, state)
    if r.times:
        r.left -= 1
    return r.code


cdef void powered(void *self) noexcept nogil:
    cdef Refusal *r = <Refusal *> self
    r.left = r.times
    r.layer.below.powered(r.layer.below.self)


cdef class RefusedTransition(Quirk):
    """A state is refused with an AL status code, a number of times after power-up or always."""

    cdef Refusal refusal

    OPTIONS = {
        "to": Option("safeop", "the state", choices=STATES),
        "code": Option(0x0001, "AL status code", 1, 0xFFFF),
        "times": Option(1, "after power-up; 0 = always", 0, 1_000_000_000),
    }

    def __init__(self, *, to: str, code: int, times: int) -> None:
        self.refusal.state = 2 << STATES.index(to)
        self.refusal.code = code
        self.refusal.times = times
        self.layer = &self.refusal.layer

    cdef void install(self, Application *app):
        app.al_asked = al_asked
        app.powered = powered

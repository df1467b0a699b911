"""A slave that accepts no long watchdog."""
from libc.stdint cimport int64_t

from io_bridge.emulator.controller.memory cimport AL_SAFEOP, Application
from io_bridge.emulator.controller.registers cimport watchdog_ns
from io_bridge.emulator.quirks.quirk cimport Layer, Quirk, ask_below

from io_bridge.emulator.quirks.option import Option

cdef enum:
    INVALID_WATCHDOG = 0x001F  # AL status code: invalid watchdog configuration


cdef struct Limit:
    Layer layer
    int64_t most_ns


cdef int al_asked(void *self, int state) noexcept nogil:
    cdef Limit *limit = <Limit *> self
    cdef int64_t silence_ns = watchdog_ns(limit.layer.esc)
    if state == AL_SAFEOP and not 0 < silence_ns <= limit.most_ns:
        return INVALID_WATCHDOG
    return ask_below(&limit.layer, state)


cdef class WatchdogLimit(Quirk):
    """SAFEOP is refused with 0x001F while the watchdog registers allow a longer silence, or any."""

    cdef Limit limit

    OPTIONS = {"ms": Option(50.0, "the longest watchdog that is accepted", 0.1, 60_000.0)}

    def __init__(self, *, ms: float) -> None:
        self.limit.most_ns = <int64_t> (1e6 * ms)
        self.layer = &self.limit.layer

    cdef void install(self, Application *app):
        app.al_asked = al_asked

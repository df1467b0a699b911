"""A slave whose controller comes up long after its supply."""
from libc.stdint cimport int64_t

from io_bridge.emulator.controller.memory cimport Application
from io_bridge.emulator.quirks.quirk cimport Layer, Quirk

from io_bridge.emulator.quirks.option import Option


cdef struct Boot:
    Layer layer
    int64_t delay_ns
    int64_t due_ns
    int booting


cdef void powered(void *self) noexcept nogil:
    cdef Boot *b = <Boot *> self
    b.layer.below.powered(b.layer.below.self)
    # switched on long before the segment's time begins
    if b.layer.esc.now_ns == 0:
        return
    b.booting = 1
    b.due_ns = b.layer.esc.now_ns + b.delay_ns
    b.layer.esc.mute = 1


cdef void advance(void *self, int64_t t_ns) noexcept nogil:
    cdef Boot *b = <Boot *> self
    if b.booting and t_ns >= b.due_ns:
        b.booting = 0
        b.layer.esc.mute = 0
    b.layer.below.advance(b.layer.below.self, t_ns)


cdef class SlowBoot(Quirk):
    """After a loss of power the slave is silent for seconds, though its supply is back and others are reached."""

    cdef Boot boot

    OPTIONS = {"s": Option(3.0, "until it answers", 0.0, 3600.0)}

    def __init__(self, *, s: float) -> None:
        self.boot.delay_ns = <int64_t> (1e9 * s)
        self.layer = &self.boot.layer

    cdef void install(self, Application *app):
        app.powered = powered
        app.advance = advance
